"""W, and the objectives of the joint problem, of many windows; see `estimators.auto.auto`."""

from dataclasses import dataclass

from evcrisp.estimators.auto.on_device.evidence import BatchEvidence
from evcrisp.estimators.auto.on_device.placement import on_one_map
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.scatter import Scatter
from evcrisp.tensors.spline import accumulate, locate


@dataclass(frozen=True, slots=True, eq=False)
class JointObjectives:
    """Values of the joint problem, each of shape (b,), and the maps W."""

    f_ea: Tensor
    f_ed: Tensor
    baseline_ea: Tensor
    baseline_ed: Tensor
    value: Tensor
    layout: MapLayout
    w_maps: Tensor  # flat


def joint_objectives(
    batch: WindowBatch,
    found: BatchEvidence,
    confidence: Tensor,
    supporting: Tensor,
    scatter: Scatter,
) -> JointObjectives:
    """Return the objectives at the motions that gave the labels; ``confidence`` is (n,)."""
    maps, single = found.maps, torch.float32
    both = maps.layout
    layout = MapLayout.of(both.width, both.height)
    rows = layout.pixels()
    places = on_one_map(maps.events, both)
    weight = torch.where(supporting, confidence, 0.0).to(single)
    kept = accumulate(places, layout.size, scatter, weight)
    at = rows.spread(both.starts) + rows.position()
    n_pixels = rows.spread(both.width * both.height)
    total = maps.images.index_select(0, at) + maps.images.index_select(0, at + n_pixels)
    part = torch.minimum(kept, total)  # rounding may exceed the whole by a little
    w_maps = torch.where(total > 0.0, part / total, 0.0)
    total, part, w = (column.to(torch.float64) for column in (total, part, w_maps))
    n = rows.counts
    f_ea, f_ed = (
        (rows.sum(c * c) / n - (rows.sum(c) / n) ** 2).clamp(min=0.0) for c in (total, part)
    )
    baseline_ed = _unaligned_variance(batch, supporting, n, scatter)
    regret = (f_ed - baseline_ed).clamp(min=0.0)
    loss = rows.sum((part - total) ** 2) / n
    # With beta = 1 / P the closed form needs alpha = t0^2 / P.
    value = regret + found.motion_threshold**2 * rows.sum(w) / n + loss
    return JointObjectives(f_ea, f_ed, f_ea + regret, baseline_ed, value, layout, w_maps)


def _unaligned_variance(
    batch: WindowBatch, supporting: Tensor, n_pixels: Tensor, scatter: Scatter
) -> Tensor:
    """Return the variance of the unaligned maps over so many pixels, (b,)."""
    rows = batch.rows
    layout = MapLayout.of(batch.width + 4, batch.height + 4)
    sides = (rows.spread(side) for side in (layout.width, layout.height, layout.starts))
    places = locate(
        (batch.x + 2).to(torch.float64), (batch.y + 2).to(torch.float64), *sides, torch.float32
    )
    image = accumulate(places, layout.size, scatter, supporting.to(torch.float32))
    pixels, image = layout.pixels(), image.to(torch.float64)
    mean = pixels.sum(image) / n_pixels
    return (pixels.sum(image * image) / n_pixels - mean**2).clamp(min=0.0)
