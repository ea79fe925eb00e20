"""Competition of motions for the cells of a window.

Every motion gives every event a support. A cell of 8 px and a third of the window belongs to the motion
under which its events, and those of the cells around it, have the most support; neighboring cells
prefer the same motion. A motion must gain more than a fixed cost, or it is removed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats, Singles
from evcrisp.estimators.auto.aligned_maps import AlignedMaps
from evcrisp.estimators.layers.layer_window import LayerWindow

#: Support at which an event begins to count: log(1 + support / SCALE).
SUPPORT_SCALE = 0.35

#: Gain of a cell for each neighbor with the same motion.
_AGREEMENT = 8.0

#: Sweeps over the cells while motions are removed, and at the end.
_FIRST_SWEEPS, _N_SWEEPS = 2, 8

#: Least gain of a motion over the others, summed over its cells.
LAYER_COST = 45.0

#: A motion that moves points at this distance by so much, px per window, deforms strongly.
_SURROUNDINGS_PX, _STRONG_PX = 60.0, 4.0

#: Sum of the weights of the blur of cells: every event counts that many times.
_BLUR_SUM = 8.0

#: Reach of a footprint, px.
_REACH_PX = 3


@dataclass(frozen=True, slots=True, eq=False)
class Competition:
    """Motions that remain, and the cells of each."""

    motions: Floats  # (n_layers, 8)
    support: Singles  # (n_layers, n) of every event under every motion
    label: NDArray[np.int16]  # (n_slices, rows, columns) motion of every cell

    def of_events(self, window: LayerWindow) -> NDArray[np.int16]:
        """Return the motion of the cell of every event, shape (n,)."""
        return self.label.reshape(-1)[window.cell]

    def own_support(self, layer: NDArray[np.int16]) -> Singles:
        """Return the support of every event under its own motion, given `of_events`, shape (n,)."""
        return np.take_along_axis(self.support, layer[None].astype(np.intp), axis=0)[0]


def compete(window: LayerWindow, motions: Floats, cost: float = LAYER_COST) -> Competition:
    """Let motions, shape (k, 8), compete for the cells of a window."""
    from evcrisp.kernels.layers.cells import add_log_support, blur_cells, label_cells, region_losses

    shape, n_motions = window.cells_shape, len(motions)
    support = np.empty((n_motions, len(window)), np.float32)
    gain = np.empty((n_motions, *shape), np.float32)
    cells = np.empty(shape, np.float32)
    # Of a subsample, support is thinner.
    scale = np.float32(SUPPORT_SCALE * window.share)
    for k, motion in enumerate(motions):
        support[k] = np.maximum(support_under(window, motion), 0.0)
        cells.fill(0.0)
        add_log_support(support[k], scale, window.cell, cells.reshape(-1))
        blur_cells(cells, gain[k])
    needed = cost * _BLUR_SUM * window.share
    handicap = needed * _deformations(motions)
    used = np.flatnonzero(_worth_their_cost(gain.reshape(n_motions, -1), needed, handicap))
    label = np.empty(shape, np.int16)
    while True:
        chosen = np.ascontiguousarray(gain[used])
        label_cells(chosen, _AGREEMENT, _FIRST_SWEEPS, label)
        if used.size == 1:
            break
        # Without the smoothing by neighbors, chance alone would give every motion some cells.
        losses = np.empty(used.size)
        region_losses(chosen.reshape(used.size, -1), label.reshape(-1), losses)
        least = _least_useful(losses, needed, handicap[used])
        if least is None:
            break
        used = np.delete(used, least)
    label_cells(chosen, _AGREEMENT, _N_SWEEPS, label)
    return Competition(motions[used], support[used], label)


def _worth_their_cost(gain: Singles, cost: float, handicap: Floats) -> NDArray[np.bool_]:
    """Remove motions, the least useful first, until each one that is left gains its cost."""
    from evcrisp.kernels.layers.cells import removal_losses

    used, losses = np.ones(len(gain), np.bool_), np.empty(len(gain))
    while used.sum() > 1:
        removal_losses(gain, used, losses)
        losses[~used] = np.inf
        least = _least_useful(losses, cost, handicap)
        if least is None:
            break
        used[least] = False
    return used


def _least_useful(losses: Floats, cost: float, handicap: Floats) -> int | None:
    """Return the motion to remove first among those that gain less than their cost.

    Of motions that replace each other, the one that deforms the image more goes first: one affine
    field explains two objects apart from each other nearly as well as their own motions do.
    """
    ranked = np.where(losses < cost, losses - handicap, np.inf)
    return int(ranked.argmin()) if np.isfinite(ranked).any() else None


def _deformations(motions: Floats) -> Floats:
    """Return how much each motion deforms its surroundings, from 0 to 1, shape (k,)."""
    moved_px = np.linalg.norm(motions[:, 2:6], axis=1) * _SURROUNDINGS_PX
    return np.minimum(moved_px / _STRONG_PX, 1.0)


def support_under(window: LayerWindow, motion: Floats) -> Singles:
    """Return the support of every event if all of them move by one motion; a buffer."""
    layer = np.zeros(len(window), np.int16)
    return maps_by_layer(window, motion[None], layer).support_of_events()


def maps_by_layer(window: LayerWindow, motions: Floats, layer: NDArray[np.int16]) -> AlignedMaps:
    """Return the maps of events, each moved by its own layer; noise samples stay where they are."""
    from evcrisp.kernels.layers.placement import place_by_layer

    indexed = window.indexed
    positions, moved = np.empty((2, 2, len(window)), np.float32)
    place_by_layer(window.x, window.y, window.tau, layer, motions, *positions, *moved)
    padding_px = padding_of(positions, window.resolution)
    samples = np.full((2, indexed.samples.t.size), -1e6, np.float32)
    return indexed.placed(
        positions, samples, padding_px, lambda value, points: None, window.supporting
    )


def padding_of(positions: Singles, resolution: tuple[int, int]) -> int:
    """Return the padding of a map that holds all positions, at most the sensor size."""
    low = float(positions.min(initial=0.0))
    high = max(
        float((at - side).max(initial=0.0)) for at, side in zip(positions, resolution, strict=True)
    )
    return int(min(max(-low, high) + 1.0, max(resolution))) + _REACH_PX
