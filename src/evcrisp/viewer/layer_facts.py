"""Layers and flow of a window as the page needs them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.palettes import layer_slots
from evcrisp.core.types import Bytes, Floats
from evcrisp.estimators.layer import Layer, near_events
from evcrisp.estimators.result import Estimate
from evcrisp.motion.velocity import velocity_of

#: Cells of the flow along the longer side of the sensor: arrows that do not touch each other.
FLOW_CELLS = 32


def layers_as_json(layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """Return number, color, velocity (px/s) with deviation, doubts, box (px) and events of each layer."""
    slots = layer_slots([layer.id for layer in layers])
    return [
        {
            "id": layer.id,
            "slot": slot,
            "model": layer.motion.name,
            "velocity": [float(value) for value in np.nan_to_num(layer.velocity)],
            "std": [None if np.isnan(value) else float(value) for value in layer.velocity_std],
            "doubts": [doubt.code for doubt in layer.doubts],
            "box": list(layer.box),
            "n_events": len(layer),
        }
        for layer, slot in zip(layers, slots, strict=True)
    ]


def layer_flags(layer: NDArray[np.int16], slots: Sequence[int]) -> Bytes:
    """Return one byte per event: bit 0 signal, bits 1 to 7 the color of its layer.

    >>> layer_flags(np.array([-1, 0, 1], np.int16), [0, 3]).tolist()
    [0, 1, 7]
    """
    table = np.array([*(2 * slot + 1 for slot in slots), 0], np.uint8)  # -1 is the last entry
    return table[layer]


def flow_cells(result: Estimate) -> tuple[int, NDArray[np.float32]]:
    """Return the side of the cells, px, and the velocity at the middle of each, (rows, columns, 2).

    NaN where no motion is known: away from signal.
    """
    width, height = result.window.events.resolution
    cell_px = max(8, -(-max(width, height) // FLOW_CELLS))
    y, x = np.mgrid[0:height:cell_px, 0:width:cell_px] + cell_px // 2
    y, x = np.minimum(y, height - 1), np.minimum(x, width - 1)
    known = near_events(result.kept())[y, x] & result.status.has_motion
    velocity = np.full((*x.shape, 2), np.nan, np.float32)
    velocity[known] = _velocities(result, x[known], y[known])
    return cell_px, velocity


def _velocities(result: Estimate, x: NDArray[np.intp], y: NDArray[np.intp]) -> Floats:
    """Return the velocity at pixels at the reference time, shape (n, 2), px/s."""
    window = result.window
    share = (window.t_ref - window.t_start) / max(window.t_end - window.t_start, 1)
    index = np.zeros(x.size, np.int16)
    if result.layer_map is not None:
        index = result.layer_map.at(x, y, np.full(x.size, share))
    velocity = np.empty((x.size, 2))
    for k, part in enumerate(result.layer_motions):
        here = index == k
        velocity[here] = velocity_of(
            part.motion, part.theta, x[here], y[here], np.zeros(here.sum())
        )
    return velocity
