"""Test whether one motion explains the events of a window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Singles
from evcrisp.core.windows import Window
from evcrisp.estimators.layers.layer_window import MARGIN_PX, Parts
from evcrisp.estimators.result import Estimate
from evcrisp.search.event_view import some_events

#: Cells in which events without support are counted, and those of the local displacement, px.
_COUNT_PX, _LOCAL_PX = 16, 48

#: Events of the test of the local displacement on a sensor of 346 x 260 px; larger sensors have more.
_MAX_EVENTS, _REFERENCE_PIXELS = 16_384, 346 * 260

#: Cells off by more than this are misaligned, px per window.
_OFF_PX = 1.0

#: A window has more than one motion if either share is larger. In windows with one motion they stay
#: below a half of this.
_MAX_UNEXPLAINED, _MAX_MISALIGNED = 0.03, 0.3

#: One motion may leave this much more misaligned than several.
_AS_MISALIGNED = 0.05

#: Largest share of a spot of 3 x 3 cells. In 54 windows with one motion it was at most 0.009; in 12 of
#: 13 windows with an object of 1 to 4 % of the view that was missed, at least 0.0125.
_MAX_SPOT = 0.011

#: Standard deviations of noise by which a spot stands out.
_SPOT_SIGMAS = 8.0


@dataclass(frozen=True, slots=True)
class Misfit:
    """What one motion leaves unexplained in a window."""

    unexplained: float  # events without support where noise is not so dense, per signal event
    misaligned: float  # share of the signal in parts that another displacement would sharpen
    in_spot: float = 0.0  # events without support in the spot with most of them, per signal event

    @property
    def total(self) -> float:
        """Sum of both shares."""
        return self.unexplained + self.misaligned

    def is_large(self, usual: "Misfit | None" = None) -> bool:
        """Return whether the window has more than one motion.

        ``usual`` is what even several motions leave in such windows.
        """
        usual = Misfit(0.0, 0.0) if usual is None else usual
        most_unexplained = max(_MAX_UNEXPLAINED, 1.25 * usual.unexplained + 0.01)
        most_misaligned = max(_MAX_MISALIGNED, usual.misaligned + _AS_MISALIGNED)
        most_in_spot = max(_MAX_SPOT, 1.5 * usual.in_spot)
        return (
            self.unexplained > most_unexplained
            or self.misaligned > most_misaligned
            or self.in_spot > most_in_spot
        )


def misfit_of(result: Estimate) -> Misfit:
    """Return the misfit of an estimate with one motion."""
    n_signal = int(np.count_nonzero(result.signal))
    if not result.status.has_motion or not n_signal:
        return Misfit(0.0, 0.0)
    spread, in_spot = _unexplained(result)
    return Misfit(spread / n_signal, misaligned_share(result), in_spot / n_signal)


def _unexplained(result: Estimate) -> tuple[float, float]:
    """Count the events without support beyond noise as dense as in the quiet half of the cells.

    In all cells, and in the spot with most of them: an object may be small.
    """
    from evcrisp.kernels.layers.local_misfit import count_noise

    events = result.window.events.contiguous()
    parts = Parts.of(events.resolution, _COUNT_PX)
    counts = np.empty((parts.rows, parts.columns), np.int64)
    # Whole pixels: of an odd number of lines, one more is at the upper left.
    x, y = (
        column + np.uint16(-(start // 1))
        for column, start in ((events.x, parts.left), (events.y, parts.top))
    )
    count_noise(x, y, result.signal, _COUNT_PX, counts)
    quiet = 1.1 * float(np.sort(counts, axis=None)[: max(counts.size // 2, 1)].mean())
    spread = np.maximum(counts - quiet - 3.0 * np.sqrt(quiet + 1.0), 0.0).sum()
    beyond = np.pad(counts - quiet, 1)
    rows = beyond[:-2] + beyond[1:-1] + beyond[2:]
    spot = float((rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]).max())
    return float(spread), spot if spot > _SPOT_SIGMAS * (9.0 * quiet + 1.0) ** 0.5 else 0.0


def misaligned_share(result: Estimate, off_px: float = _OFF_PX) -> float:
    """Return the share of the signal in cells that another displacement would sharpen.

    It differs by ``off_px`` or more from that of the estimate, px per window.
    """
    from evcrisp.kernels.layers.local_misfit import local_terms

    events = result.window.events
    width, height = events.resolution
    most = events_for((width, height), _MAX_EVENTS)
    chosen = some_events(events, np.flatnonzero(result.signal), most)
    parts = Parts.of((width, height), _LOCAL_PX)
    shape = parts.rows, parts.columns
    pull, tensor, count = np.empty((*shape, 2)), np.empty((*shape, 3)), np.empty(shape)
    local_terms(
        result.aligned_x[chosen] - parts.left, result.aligned_y[chosen] - parts.top,
        _tau(result.window, chosen), events.p[chosen].view(np.uint8), 2.0, MARGIN_PX, parts.shape,
        float(_LOCAL_PX),
        pull, tensor, count,
    )  # fmt: skip
    # Where a cell has hardly any contrast, nothing can be said: its step stays small.
    floor = 0.02 * float(tensor[..., 0].mean() + tensor[..., 2].mean()) + 1e-3
    xx, xy, yy = tensor[..., 0] + floor, tensor[..., 1], tensor[..., 2] + floor
    determinant = xx * yy - xy * xy
    # The length of the step, with each direction weighted by its curvature: along an edge, which
    # any displacement keeps sharp, a step means nothing.
    across, down = pull[..., 0], pull[..., 1]
    gain = (yy * across**2 - 2.0 * xy * across * down + xx * down**2) / determinant
    is_off = gain > off_px**2 * 0.5 * (xx + yy)
    return float(count[is_off].sum() / max(count.sum(), 1.0))


def events_for(resolution: tuple[int, int], n_events: int) -> int:
    """Return a number of events as dense as ``n_events`` on a sensor of 346 x 260 px.

    >>> events_for((128, 128), 16_384), events_for((1280, 720), 16_384)
    (16384, 167847)
    """
    return round(n_events * max(resolution[0] * resolution[1] / _REFERENCE_PIXELS, 1.0))


def _tau(window: Window, chosen: NDArray[np.intp]) -> Singles:
    """Return the time of chosen events in windows since the reference time, shape (k,)."""
    length = max(window.t_end - window.t_start, 1)
    return ((window.events.t[chosen] - window.t_ref) / length).astype(np.float32)
