"""Competition of motions for the cells of a window.

Every motion gives every event a support. A cell of 8 px and a third of the window belongs to the motion
under which its events, and those of the cells around it, have the most support; neighboring cells
prefer the same motion. A motion must gain more than a fixed cost, or it is removed.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Floats, Singles
from evcrisp.estimators.layers.layer_window import CellEvents, LayerWindow

#: Support at which an event begins to count: log(1 + support / SCALE).
SUPPORT_SCALE = 0.35

#: Gain of a cell for each neighbor with the same motion.
AGREEMENT = 8.0

#: Sweeps over the cells while motions are removed, and at the end.
FIRST_SWEEPS, N_SWEEPS = 2, 8

#: Least gain of a motion over the others, summed over its cells.
LAYER_COST = 45.0

#: A motion that moves points at this distance by so much, px per window, deforms strongly.
SURROUNDINGS_PX, STRONG_PX = 60.0, 4.0

#: Sum of the weights of the blur of cells: every event counts that many times.
BLUR_SUM = 8.0

#: Displacement of a cell in which pixels support each other, px per window.
_MOVED_PX = 3.0

#: Reach of a footprint, px.
REACH_PX = 3


@dataclass(frozen=True, slots=True, eq=False)
class Competition:
    """Motions that remain, and the cells of each."""

    motions: Floats  # (n_layers, 8)
    support: Singles  # (n_layers, n) of every event under every motion
    label: NDArray[np.int16]  # (n_slices, rows, columns) motion of every cell

    def of_events(self, window: CellEvents) -> NDArray[np.int16]:
        """Return the motion of the cell of every event, shape (n,)."""
        return self.label.reshape(-1)[window.cell]

    def parts(self, window: CellEvents, least: float = -1.0) -> list[NDArray[np.intp]]:
        """Return the events of the cells of each motion with more support than ``least``.

        Events that support no others, those of hot pixels, are left out.
        """
        from evcrisp.kernels.layers.grouping import group_by_layer

        order, starts = np.empty(len(window), np.intp), np.empty(len(self.motions) + 1, np.intp)
        label = self.label.reshape(-1)
        group_by_layer(label, window.cell, self.support, window.supporting, least, order, starts)
        return np.split(order[: starts[-1]], starts[1:-1])


def compete(window: CellEvents, motions: Floats, cost: float = LAYER_COST) -> Competition:
    """Let motions, shape (k, 8), compete for the cells of a window."""
    from evcrisp.kernels.layers.choice import choose_motions

    support, gain = _gains(window, motions)
    needed = cost * BLUR_SUM * window.share
    # One affine field explains two objects apart from each other nearly as well as their own
    # motions do: of motions that replace each other, the one that deforms the image more goes first.
    handicap = needed * _deformations(motions)
    is_used, label = np.empty(len(motions), np.bool_), np.empty(window.cells_shape, np.int16)
    choose_motions(gain, needed, handicap, AGREEMENT, FIRST_SWEEPS, N_SWEEPS, is_used, label)
    number = (np.cumsum(is_used) - 1).astype(np.int16)
    return Competition(motions[is_used], support[is_used], number[label])


def lost_gains(
    window: LayerWindow, motions: Floats, label: NDArray[np.int16], x: Floats, y: Floats
) -> Floats:
    """Return how much each motion gains in its cells over one other motion, in `LAYER_COST`, (k,).

    ``label`` is the motion of every cell; ``x`` and ``y``, shape (n,), are the events as the other motion
    aligns them. Cells that hardly move do not count: under the right motion, their events do not
    support each other. A subsample counts as it is, for the gains of wrong motions grow with the events.
    """
    _, gain = _gains(window, motions)
    positions = np.array((x, y), np.float32)
    padding = padding_of(positions, window.resolution)
    # Aligned events on a larger sensor, at rest.
    padded = replace(
        window, x=positions[0] + np.float32(padding), y=positions[1] + np.float32(padding)
    )
    width, height = window.resolution
    size = width + 2 * padding, height + 2 * padding
    _, other = _gains(padded, np.zeros((1, 8)), size)
    lost = (gain - other).reshape(len(motions), -1)
    lost[:, ~_is_moving(window, positions)] = 0.0
    of_motion = np.arange(len(motions))[:, None] == label.reshape(-1)
    return (lost * of_motion).sum(axis=1) / (LAYER_COST * BLUR_SUM)


def _is_moving(window: LayerWindow, positions: Singles) -> Bools:
    """Return whether the events of cells move, given their aligned positions, (n_cells,)."""
    n_cells = int(np.prod(window.cells_shape))
    way = np.hypot(positions[0] - window.x, positions[1] - window.y)
    time = np.bincount(window.cell, np.abs(window.tau), n_cells)
    moved_px = np.bincount(window.cell, way, n_cells) / np.maximum(time, 1e-6)
    usual_px = float(way.sum()) / max(float(time.sum()), 1e-6)
    return moved_px > min(_MOVED_PX, 0.5 * usual_px)


def _gains(
    window: CellEvents, motions: Floats, size: tuple[int, int] | None = None
) -> tuple[Singles, Singles]:
    """Return the support of every event, (k, n), and the gain of every cell under every motion.

    ``size`` is the width and height that events may have; by default those of the sensor.
    """
    from evcrisp.kernels.layers.motion_support import gains_of_motions

    support = np.empty((len(motions), len(window)), np.float32)
    gain = np.empty((len(motions), *window.cells_shape), np.float32)
    # By a subsample, support is thinner.
    scale = np.float32(SUPPORT_SCALE * window.density)
    gains_of_motions(
        *window.supporters, window.x, window.y, window.tau, window.p, window.links,
        motions, size or window.resolution, scale, window.cell, support, gain,
    )  # fmt: skip
    return support, gain


def _deformations(motions: Floats) -> Floats:
    """Return how much each motion deforms its surroundings, from 0 to 1, shape (k,)."""
    moved_px = np.linalg.norm(motions[:, 2:6], axis=1) * SURROUNDINGS_PX
    return np.minimum(moved_px / STRONG_PX, 1.0)


def padding_of(positions: Singles, resolution: tuple[int, int]) -> int:
    """Return the padding of a map that holds all positions, at most the sensor size."""
    low = float(positions.min(initial=0.0))
    high = max(
        float((at - side).max(initial=0.0)) for at, side in zip(positions, resolution, strict=True)
    )
    return int(min(max(-low, high) + 1.0, max(resolution))) + REACH_PX
