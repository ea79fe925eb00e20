"""Proposals from the inside of layers: parts that another displacement would sharpen."""

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.estimators.layers.competition import Competition
from evcrisp.estimators.layers.fitting import (
    constant_motion,
    displacements,
    fit_motion,
    fit_simplest,
)
from evcrisp.estimators.layers.layer_window import MARGIN_PX, LayerWindow, Parts

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


def split_proposals(window: LayerWindow, found: Competition, least_support: float) -> list[Floats]:
    """Return motions of parts of layers, each fitted to the part and the parts around it."""
    from evcrisp.kernels.layers.local_misfit import local_terms

    layer = found.of_events(window)
    own_support = found.own_support(layer)
    grid = Parts.of(window.resolution, _PART_PX)
    rows, columns = grid.rows, grid.columns
    pull, tensor = np.empty((rows, columns, 2)), np.empty((rows, columns, 3))
    count = np.empty((rows, columns))
    parts: list[tuple[float, np.ndarray, Floats]] = []  # events, which of them, and the start
    for k, motion in enumerate(found.motions):
        mine = np.flatnonzero((layer == k) & (own_support > least_support) & window.supporting)
        if mine.size < 2 * _LEAST_EVENTS:
            continue
        x, y = window.x[mine].astype(np.float64), window.y[mine].astype(np.float64)
        moved = displacements(motion, x, y) * window.tau[mine, None]
        x, y = x - moved[:, 0] - grid.left, y - moved[:, 1] - grid.top
        local_terms(
            x, y, window.tau[mine], window.p[mine], 2.0, MARGIN_PX, grid.shape, float(_PART_PX),
            pull, tensor, count,
        )  # fmt: skip
        # A sum over the parts around each part, so that most have edges in all directions.
        step, counts = _steps(_around(pull), _around(tensor)), _around(count[..., None])[..., 0]
        is_off = (np.linalg.norm(step, axis=2) > _OFF_PX) & (count > _LEAST_EVENTS)
        row, column = (np.clip(side // _PART_PX, 0, None).astype(np.intp) for side in (y, x))
        # Parts beside a chosen part see the same events.
        for r, c in sorted(np.argwhere(is_off).tolist(), key=lambda at: -counts[at[0], at[1]]):
            if is_off[r, c]:
                is_off[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2] = False
                here = (abs(row - r) <= 1) & (abs(column - c) <= 1)
                start = motion.copy()
                start[:2] += np.clip(step[r, c], -_MAX_STEP_PX, _MAX_STEP_PX)
                parts.append((float(counts[r, c]), mine[here], start))
    parts.sort(key=lambda item: -item[0])
    return [
        fit_motion(window, events, start, n_free=6, scales=(2.0,))[0]
        for _, events, start in parts[:_MAX_SPLITS]
    ]


def region_proposals(
    window: LayerWindow, found: Competition, least_support: float, least_events: float
) -> list[Floats]:
    """Return motions of the connected regions of layers that have several.

    Objects apart from each other lie on one affine field, whatever their motions: two velocities
    never contradict six parameters. Each region is fitted alone, with as few parameters as possible.
    """
    from evcrisp.kernels.layers.regions import connected_regions

    layer = found.of_events(window)
    own_support = found.own_support(layer)
    _, rows, columns = window.cells_shape
    place = window.cell % (rows * columns)
    region = np.empty((rows, columns), np.int32)
    parts: list[tuple[int, np.ndarray, Floats]] = []
    for k, motion in enumerate(found.motions):
        mine = np.flatnonzero((layer == k) & (own_support > least_support) & window.supporting)
        counts = np.bincount(place[mine], minlength=rows * columns).reshape(rows, columns)
        # Noise that happens to have support must not connect objects.
        connected_regions(counts >= _LEAST_CELL_EVENTS + 2.0 * np.median(counts), region)
        of_event = region.reshape(-1)[place[mine]]
        sizes = np.bincount(of_event[of_event >= 0])
        large = np.flatnonzero(sizes >= least_events)
        if large.size > 1:
            parts += [(int(sizes[r]), mine[of_event == r], motion) for r in large]
    parts.sort(key=lambda item: -item[0])
    return [_region_fit(window, events, motion) for _, events, motion in parts[:_MAX_REGIONS]]


def _region_fit(window: LayerWindow, events: np.ndarray, motion: Floats) -> Floats:
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
    """Return the displacement that would sharpen each part, shape (rows, columns, 2), px."""
    floor = 0.02 * float(tensor[..., 0].mean() + tensor[..., 2].mean()) + 1e-3
    xx, xy, yy = tensor[..., 0] + floor, tensor[..., 1], tensor[..., 2] + floor
    across, down = pull[..., 0], pull[..., 1]
    steps = np.stack((yy * across - xy * down, xx * down - xy * across), axis=-1)
    return steps / (xx * yy - xy * xy)[..., None]


def _around(values: Floats) -> Floats:
    """Return sums over each part and a half of its neighbors along each axis."""
    padded = np.pad(values, ((1, 1), (1, 1), (0, 0)))
    across = padded[:, 1:-1] + 0.5 * (padded[:, :-2] + padded[:, 2:])
    return across[1:-1] + 0.5 * (across[:-2] + across[2:])
