"""Hot pixels of many windows; see `estimators.hot_pixels`."""

from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.hot_pixels import FACTOR, LEAST
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch

_REACH = 2  # px to the neighbors that a pixel is compared with


def events_at_hot_pixels(batch: WindowBatch) -> Tensor:
    """Return which events come from hot pixels, (n,) bool."""
    wide, high = int(batch.width.max()), int(batch.height.max())
    kernels = kernels_of("labels.cu", batch.x.device)
    if kernels is not None:
        n, points = batch.x.numel(), (batch.rows.row, batch.x, batch.y)
        size = len(batch) * high * wide
        counts = torch.zeros(size, dtype=torch.int32, device=batch.x.device)
        kernels.launch_each("count_pixels", n, *points, n, wide, high, counts)
        hot = torch.empty(n, dtype=torch.bool, device=batch.x.device)
        kernels.launch_each(
            "at_hot_pixels", n, *points, n, wide, high, counts, batch.width, batch.height, float(LEAST),
            float(FACTOR), hot,
        )  # fmt: skip
        return hot
    place = (batch.rows.row * high + batch.y) * wide + batch.x
    counts = torch.zeros(len(batch) * high * wide, device=place.device)
    counts.index_add_(0, place, torch.ones_like(place, dtype=counts.dtype))  # whole numbers: exact
    hot = hot_pixels(counts.reshape(-1, high, wide), batch.width, batch.height)
    return hot.reshape(-1).index_select(0, place)


def hot_pixels(counts: Tensor, width: Tensor, height: Tensor) -> Tensor:
    """Return which pixels are hot, (b, h, w) bool, from their counts; sizes, (b,), may be smaller."""
    _, high, wide = counts.shape
    padded = torch.nn.functional.pad(counts, (_REACH,) * 4)
    offsets = range(2 * _REACH + 1)
    lines = padded[:, 0:high].clone()
    for k in offsets[1:]:
        lines += padded[:, k : k + high]
    total = lines[:, :, 0:wide].clone()
    for k in offsets[1:]:
        total += lines[:, :, k : k + wide]
    n_rows, n_columns = _extent(height, high), _extent(width, wide)
    n_around = (n_rows[:, :, None] * n_columns[:, None] - 1).clamp(min=1).to(counts.dtype)
    return (counts - float(LEAST)) * n_around > FACTOR * (total - counts)


def _extent(size: Tensor, most: int) -> Tensor:
    """Return the pixels within reach along an axis, (b, most); those beyond the size do not matter."""
    at = torch.arange(most, device=size.device)
    last = torch.minimum(at + _REACH + 1, size[:, None])
    return (last - (at - _REACH).clamp(min=0)).clamp(min=0)
