"""Proposals from the inside of layers: parts that another displacement would sharpen."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.estimators.layers.competition import Competition
from evcrisp.estimators.layers.fitting import (
    aligned,
    constant_motion,
    displacements,
    fit_motion,
    fit_simplest,
)
from evcrisp.estimators.layers.layer_window import MARGIN_PX, CellEvents, Parts

#: Side of the parts, px, and least number of their events.
_PART_PX, _LEAST_EVENTS = 48, 80

#: Parts that are off by less stay as they are, px per window.
_OFF_PX = 0.8

#: Longest step along an axis from the motion of the layer, px per window.
_MAX_STEP_PX = 3.0

#: Most proposals, the parts or regions with the most events first.
_MAX_SPLITS, _MAX_REGIONS = 6, 6

#: Scales of the maps of a search from far, and its longest way, px.
_FAR_SCALES, _FAR_PX = (8.0, 4.0), 40.0

#: Events of a cell that belongs to a region.
_LEAST_CELL_EVENTS = 2


def split_proposals(
    window: CellEvents, found: Competition, supported: Sequence[NDArray[np.intp]]
) -> list[Floats]:
    """Return motions of parts of layers, each fitted to the part and the parts around it.

    ``supported`` are the events of each layer with enough support.
    """
    from evcrisp.kernels.layers.local_misfit import local_terms

    grid, n_layers = Parts.of(window.resolution, _PART_PX), len(found.motions)
    shape = n_layers, grid.rows, grid.columns
    pull, tensor, count = np.zeros((*shape, 2)), np.zeros((*shape, 3)), np.zeros(shape)
    positions = []
    for k, (motion, mine) in enumerate(zip(found.motions, supported, strict=True)):
        x, y = aligned(window, mine, motion)
        x, y = x - grid.left, y - grid.top
        positions.append((x, y))
        if mine.size >= 2 * _LEAST_EVENTS:
            local_terms(
                x, y, window.tau[mine], window.p[mine], 2.0, MARGIN_PX, grid.shape, float(_PART_PX),
                pull[k], tensor[k], count[k],
            )  # fmt: skip
    # A sum over the parts around each part, so that most have edges in all directions.
    around = _around(np.concatenate((pull, tensor, count[..., None]), axis=3))
    step, counts = _steps(around[..., :2], around[..., 2:5]), around[..., 5]
    is_off = (np.hypot(step[..., 0], step[..., 1]) > _OFF_PX) & (count > _LEAST_EVENTS)
    chosen = []
    # Parts beside a chosen part see the same events.
    for k, r, c in sorted(np.argwhere(is_off).tolist(), key=lambda at: -counts[tuple(at)]):
        if is_off[k, r, c] and len(chosen) < _MAX_SPLITS:
            is_off[k, max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2] = False
            chosen.append((k, r, c))
    motions = []
    for k, r, c in chosen:
        near = [
            abs(np.clip(side // _PART_PX, 0, None) - at) <= 1
            for side, at in zip(positions[k], (c, r), strict=True)
        ]
        start = found.motions[k].copy()
        start[:2] += np.clip(step[k, r, c], -_MAX_STEP_PX, _MAX_STEP_PX)
        events = supported[k][near[0] & near[1]]
        motions.append(fit_motion(window, events, start, n_free=6, scales=(2.0,))[0])
    return motions


def region_proposals(
    window: CellEvents,
    found: Competition,
    supported: Sequence[NDArray[np.intp]],
    least_events: float,
) -> list[Floats]:
    """Return motions of the connected regions of layers that have several.

    ``supported`` are the events of each layer with enough support.

    Objects apart from each other lie on one affine field, whatever their motions: two velocities
    never contradict six parameters. Each region is fitted alone, with as few parameters as possible.
    """
    from evcrisp.kernels.layers.regions import connected_regions

    _, rows, columns = window.cells_shape
    region = np.empty((rows, columns), np.int32)
    parts: list[tuple[int, np.ndarray, Floats]] = []
    for motion, mine in zip(found.motions, supported, strict=True):
        place = window.cell[mine] % (rows * columns)
        counts = np.bincount(place, minlength=rows * columns).reshape(rows, columns)
        # Noise that happens to have support must not connect objects.
        connected_regions(counts >= _LEAST_CELL_EVENTS + 2.0 * np.median(counts), region)
        of_event = region.reshape(-1)[place]
        sizes = np.bincount(of_event[of_event >= 0])
        large = np.flatnonzero(sizes >= least_events)
        if large.size > 1:
            parts += [(int(sizes[r]), mine[of_event == r], motion) for r in large]
    parts.sort(key=lambda item: -item[0])
    return [_region_fit(window, events, motion) for _, events, motion in parts[:_MAX_REGIONS]]


def _region_fit(window: CellEvents, events: np.ndarray, motion: Floats) -> Floats:
    """Fit a region that may move quite differently from its layer: from far, then closely."""
    center = window.x[events].mean(), window.y[events].mean()
    best, most = motion, -np.inf
    for start in (displacements(motion, *np.array(center)[:, None])[0], np.zeros(2)):
        found, value = fit_motion(
            window, events, constant_motion(start, center), n_free=2, scales=_FAR_SCALES,
            max_correction_px=_FAR_PX,
        )  # fmt: skip
        if value > most:
            best, most = found, value
    return fit_simplest(window, events, best)


def _steps(pull: Floats, tensor: Floats) -> Floats:
    """Return the displacement that would sharpen each part of each layer, shape (..., 2), px."""
    floor = 0.02 * (tensor[..., 0] + tensor[..., 2]).mean(axis=(1, 2), keepdims=True) + 1e-3
    xx, xy, yy = tensor[..., 0] + floor, tensor[..., 1], tensor[..., 2] + floor
    across, down = pull[..., 0], pull[..., 1]
    steps = np.stack((yy * across - xy * down, xx * down - xy * across), axis=-1)
    return steps / (xx * yy - xy * xy)[..., None]


def _around(values: Floats) -> Floats:
    """Return sums over each part and a half of its neighbors, (layers, rows, columns, values)."""
    padded = np.pad(values, ((0, 0), (1, 1), (1, 1), (0, 0)))
    across = padded[:, :, 1:-1] + 0.5 * (padded[:, :, :-2] + padded[:, :, 2:])
    return across[:, 1:-1] + 0.5 * (across[:, :-2] + across[:, 2:])
