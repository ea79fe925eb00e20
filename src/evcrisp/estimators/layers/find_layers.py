"""Find the layers of a window: propose motions, let them compete, refine, and repeat.

::

    few events    proposals, or the motions of the window before
                  competition for cells, fit of each motion to its events; twice
    more events   competition; a fit with as few parameters as possible; competition
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.layers.competition import LAYER_COST, Competition, compete
from evcrisp.estimators.layers.fitting import (
    aligned,
    displacements,
    fit_motion,
    fit_simplest,
    without_sliding,
)
from evcrisp.estimators.layers.layer_window import CellEvents, LayerWindow
from evcrisp.estimators.layers.proposals import MIN_EVENTS, propose
from evcrisp.estimators.layers.splitting import region_proposals, split_proposals
from evcrisp.estimators.significance import MIN_GAIN_SIGMAS, pair_gain_sigmas
from evcrisp.search.window_data import WindowData

#: Rounds of competition and fit with few events. A third one costs as much time as half of the events
#: more, which help more.
N_ROUNDS = 2

#: Numbers of events.
Indices = NDArray[np.intp]

#: Events of the first rounds and of the last competition on a sensor of 346 x 260 px. Larger sensors have
#: more: in the last competition as dense ones, in the first rounds by the root of their area.
_N_EVENTS, _REFERENCE_PIXELS = 60_000, 346 * 260

#: Windows with more events are judged by those of half of the pixels in the first rounds.
_FEW_EVENTS = 22_000

#: Least support of the events that refine a motion.
_LEAST_SUPPORT = 0.15

#: Steps of a fit in all rounds but the last.
_FIRST_STEPS = 5

#: Most events that refine a motion.
_MAX_FIT_EVENTS = 50_000

#: Motions that are slower (root mean square) need no test, px per window; events of the test, and of a first
#: one, in which chance is larger relative to the pairs: what is significant there is so with more events.
_TESTED_PX, _TEST_EVENTS, _FIRST_TEST_EVENTS = 1.0, 8_192, 2_048

#: Cells have more events than usual by this many standard deviations of noise.
_DENSE_SIGMAS = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class FoundLayers:
    """Motions of a window, most events first, and where each of them holds."""

    motions: Floats  # (n_layers, 8), see `fitting`
    label: NDArray[np.int16]  # (n_slices, rows, columns)

    def __len__(self) -> int:
        return len(self.motions)


def find_layers(
    data: WindowData,
    events: Events,
    supporting: Bools,
    known: Floats | None = None,
    *,
    cost: float = LAYER_COST,
) -> tuple[LayerWindow, FoundLayers]:
    """Return the layers of a window, and the window with all events.

    ``known``, shape (k, 8), are motions of the window before; they replace the proposals.
    """

    # Windows share their buffers: each is prepared when the one before is not needed any more.
    def step_of(n_events: int, growth: float = 1.0) -> int:
        return subsampling_step(len(events), events.resolution, n_events, growth)

    step, last_step = step_of(_N_EVENTS, 0.5), step_of(_N_EVENTS)
    first = LayerWindow.of(data, events, supporting, step)
    motions = _search(first, known, cost)
    last = first if last_step == step else LayerWindow.of(data, events, supporting, last_step)
    found = compete(last, _settled(last, compete(last, motions, cost)), cost)
    moving = at_rest_without_gain(last, found)
    if moving is not None:
        found = compete(last, moving, cost)
    layers = sorted_layers(last, found)
    return (LayerWindow.of(data, events, supporting) if last.share < 1.0 else last), layers


def subsampling_step(
    n_events: int, resolution: tuple[int, int], wanted: int, growth: float = 1.0
) -> int:
    """Return the interval of a subsample of about ``wanted`` events per sensor of 346 x 260 px.

    On larger sensors they grow with the area to the power of ``growth``.

    >>> subsampling_step(36_000, (346, 260), 18_000), subsampling_step(10**6, (1280, 720), 18_000)
    (2, 5)
    """
    area = max(resolution[0] * resolution[1] / _REFERENCE_PIXELS, 1.0)
    return max(round(n_events / (wanted * area**growth)), 1)


def _search(whole: LayerWindow, known: Floats | None, cost: float) -> Floats:
    """Return motions that are nearly right, from a subsample of the events."""
    motions = np.array(propose(whole)) if known is None else known
    window = whole.of_half_of_pixels() if len(whole) > _FEW_EVENTS else whole
    for step in range(N_ROUNDS if known is None else 1):
        found = compete(window, motions, cost)
        parts = found.parts(window, _LEAST_SUPPORT * window.density)
        motions = _refined(window, found, parts)
        if step == 0:
            more = region_proposals(window, found, parts, MIN_EVENTS * window.share)
            more += split_proposals(window, found, parts) if known is None else []
            motions = np.concatenate((motions, more)) if more else motions
    return motions


def _refined(window: CellEvents, found: Competition, parts: Sequence[Indices]) -> Floats:
    """Fit each motion to the supported events of its cells; drop motions of few events."""
    refined = [
        fit_motion(window, events, motion, n_free=6, scales=(2.0,), n_steps=_FIRST_STEPS)[0]
        for motion, events in _large(window, found, parts)
    ]
    return np.array(refined) if refined else found.motions


def _settled(window: CellEvents, found: Competition) -> Floats:
    """Fit each motion to the supported events of its cells, with as few parameters as possible."""
    supported = found.parts(window, _LEAST_SUPPORT * window.density)
    parts = _large(window, found, supported)
    if not parts:
        return found.motions
    largest = max(parts, key=lambda part: part[1].size)[0]
    settled = []
    for motion, events in parts:
        fitted = fit_simplest(window, events, motion)
        other = None if motion is largest else largest
        settled.append(without_sliding(window, events, fitted, other))
    return np.array(settled)


def _large(
    window: CellEvents, found: Competition, parts: Sequence[Indices]
) -> list[tuple[Floats, Indices]]:
    """Return the motions with enough events, given those of each, and at most as many as a fit needs."""
    return [
        (motion, window.some(events, _MAX_FIT_EVENTS))
        for motion, events in zip(found.motions, parts, strict=True)
        if events.size >= MIN_EVENTS * window.share
    ]


def at_rest_without_gain(window: CellEvents, found: Competition) -> Floats | None:
    """Return motions, of which those that do not align their events significantly are at rest.

    None if all of them do.
    """
    rest = found.motions.copy()
    # All events: those with support were chosen by this motion, and would favor it.
    for k, (motion, events) in enumerate(zip(found.motions, found.parts(window), strict=True)):
        if not events.size or _is_slow(window, motion, events):
            continue
        if _is_significant(window, motion, events):
            continue
        # Around a small thing lies noise that no motion aligns. More events in a cell show no motion, so
        # that to choose such cells favors none.
        events = events[_in_dense_cells(window, events)]
        is_enough = events.size >= MIN_EVENTS * window.share
        if not is_enough or not _is_significant(window, motion, events):
            rest[k, :6] = 0.0
    if np.array_equal(rest, found.motions):
        return None
    moving = rest[np.abs(rest[:, :6]).max(axis=1) > 0.0]
    still = rest[np.abs(rest[:, :6]).max(axis=1) == 0.0][:1]
    return np.concatenate((moving, still))


def _in_dense_cells(window: CellEvents, events: Indices) -> Bools:
    """Return which events lie in cells with clearly more events than half of the cells have."""
    counts = np.bincount(window.cell, minlength=int(np.prod(window.cells_shape)))
    usual = float(np.median(counts))
    return (counts > usual + _DENSE_SIGMAS * np.sqrt(usual + 1.0))[window.cell[events]]


def _is_slow(window: CellEvents, motion: Floats, events: Indices) -> bool:
    """Return whether a motion moves its events too little for a test."""
    events = window.some(events, _TEST_EVENTS)
    moved = displacements(
        motion, window.x[events].astype(np.float64), window.y[events].astype(np.float64)
    )
    return float((moved**2).sum(axis=1).mean()) < _TESTED_PX**2


def _is_significant(window: CellEvents, motion: Floats, events: Indices) -> bool:
    """Return whether a motion makes significantly more pairs of events meet than rest does."""
    for n_events in (_FIRST_TEST_EVENTS, _TEST_EVENTS):
        some = window.some(events, n_events)
        still = window.x[some].astype(np.float64), window.y[some].astype(np.float64)
        moved = aligned(window, some, motion)
        if pair_gain_sigmas(moved, still, window.resolution) >= MIN_GAIN_SIGMAS:
            return True
    return False


def sorted_layers(window: CellEvents, found: Competition) -> FoundLayers:
    """Order layers by their number of supported events; layers without a cell are dropped."""
    n_layers = len(found.motions)
    parts = found.parts(window, _LEAST_SUPPORT * window.density)
    counts = np.array([events.size for events in parts])
    present = np.bincount(found.label.reshape(-1), minlength=n_layers) > 0
    order = [int(k) for k in np.argsort(-counts, kind="stable") if present[k]]
    position = np.zeros(n_layers, np.int16)
    position[order] = np.arange(len(order), dtype=np.int16)
    return FoundLayers(found.motions[order], position[found.label])
