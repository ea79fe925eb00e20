"""Proposals for the motions of a window, from the contrast of its parts at many displacements.

The contrast volume holds, for every cell of 24 px and every displacement of a lattice, how many pairs
of events meet. A few displacements that together give most cells a high contrast become proposals,
each fitted to the events of its cells. An affine field through the best displacements of all cells
is one more, and so is rest.
"""

import math
from functools import lru_cache

import numpy as np

from evcrisp.core.types import Floats, Singles
from evcrisp.estimators.layers.fitting import constant_motion, fit_motion
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.motion.protocol import center_of

#: Cells, their map and the lattice on a sensor of 346 x 260; larger sensors have larger ones.
_SCALE_PX, _CELL, _STEP_PX = 3.0, 8, 5.0

#: Largest displacement of the lattice: a share of the larger side of the sensor, px.
_BOUND_SHARE = 0.125

#: Events of the volume per cell, on average.
_EVENTS_PER_CELL = 56

#: Most displacements, and least gain of one more relative to the first.
_MAX_SHIFTS, _LEAST_GAIN = 18, 0.006

#: Least number of events of a proposal; events of its fit.
MIN_EVENTS = 150
_FIT_EVENTS = 2_000

#: Translations that differ by less are the same, px.
_SAME_PX = 1.0

#: Iterations of the robust fit of a field, and its width, px: from wide to narrow.
_FIELD_STEPS, _WIDE_PX, _NARROW_PX, _NARROWING = 12, 12.0, 4.0, 0.7


def propose(window: LayerWindow) -> list[Floats]:
    """Return proposals for the motions of a window, rest included."""
    scale = _SCALE_PX * max(1.0, math.sqrt(max(window.resolution) / 346.0))
    shifts, volume = _volume(window, scale)
    usual = _median(volume)
    chosen, best = _cover(volume, usual)
    cell_px = scale * _CELL
    middle_x, middle_y = center_of(window.resolution)
    middle = middle_x, middle_y
    # Cells are centered on the view, as in `_volume`.
    column = ((window.x - middle_x) / cell_px + 0.5 * best.shape[1]).astype(np.intp)
    row = ((window.y - middle_y) / cell_px + 0.5 * best.shape[0]).astype(np.intp)
    choice = np.where(window.supporting, best.astype(np.int16)[row, column], np.int16(len(chosen)))
    # Numbers of 16 bits are sorted in linear time.
    order = np.argsort(choice, kind="stable")
    ends = np.cumsum(np.bincount(choice, minlength=len(chosen)))
    motions: list[Floats] = []
    for k, shift in enumerate(shifts[chosen].astype(np.float64)):
        events = order[ends[k - 1] if k else 0 : ends[k]]
        if events.size < MIN_EVENTS * window.share:
            continue
        events = window.some(events, _FIT_EVENTS)
        start = constant_motion(shift, middle)
        motion, _ = fit_motion(window, events, start, n_free=2, scales=(3.0,))
        if _is_new(motion, motions):
            motions.append(motion)
    field = _field(shifts, volume, usual, cell_px, window.resolution)
    events = np.flatnonzero(window.supporting)
    # If all events are of hot pixels, none is left for a fit.
    if field is not None and events.size >= MIN_EVENTS * window.share:
        events = window.some(events, 3 * _FIT_EVENTS)
        motions.append(fit_motion(window, events, field, n_free=6, scales=(4.0, 2.0))[0])
    return [*motions, constant_motion(np.zeros(2), middle)]


def _volume(window: LayerWindow, scale: float) -> tuple[Singles, Singles]:
    """Return the displacements of the lattice, (k, 2), and the blurred volume, (k, rows, columns).

    A margin of about one cell surrounds the view, which lies in the middle.
    """
    from evcrisp.kernels.layers.contrast_volume import contrast_volume

    width, height = window.resolution
    cell_px = scale * _CELL
    rows, columns = (math.ceil((side + 2.0 * cell_px) / cell_px) for side in (height, width))
    step = max(round(len(window) / (_EVENTS_PER_CELL * rows * columns)), 1)
    shifts = _lattice(_BOUND_SHARE * max(width, height), _STEP_PX * scale / _SCALE_PX)
    volume = np.empty((len(shifts), rows, columns), np.float32)
    chosen = window.indexed.one_in(step)
    middle_x, middle_y = center_of(window.resolution)
    x = window.x[chosen] + np.float32(0.5 * columns * cell_px - middle_x)
    y = window.y[chosen] + np.float32(0.5 * rows * cell_px - middle_y)
    times = window.tau[chosen], window.p[chosen]
    contrast_volume(x, y, *times, shifts, 0.0, scale, _CELL, volume)
    padded = np.pad(volume, ((0, 0), (1, 1), (1, 1)))
    across = padded[:, :, 1:-1] + 0.5 * (padded[:, :, :-2] + padded[:, :, 2:])
    return shifts, np.maximum(across[:, 1:-1] + 0.5 * (across[:, :-2] + across[:, 2:]), 0.0)


@lru_cache(maxsize=8)
def _lattice(bound_px: float, step_px: float) -> Singles:
    """Return displacements up to a bound, shape (k, 2), px per window."""
    ticks = step_px * np.arange(-int(bound_px / step_px), int(bound_px / step_px) + 1)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    shifts = grid[(grid**2).sum(axis=1) <= (bound_px + 0.5 * step_px) ** 2].astype(np.float32)
    shifts.flags.writeable = False
    return shifts


def _median(volume: Singles) -> Singles:
    """Return the median contrast of every cell, (rows, columns); a tenth of the time of `np.median`."""
    n = len(volume)
    ranked = np.sort(volume.reshape(n, -1).T)
    middle = np.float32(0.5) * (ranked[:, (n - 1) // 2] + ranked[:, n // 2])
    return middle.reshape(volume.shape[1:])


def _cover(volume: Singles, usual: Singles) -> tuple[list[int], np.ndarray]:
    """Choose displacements one by one that raise the contrast of all cells most.

    ``usual`` is the median contrast of every cell. Returns the displacements, and which of them is the
    best of every cell.
    """
    from evcrisp.kernels.layers.contrast_volume import raised_contrast

    reached, chosen, first = usual, [], 0.0
    gains = np.empty(len(volume), np.float32)
    for _ in range(_MAX_SHIFTS):
        raised_contrast(volume.reshape(len(volume), -1), reached.reshape(-1), gains)
        k = int(gains.argmax())
        first = first or float(gains[k])
        if chosen and gains[k] < _LEAST_GAIN * first:
            break
        chosen.append(k)
        reached = np.maximum(reached, volume[k])
    return chosen, volume[chosen].argmax(axis=0)


def _field(
    shifts: Singles, volume: Singles, usual: Singles, cell_px: float, resolution: tuple[int, int]
) -> Floats | None:
    """Return an affine field through the best displacements of the cells; None if they are few.

    ``usual`` is the median contrast of every cell.
    """
    contrast = volume.max(axis=0) - usual
    middle_x, middle_y = center_of(resolution)
    y, x = (
        (np.mgrid[: volume.shape[1], : volume.shape[2]][k] + 0.5 - 0.5 * volume.shape[1 + k])
        * cell_px
        + (middle_y, middle_x)[k]
        for k in range(2)
    )
    inside = (x > 0) & (x < resolution[0]) & (y > 0) & (y < resolution[1])
    used = inside & (contrast > 0.02 * contrast.max())
    if used.sum() < 8:
        return None
    rows = np.column_stack((np.ones(used.sum()), x[used] - middle_x, y[used] - middle_y))
    wanted, certainty = shifts[volume.argmax(axis=0)[used]], np.sqrt(contrast[used])
    weight, solution = certainty, np.zeros((3, 2))
    # Cells in one line do not determine all parameters.
    regular = np.diag([1e-9, 1e-3, 1e-3]) * float(certainty.sum())
    for step in range(_FIELD_STEPS):
        weighted = rows.T * weight
        solution = np.linalg.solve(weighted @ rows + regular, weighted @ wanted)
        distance = np.linalg.norm(wanted - rows @ solution, axis=1)
        scale = max(_NARROW_PX, _WIDE_PX * _NARROWING**step)
        weight = certainty / (1.0 + (distance / scale) ** 2) ** 2
    (shift, along_x, along_y) = solution
    matrix = along_x[0], along_y[0], along_x[1], along_y[1]
    return np.array([*shift, *matrix, middle_x, middle_y])


def _is_new(translation: Floats, others: list[Floats]) -> bool:
    """Return whether a translation differs from all others."""
    if not others:
        return True
    return (
        float(((np.array(others)[:, :2] - translation[:2]) ** 2).sum(axis=1).min()) >= _SAME_PX**2
    )
