"""Evidence of each event that it is signal, with the motion of its own layer.

Two kinds of evidence are combined: support from events that the motion of the layer aligns with it
(see :mod:`evcrisp.estimators.auto.event_evidence`), and support from its neighbors shortly before and
after it, which needs no motion. Where a motion is wrong or missing, the second one is left.
"""

import numpy as np

from evcrisp.core.types import Floats, Singles
from evcrisp.estimators.auto.aligned_maps import AlignedMaps
from evcrisp.estimators.auto.event_evidence import Evidence, labels_of, to_evidence
from evcrisp.estimators.auto.exposure import view_sides
from evcrisp.estimators.auto.label_choice import (
    ByMotion,
    WideSupport,
    neighbors_instead,
    part_to_test,
)
from evcrisp.estimators.auto.noise_model import best_threshold
from evcrisp.estimators.layers.competition import padding_of
from evcrisp.estimators.layers.find_layers import FoundLayers
from evcrisp.estimators.layers.layer_window import CELL_PX, N_SLICES, LayerWindow, first_cell
from evcrisp.motion import PreparedWarp

#: Time over which the support of neighbors fades, s.
_FADING_S = 0.03

#: Exponent of the support of neighbors in the combined evidence, and one for labels where that separates
#: better: motions that are hardly known.
_NEIGHBOR_WEIGHT, _MORE_WEIGHT = 0.4, 1.0

#: Slower motions count as this along each axis for the exposure, px per window.
_SOFT_PX = 2.0


def layer_evidence(window: LayerWindow, found: FoundLayers, false_alarm: float) -> Evidence:
    """Return the evidence of every event of a window with layers."""
    return _with_neighbors(window, _maps(window, found), false_alarm)


def model_evidence(
    window: LayerWindow, warp: PreparedWarp, theta: Floats, false_alarm: float
) -> Evidence:
    """Return the evidence of every event of a window with one motion."""
    maps = window.indexed.at(warp, theta, window.supporting)
    return _with_neighbors(window, maps, false_alarm)


def _with_neighbors(window: LayerWindow, maps: AlignedMaps, false_alarm: float) -> Evidence:
    """Combine the support on maps with that of neighbors in space and time, if that helps."""
    support, sample_support = maps.support()
    part = part_to_test(window.indexed, share=1.0)
    raw = part.of(support).copy()
    background, weight = to_evidence(maps, support, sample_support)
    threshold, separation = best_threshold(support, sample_support, false_alarm, weight)
    neighbors, sample_neighbors = _short_support(window)
    kept = part.of(support) > threshold
    labels = by_motion = labels_of(support, threshold)
    by_support = support, sample_support
    for weight_of_neighbors in (_NEIGHBOR_WEIGHT, _MORE_WEIGHT):
        combined, sample_combined = (
            _combined(of_motion, beside, threshold, weight_of_neighbors)
            for of_motion, beside in zip(by_support, (neighbors, sample_neighbors), strict=True)
        )
        both, with_neighbors = best_threshold(combined, sample_combined, false_alarm, weight)
        if with_neighbors < separation:
            break
        support, sample_support, separation = combined, sample_combined, with_neighbors
        labels = labels_of(combined, both)
        if weight_of_neighbors == _NEIGHBOR_WEIGHT:
            by_motion = labels
    motion = ByMotion(
        part, raw, kept, threshold, part.of(support), sample_support,
        background.astype(np.float32), weight, window.supporting,
    )  # fmt: skip
    wide = WideSupport(neighbors, sample_neighbors)
    better = neighbors_instead(window.indexed, motion, false_alarm, wide=wide)
    if better is not None:
        labels = labels_of(better.evidence, better.threshold)
    return Evidence(labels, by_motion, threshold, background, maps)


def _combined(evidence: Singles, neighbors: Singles, threshold: float, weight: float) -> Singles:
    by_motion = np.float32(1.0) + np.maximum(evidence, 0.0) / np.float32(threshold)
    return by_motion * (np.float32(1.0) + neighbors) ** np.float32(weight) - np.float32(1.0)


def _maps(window: LayerWindow, found: FoundLayers) -> AlignedMaps:
    """Return the maps of events and noise samples, each moved by the layer of its cell."""
    from evcrisp.kernels.layers.placement import divide_by_own_sweep, place_by_layer

    indexed = window.indexed
    samples, label = indexed.samples, found.label.reshape(-1)
    positions, moved = np.empty((2, 2, len(window)), np.float32)
    sample_positions, sample_moved = np.empty((2, 2, samples.t.size), np.float32)
    layer = label[window.cell]
    place_by_layer(window.x, window.y, window.tau, layer, found.motions, *positions, *moved)
    sample_layer = label[_sample_cells(window)]
    place_by_layer(
        samples.x, samples.y, samples.t, sample_layer, found.motions,
        *sample_positions, *sample_moved,
    )  # fmt: skip
    padding_px = padding_of(positions, window.resolution)
    sides = view_sides(indexed.view, padding_px)

    def exposure(value: Singles, points: object) -> None:
        own = moved if value.size == len(window) and points is not maps.samples else sample_moved
        divide_by_own_sweep(value, points, *own, *sides, _SOFT_PX)

    maps = indexed.placed(positions, sample_positions, padding_px, exposure, window.supporting)
    return maps


def _sample_cells(window: LayerWindow) -> np.ndarray:
    samples, (_, rows, columns) = window.indexed.samples, window.cells_shape
    slices = np.clip(((samples.t + 0.5) * N_SLICES).astype(np.intp), 0, N_SLICES - 1)
    left, top = first_cell(window.resolution)
    row = (samples.y.astype(np.intp) - top) // CELL_PX
    column = (samples.x.astype(np.intp) - left) // CELL_PX
    return (slices * rows + row) * columns + column


def _short_support(window: LayerWindow) -> tuple[Singles, Singles]:
    """Return the support of events and noise samples by neighbors in space and time."""
    from evcrisp.kernels.layers.short_support import short_support

    samples, data = window.indexed.samples, window.indexed.data
    out, sample_out = np.empty(len(window), np.float32), np.empty(samples.t.size, np.float32)
    order = np.argsort(samples.t, kind="stable").astype(np.int32)
    x, y = window.x.astype(np.uint16), window.y.astype(np.uint16)
    short_support(
        x, y, window.tau, window.p, samples.x, samples.y, samples.t, samples.p, order,
        (data.resolution[1], data.resolution[0]), _FADING_S / data.duration_s, out, sample_out,
    )  # fmt: skip
    return out, sample_out
