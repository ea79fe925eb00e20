"""Test whether one motion explains the events of a window."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats, Singles
from evcrisp.core.windows import Window
from evcrisp.estimators.layers.layer_window import MARGIN_PX, Parts
from evcrisp.estimators.result import Estimate
from evcrisp.motion.velocity import velocity_of
from evcrisp.search.event_view import some_events

#: Cells in which events without support are counted, and those of the local displacement, px.
COUNT_PX, LOCAL_PX = 16, 48

#: Events of the test of the local displacement on a sensor of 346 x 260 px; larger sensors have more.
MAX_EVENTS, _REFERENCE_PIXELS = 16_384, 346 * 260

#: Cells off by more than this are misaligned, px per window.
OFF_PX = 1.0

#: A window has more than one motion if either share is larger. In windows with one motion they stay
#: below a half of this.
_MAX_UNEXPLAINED, MAX_MISALIGNED = 0.03, 0.3

#: A motion explains all if no share is larger, and nothing stands out by more: labels need no neighbors. In
#: 35 random scenes with one motion, neighbors add at most 0.009 to the AUC then, and up to 0.04 else.
_ALL_EXPLAINED = 0.01, 0.25, 8.0

#: One motion may leave this much more misaligned than several.
_AS_MISALIGNED = 0.05

#: A spot of 3 x 3 cells with at least so many events without support, and such a share of all events of
#: the scene there, may show an object: standard deviations of noise by which it stands out. In 45 windows
#: with one motion it was above 10 in 12, in which the search for layers was in vain; in 20 windows with
#: an object of 1 to 4 % of the view that one motion did not explain, it was at least 11.
LEAST_IN_SPOT, LEAST_SHARE, _SPOT_SIGMAS = 100, 0.25, 10.0

#: Displacement of a cell in which pixels support each other, px.
_MOVED_PX = 3.0

#: Least signal of a spot from which the share without support is estimated.
SPOT_SIGNAL = 50.0

#: Share of the signal that has no support whatever the motion.
USUAL_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Misfit:
    """What one motion leaves unexplained in a window."""

    unexplained: float  # events without support where noise is not so dense, per signal event
    misaligned: float  # share of the signal in parts that another displacement would sharpen
    spot: float = 0.0  # by which events without support stand out in one spot, in sigmas of noise

    @property
    def total(self) -> float:
        """Sum of both shares."""
        return self.unexplained + self.misaligned

    @property
    def leaves_some(self) -> bool:
        """Whether a motion leaves so much that labels may need more than that motion."""
        unexplained, misaligned, spot = _ALL_EXPLAINED
        return self.unexplained > unexplained or self.misaligned > misaligned or self.spot > spot

    def is_large(self, usual: "Misfit | None" = None) -> bool:
        """Return whether the window has more than one motion.

        ``usual`` is what even several motions leave in such windows.
        """
        usual = Misfit(0.0, 0.0) if usual is None else usual
        most_unexplained = max(_MAX_UNEXPLAINED, 1.25 * usual.unexplained + 0.01)
        most_misaligned = max(MAX_MISALIGNED, usual.misaligned + _AS_MISALIGNED)
        most_of_spot = max(_SPOT_SIGMAS, 1.5 * usual.spot)
        return (
            self.unexplained > most_unexplained
            or self.misaligned > most_misaligned
            or self.spot > most_of_spot
        )


def misfit_of(
    result: Estimate, misaligned: float | None = None, of_labels: Misfit | None = None
) -> Misfit:
    """Return the misfit of an estimate with one motion; ``misaligned`` is its share, if it is known.

    ``of_labels`` is the misfit of its labels, if it is known.
    """
    if not result.status.has_motion or not result.signal.any():
        return Misfit(0.0, 0.0)
    if of_labels is None:
        of_labels = misfit_of_labels(
            result.window.events, result.signal, partial(_is_moving, result)
        )
    return replace(
        of_labels, misaligned=misaligned_share(result) if misaligned is None else misaligned
    )


def misfit_of_labels(
    events: Events, signal: Bools, is_moving: Callable[[], Bools] | None = None
) -> Misfit:
    """Return the misfit of the labels of events, some of them signal; nothing counts as misaligned.

    ``is_moving`` returns the cells that move, (rows, columns); None if all of them do.
    """
    beyond, quiet = _beyond_noise(events, signal)
    unexplained = _unexplained(beyond, quiet) / int(np.count_nonzero(signal))
    return Misfit(unexplained, 0.0, _spot(events, signal, beyond, quiet, is_moving))


def unexplained_per_signal(result: Estimate) -> float:
    """Return `Misfit.unexplained` of an estimate with signal."""
    left = _unexplained(*_beyond_noise(result.window.events, result.signal))
    return left / int(np.count_nonzero(result.signal))


def _unexplained(beyond: Floats, quiet: float) -> float:
    return float(np.maximum(beyond - 3.0 * np.sqrt(quiet + 1.0), 0.0).sum())


def _beyond_noise(events: Events, signal: Bools) -> tuple[Floats, float]:
    """Count the events without support in cells beyond noise as dense as in the quiet half of them.

    Returns the counts, (rows, columns), and the density of noise per cell.
    """
    without = _counts(events, ~signal)
    quiet = 1.1 * float(np.sort(without, axis=None)[: max(without.size // 2, 1)].mean())
    return without - quiet, quiet


def _counts(events: Events, chosen: Bools) -> Floats:
    """Count chosen events in cells, (rows, columns)."""
    from evcrisp.kernels.layers.local_misfit import count_noise

    events = events.contiguous()
    parts = Parts.of(events.resolution, COUNT_PX)
    # Whole pixels: of an odd number of lines, one more is at the upper left.
    x, y = (
        column + np.uint16(-(start // 1)) if start else column
        for column, start in ((events.x, parts.left), (events.y, parts.top))
    )
    counts = np.empty((parts.rows, parts.columns), np.int64)
    count_noise(x, y, ~chosen, COUNT_PX, counts)
    return counts.astype(np.float64)


def _is_moving(result: Estimate) -> Bools:
    """Return whether all cells around each cell move, (rows, columns).

    In the middle of a turn or a zoom, hardly any pixel supports another one.
    """
    parts = Parts.of(result.window.events.resolution, COUNT_PX)
    shape = parts.rows, parts.columns
    if result.layer_map is not None or result.motion.name == "translation":
        return np.ones(shape, np.bool_)
    row, column = np.indices(shape).reshape(2, -1)
    x, y = ((k + 0.5) * COUNT_PX + at for k, at in ((column, parts.left), (row, parts.top)))
    velocity = velocity_of(result.motion, result.theta, x, y, np.zeros(x.size))
    moved_px = (
        np.linalg.norm(velocity, axis=1) * (result.window.t_end - result.window.t_start) / 1e6
    )
    is_slow = moved_px <= min(_MOVED_PX, 0.5 * float(np.median(moved_px)))
    return _around(is_slow.reshape(shape).astype(np.float64)) == 0.0


def _spot(
    events: Events,
    labels: Bools,
    beyond: Floats,
    quiet: float,
    is_moving: Callable[[], Bools] | None,
) -> float:
    """Return by how many standard deviations events without support stand out in one spot.

    ``beyond`` are the events without support beyond noise, of which cells have ``quiet``.
    """
    beyond = _around(beyond)
    if not (
        beyond >= LEAST_IN_SPOT
    ).any():  # nor are there as many beyond the usual share of the signal
        return 0.0
    signal, size = _around(_counts(events, labels)), _around(np.ones(beyond.shape))
    share = beyond / np.maximum(beyond + signal, 1.0)
    most = beyond - USUAL_SHARE * signal  # the usual share is at least that
    if not ((most >= LEAST_IN_SPOT) & (share > LEAST_SHARE)).any():
        return 0.0
    has_signal = signal > SPOT_SIGNAL
    shares = beyond[has_signal] / signal[has_signal]
    usual = max(float(np.median(shares)), USUAL_SHARE) if shares.size else USUAL_SHARE
    more = beyond - usual * signal
    noise = np.sqrt(quiet * size + usual * signal + 1.0)
    is_object = (more >= LEAST_IN_SPOT) & (share > LEAST_SHARE)
    if is_moving is not None:
        is_object &= is_moving()
    return float((more / noise)[is_object].max(initial=0.0))


def _around(cells: Floats) -> Floats:
    """Return sums over 3 x 3 cells around each cell."""
    padded = np.zeros((cells.shape[0] + 2, cells.shape[1] + 2))
    padded[1:-1, 1:-1] = cells  # `np.pad` takes longer than all the rest
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]


def misaligned_share(result: Estimate, off_px: float = OFF_PX) -> float:
    """Return the share of the signal in cells that another displacement would sharpen.

    It differs by ``off_px`` or more from that of the estimate, px per window.
    """
    from evcrisp.kernels.layers.local_misfit import local_terms

    events = result.window.events
    width, height = events.resolution
    most = events_for((width, height), MAX_EVENTS)
    chosen = some_events(events, np.flatnonzero(result.signal), most)
    parts = Parts.of((width, height), LOCAL_PX)
    shape = parts.rows, parts.columns
    pull, tensor, count = np.empty((*shape, 2)), np.empty((*shape, 3)), np.empty(shape)
    local_terms(
        result.aligned_x[chosen] - parts.left, result.aligned_y[chosen] - parts.top,
        _tau(result.window, chosen), events.p[chosen].view(np.uint8), 2.0, MARGIN_PX, parts.shape,
        float(LOCAL_PX),
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
