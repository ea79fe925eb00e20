"""Fits of affine motions in many windows; see `estimators.layers.fitting`."""

from dataclasses import dataclass

from evcrisp.estimators.layers.fitting import LEAST_GAIN, MAX_CORRECTION_PX
from evcrisp.estimators.layers.on_device.layer_batch import LayerBatch
from evcrisp.tensors.cuda.kernels import packed
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import parts_that_fit

#: Doubles of a fit, as `tensors/cuda/fits.cu` lays them out; doubles of sums over a block.
_N_NUMBERS, _SUM_DOUBLES = 16, 32

#: Threads of a block, and pixels of the maps of fits that run at a time.
_THREADS, _MAP_PIXELS = 256, 1 << 29

#: The contrast of a single event on the map.
_ONE_EVENT = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Events of fits, those of a fit one after the other."""

    events: Tensor  # (m,) int64, numbers in the batch
    start: Tensor  # (f,) int64
    count: Tensor  # (f,) int64, one or more

    def __len__(self) -> int:
        return self.count.numel()

    @property
    def of_event(self) -> Tensor:
        """The fit of each event, (m,) int64."""
        number = torch.arange(len(self), device=self.count.device)
        return torch.repeat_interleave(number, self.count, output_size=self.events.numel())

    @classmethod
    def of_groups(cls, events: Tensor, group: Tensor, n_groups: int) -> "Chosen":
        """Return the events of groups, (m,) int64 of each event, in their order; groups may be empty."""
        order = torch.sort(group, stable=True).indices
        count = torch.bincount(group, minlength=n_groups)
        return cls(events.index_select(0, order), torch.cumsum(count, 0) - count, count)

    def kept(self, events: Tensor) -> "Chosen":
        """Return some of the events, (m,) bool; fits may have none left."""
        return Chosen.of_groups(self.events[events], self.of_event[events], len(self))

    def taken(self, fits: Tensor) -> "Chosen":
        """Return the events of some of the fits, by number."""
        count = self.count.index_select(0, fits)
        start = torch.cumsum(count, 0) - count
        shift = self.start.index_select(0, fits) - start
        at = torch.arange(int(count.sum()), device=fits.device)
        at = at + torch.repeat_interleave(shift, count, output_size=at.numel())
        return Chosen(self.events.index_select(0, at), start, count)

    def some(self, batch: LayerBatch, n_events: int) -> "Chosen":
        """Return about ``n_events`` or all of the events of each fit; see `LayerWindow.some`."""
        interval = self.count // max(n_events, 1)
        if not bool((interval >= 2).any()):
            return self
        fit = self.of_event
        below = (2**32 // interval.clamp(min=1)).index_select(0, fit)
        all_of_them = (interval < 2).index_select(0, fit)
        return self.kept(all_of_them | (batch.rank.index_select(0, self.events) < below))


def displacements(motions: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return the displacement of motions, (k, 8), at positions, (k,), px per window."""
    a, b = x - motions[:, 6], y - motions[:, 7]
    along_x = motions[:, 0] + motions[:, 2] * a + motions[:, 3] * b
    along_y = motions[:, 1] + motions[:, 4] * a + motions[:, 5] * b
    return along_x, along_y


def constant_motions(shifts: Tensor, centers: Tensor) -> Tensor:
    """Return translations, (k, 2), as motions about centers, (k, 2)."""
    zero = torch.zeros((len(shifts), 4), dtype=torch.float64, device=shifts.device)
    return torch.cat((shifts, zero, centers), 1)


def fit_motions(
    batch: LayerBatch,
    chosen: Chosen,
    start: Tensor,
    *,
    n_free: int,
    scales: tuple[float, ...],
    n_steps: int = 12,
    max_correction_px: float = MAX_CORRECTION_PX,
) -> tuple[Tensor, Tensor]:
    """Fit motions, (f, 8), to the events of each fit; return them with their log contrast, (f,)."""
    n, device = len(chosen), start.device
    found = torch.empty((n, 8), dtype=torch.float64, device=device)
    values = torch.empty(n, dtype=torch.float64, device=device)
    start = start.contiguous()
    columns = [
        batch.x, batch.y, batch.tau, batch.p, chosen.events, chosen.start, chosen.count,
    ]  # fmt: skip
    points = packed(columns, device)
    numbers = torch.empty((n, _N_NUMBERS), dtype=torch.float64, device=device)
    batch.fits.launch(
        "prepare_fits", n, _THREADS, 8 * (3 * _SUM_DOUBLES + 4 * _THREADS), points, start, n_free, numbers
    )  # fmt: skip
    for scale in scales:
        pixels = torch.empty(n, dtype=torch.int64, device=device)
        batch.fits.launch_each("map_pixels", n, numbers, n, float(scale), pixels)
        for first, last in parts_that_fit(pixels.tolist(), _MAP_PIXELS):
            part = slice(first, last)
            map_start = torch.cumsum(pixels[part], 0) - pixels[part]
            maps = torch.empty(int(pixels[part].sum()), dtype=torch.int32, device=device)
            here = packed([*columns[:5], chosen.start[part], chosen.count[part]], device)
            batch.fits.launch(
                "fit_motions", last - first, _THREADS, 8 * 7 * _SUM_DOUBLES, here, n_free, float(scale),
                0.05 * scale, n_steps, numbers[part], maps, map_start,
            )  # fmt: skip
    batch.fits.launch_each(
        "finish_fits", n, numbers, start, n, float(max_correction_px), found, values
    )
    return found, values


def fit_simplest(batch: LayerBatch, chosen: Chosen, start: Tensor) -> Tensor:
    """Fit affine motions, or those of fewer parameters that are hardly less sharp, (f, 8)."""
    best, most = fit_motions(batch, chosen, start, n_free=6, scales=(2.0,))
    least = most - _least_gain(chosen.count, most)
    left = torch.nonzero(torch.isfinite(most)).reshape(-1)
    out = best
    for n_free in (2, 4):
        if not left.numel():
            break
        simple, value = fit_motions(
            batch, chosen.taken(left), best.index_select(0, left), n_free=n_free, scales=(2.0,)
        )
        does = value > least.index_select(0, left)
        out = out.index_copy(0, left[does], simple[does])
        left = left[~does]
    return out


def _least_gain(n_events: Tensor, log_contrast: Tensor) -> Tensor:
    n_pairs = n_events * (torch.exp(log_contrast) - _ONE_EVENT).clamp(min=0.1)
    return LEAST_GAIN / torch.sqrt(n_pairs)
