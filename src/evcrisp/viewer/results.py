"""Results as bundles: 5 bytes per event, maps of one byte per pixel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.motion import MotionModel
from evcrisp.viewer.bundle_format import write_bundle
from evcrisp.viewer.event_store import stride

#: Sharp enough to be looked at, with no gap between the pixels.
DISPLAY = ContrastMap(footprint="bilinear", sigma_px=0.5, padding_px=0)


def motion_facts(model: MotionModel, theta: Floats) -> dict[str, Any]:
    """Return the motion as JSON types."""
    return {
        "motion": model.name,
        "names": list(model.param_names),
        "units": list(model.param_units),
        "theta": [float(value) for value in theta],
    }


def label_facts(events: Events, signal: Bools) -> dict[str, Any]:
    """Return how many events were kept, and how right that was where the recording knows."""
    facts: dict[str, Any] = {"n_events": len(events), "n_signal": int(signal.sum())}
    if events.signal is not None:
        truth = events.signal
        if truth.any():
            facts["sensitivity"] = float(signal[truth].mean())
        if not truth.all():
            facts["specificity"] = float((~signal[~truth]).mean())
    return facts


def labels_bundle(events: Events, signal: Bools, facts: dict[str, Any]) -> bytes:
    """Return labels alone."""
    step = stride(len(events))
    return write_bundle(
        {**facts, **label_facts(events, signal), "stride": step},
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
    """Return what alignment moves, labels, and maps of a window."""
    step = stride(len(events))
    width, height = events.resolution
    images, image_facts = _contrast_maps(events, signal, aligned)
    shown = _sensor_part(w_map, events.image_shape)
    if shown is None:
        shown = _confidence_of_events(aligned, confidence, events.resolution)
    facts = {
        **facts,
        **label_facts(events, signal),
        **image_facts,
        "stride": step,
        "width": width,
        "height": height,
        "w_from": "events" if _sensor_part(w_map, events.image_shape) is None else "map",
    }
    arrays = {
        "shift_x": _fixed((aligned[0] - events.x)[::step], width),
        "shift_y": _fixed((aligned[1] - events.y)[::step], height),
        "flags": signal[::step].astype(np.uint8),
        **images,
        "w": _bytes(shown).ravel(),
    }
    return write_bundle(facts, arrays)


def _bytes(values: Floats) -> NDArray[np.uint8]:
    return np.rint(255.0 * np.clip(np.nan_to_num(values), 0.0, 1.0)).astype(np.uint8)


def _fixed(values: Floats, side: int) -> NDArray[np.uint16]:
    """Return how far events are moved, from a whole sensor back to a whole sensor on.

    Shifts change slowly from event to event, so that they pack better than places.
    """
    share = (np.nan_to_num(values, nan=-side) + side) / (2.0 * side)
    return np.rint(65_535.0 * np.clip(share, 0.0, 1.0)).astype(np.uint16)


def _contrast_maps(
    events: Events, signal: Bools, aligned: tuple[Floats, Floats]
) -> tuple[dict[str, NDArray[np.uint8]], dict[str, Any]]:
    """Return the maps before and after alignment, and of the kept events, on one scale."""
    size = events.resolution
    ones = np.ones(len(events))
    raw = events.x.astype(np.float64), events.y.astype(np.float64)
    maps = {
        "before": DISPLAY.build(*raw, ones, size),
        "after": DISPLAY.build(*aligned, ones, size),
        "kept": DISPLAY.build(*aligned, signal.astype(np.float64), size),
    }
    height, width = events.image_shape
    maps = {name: image[:height, :width] for name, image in maps.items()}
    top = max(float(np.quantile(maps["after"], 0.998)), 1.0)
    images = {f"map_{name}": _bytes(image / top).ravel() for name, image in maps.items()}
    variances = {name: float(image.var()) for name, image in maps.items()}
    return images, {"map_top": top, "variance": variances}


def _sensor_part(w_map: Floats | None, shape: tuple[int, int]) -> Floats | None:
    """Return the map without its border; None where it has another scale than the sensor."""
    if w_map is None:
        return None
    border_y, border_x = (w_map.shape[k] - shape[k] for k in (0, 1))
    if border_y != border_x or border_y < 0 or border_y % 2:
        return None
    border = border_y // 2
    return w_map[border : border + shape[0], border : border + shape[1]]


def _confidence_of_events(
    aligned: tuple[Floats, Floats], confidence: Floats, size: tuple[int, int]
) -> Floats:
    """Return the mean confidence of the events around each pixel; 0 where there are none."""
    width, height = size
    weights = DISPLAY.build(*aligned, np.ones(confidence.size), size)[:height, :width]
    sums = DISPLAY.build(*aligned, confidence, size)[:height, :width]
    return np.where(weights > 0.05, sums / np.maximum(weights, 0.05), 0.0)
