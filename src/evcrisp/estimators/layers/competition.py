"""Competition of motions for the cells of a window.

Every motion gives every event a support. A cell of 8 px and a third of the window belongs to the motion
under which its events, and those of the cells around it, have the most support; neighboring cells
prefer the same motion. A motion must gain more than a fixed cost, or it is removed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats, Singles
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
    from evcrisp.kernels.layers.choice import choose_motions

    support, gain = _gains(window, motions)
    needed = cost * _BLUR_SUM * window.share
    # One affine field explains two objects apart from each other nearly as well as their own
    # motions do: of motions that replace each other, the one that deforms the image more goes first.
    handicap = needed * _deformations(motions)
    is_used, label = np.empty(len(motions), np.bool_), np.empty(window.cells_shape, np.int16)
    choose_motions(gain, needed, handicap, _AGREEMENT, _FIRST_SWEEPS, _N_SWEEPS, is_used, label)
    number = (np.cumsum(is_used) - 1).astype(np.int16)
    return Competition(motions[is_used], support[is_used], number[label])


def _gains(window: LayerWindow, motions: Floats) -> tuple[Singles, Singles]:
    """Return the support of every event, (k, n), and the gain of every cell under every motion."""
    from evcrisp.kernels.layers.motion_support import gains_of_motions

    support = np.empty((len(motions), len(window)), np.float32)
    gain = np.empty((len(motions), *window.cells_shape), np.float32)
    # Of a subsample, support is thinner.
    scale = np.float32(SUPPORT_SCALE * window.share)
    gains_of_motions(
        window.x, window.y, window.tau, window.p, window.supporting, window.indexed.links,
        motions, window.resolution, scale, window.cell, support, gain,
    )  # fmt: skip
    return support, gain


def _deformations(motions: Floats) -> Floats:
    """Return how much each motion deforms its surroundings, from 0 to 1, shape (k,)."""
    moved_px = np.linalg.norm(motions[:, 2:6], axis=1) * _SURROUNDINGS_PX
    return np.minimum(moved_px / _STRONG_PX, 1.0)


def padding_of(positions: Singles, resolution: tuple[int, int]) -> int:
    """Return the padding of a map that holds all positions, at most the sensor size."""
    low = float(positions.min(initial=0.0))
    high = max(
        float((at - side).max(initial=0.0)) for at, side in zip(positions, resolution, strict=True)
    )
    return int(min(max(-low, high) + 1.0, max(resolution))) + _REACH_PX
