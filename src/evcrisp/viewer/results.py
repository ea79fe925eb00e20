"""Results as bundles: 5 bytes per event, and maps of one byte per pixel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.motion import MotionModel
from evcrisp.viewer.bundle_format import write_bundle
from evcrisp.viewer.event_store import display_step

#: Contrast map for display: a small blur closes gaps between pixels and keeps edges sharp.
DISPLAY_MAP = ContrastMap(footprint="bilinear", sigma_px=0.5, padding_px=0)


def motion_facts(model: MotionModel, theta: Floats) -> dict[str, Any]:
    """Return the motion as JSON types."""
    return {
        "motion": model.name,
        "names": list(model.param_names),
        "units": list(model.param_units),
        "theta": [float(value) for value in theta],
    }


def label_facts(events: Events, signal: Bools) -> dict[str, Any]:
    """Return the number of kept events; with true labels, sensitivity and specificity."""
    facts: dict[str, Any] = {"n_events": len(events), "n_signal": int(signal.sum())}
    truth = events.signal
    if truth is not None and truth.any():
        facts["sensitivity"] = float(signal[truth].mean())
    if truth is not None and not truth.all():
        facts["specificity"] = float((~signal[~truth]).mean())
    return facts


def labels_bundle(events: Events, signal: Bools, facts: dict[str, Any]) -> bytes:
    """Return the bundle of labels."""
    step = display_step(len(events))
    return write_bundle(
        {**facts, **label_facts(events, signal), "step": step},
        {"flags": signal[::step].astype(np.uint8)},
    )


def result_bundle(
    events: Events,
    signal: Bools,
    confidence: Floats,
    aligned: tuple[Floats, Floats],
    w_map: Floats | None,
    facts: dict[str, Any],
) -> bytes:
    """Return the bundle of a window: shifts by alignment, labels and maps."""
    step = display_step(len(events))
    width, height = events.resolution
    images, image_facts = _contrast_maps(events, signal, aligned)
    shown = _sensor_part(w_map, events.shape)
    w_from = "events" if shown is None else "map"
    if shown is None:
        shown = _mean_confidence(aligned, confidence, events.resolution)
    facts = {
        **facts,
        **label_facts(events, signal),
        **image_facts,
        "step": step,
        "width": width,
        "height": height,
        "w_from": w_from,
    }
    arrays = {
        "shift_x": _quantized_shift((aligned[0] - events.x)[::step], width),
        "shift_y": _quantized_shift((aligned[1] - events.y)[::step], height),
        "flags": signal[::step].astype(np.uint8),
        **images,
        "w": _quantized(shown).ravel(),
    }
    return write_bundle(facts, arrays)


def _quantized(values: Floats) -> NDArray[np.uint8]:
    return np.rint(255.0 * np.clip(np.nan_to_num(values), 0.0, 1.0)).astype(np.uint8)


def _quantized_shift(values: Floats, side: int) -> NDArray[np.uint16]:
    """Return shifts as uint16 over the range of plus and minus one sensor side.

    Shifts change slowly from event to event, and compress better than positions.
    """
    share = (np.nan_to_num(values, nan=-side) + side) / (2.0 * side)
    return np.rint(65_535.0 * np.clip(share, 0.0, 1.0)).astype(np.uint16)


def _contrast_maps(
    events: Events, signal: Bools, aligned: tuple[Floats, Floats]
) -> tuple[dict[str, NDArray[np.uint8]], dict[str, Any]]:
    """Return contrast maps before and after alignment and of kept events, in one scale."""
    size = events.resolution
    ones = np.ones(len(events))
    raw = events.x.astype(np.float64), events.y.astype(np.float64)
    maps = {
        "before": DISPLAY_MAP.build(*raw, ones, size),
        "after": DISPLAY_MAP.build(*aligned, ones, size),
        "kept": DISPLAY_MAP.build(*aligned, signal.astype(np.float64), size),
    }
    height, width = events.shape
    maps = {name: image[:height, :width] for name, image in maps.items()}
    top = max(float(np.quantile(maps["after"], 0.998)), 1.0)
    images = {f"map_{name}": _quantized(image / top).ravel() for name, image in maps.items()}
    variances = {name: float(image.var()) for name, image in maps.items()}
    return images, {"map_top": top, "variance": variances}


def _sensor_part(w_map: Floats | None, shape: tuple[int, int]) -> Floats | None:
    """Return the map without its padding; None if its scale differs from the sensor."""
    if w_map is None:
        return None
    border_y, border_x = (w_map.shape[k] - shape[k] for k in (0, 1))
    if border_y != border_x or border_y < 0 or border_y % 2:
        return None
    border = border_y // 2
    return w_map[border : border + shape[0], border : border + shape[1]]


def _mean_confidence(
    aligned: tuple[Floats, Floats], confidence: Floats, size: tuple[int, int]
) -> Floats:
    """Return the mean confidence of the events around each pixel; 0 without events."""
    width, height = size
    weights = DISPLAY_MAP.build(*aligned, np.ones(confidence.size), size)[:height, :width]
    sums = DISPLAY_MAP.build(*aligned, confidence, size)[:height, :width]
    return np.where(weights > 0.05, sums / np.maximum(weights, 0.05), 0.0)
