"""What the page asks for, computed: a request in, a bundle out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.joint.pareto import ParetoFront, pareto_front
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate
from evcrisp.filters import denoise
from evcrisp.motion import MotionModel
from evcrisp.pipeline.tracking import Tracker, track
from evcrisp.pipeline.windowing import Windowing
from evcrisp.search.window_data import WindowData
from evcrisp.viewer.bundle_format import write_bundle
from evcrisp.viewer.event_store import EventStore, display_step
from evcrisp.viewer.requests import Request

#: Called with how far a computation got, 0 to 1.
Progress = Callable[[float], None]

#: Filters see this much before the window, so that their state is not that of a start.
LEAD_US = 200_000

#: Estimators see at most this many windows before, for warm starts, hot pixels and filters.
LEAD_WINDOWS = 6


@dataclass(slots=True)
class _Tracking:
    """A tracker, what it was started for, and where its next window starts."""

    key: tuple[Any, ...]
    tracker: Tracker
    next_us: int


@dataclass(slots=True)
class Computer:
    """Computes for one recording, and remembers the last front, whose points are asked for later."""

    store: EventStore
    camera: Camera | None = None
    _front_of: tuple[Any, ...] = ()
    _front: ParetoFront | None = field(default=None)
    _tracking: _Tracking | None = field(default=None)

    def compute(self, request: Request, on_progress: Progress) -> bytes:
        """Return the bundle of a request."""
        if request.kind == "track":
            return self._track(request, on_progress)
        if request.kind == "filter":
            return self._filter(request)
        window = self.store.window(request.start_us, request.duration_us)
        if request.kind == "estimate":
            return self._estimate(request, window)
        front = self._front_at(request, window)
        if request.kind == "front":
            return _front_bundle(request, front)
        return self._point(request, window, front)

    def _estimate(self, request: Request, window: Window) -> bytes:
        result = self._tracked(request, window)
        facts = {
            **_request_facts(request),
            **motion_facts(result.motion, result.theta),
            "status": result.status.value,
            "is_good": result.status.is_usable,
            "warnings": list(result.warnings),
        }
        aligned = result.aligned_x, result.aligned_y
        return result_bundle(
            window.events, result.signal, result.confidence, aligned, result.w_map, facts
        )

    def _tracked(self, request: Request, window: Window) -> Estimate:
        """Estimate a window as `track` does, after the windows before it.

        The state of the last window is reused if this one follows it. Otherwise estimation starts
        up to LEAD_WINDOWS earlier.
        """
        duration_us = request.duration_us
        key = (request.method, request.motion, duration_us)
        last = self._tracking
        if last is None or last.key != key or last.next_us != request.start_us:
            n_before = min(LEAD_WINDOWS, request.start_us // duration_us)
            model = model_for(request.motion, self.store.resolution, self.camera)
            estimator = build(ESTIMATORS, request.method, "method")
            last = _Tracking(key, Tracker(estimator, model, self.store.resolution), 0)
            for start_us in range(
                request.start_us - n_before * duration_us, request.start_us, duration_us
            ):
                last.tracker.estimate(self.store.window(start_us, duration_us), duration_us)
        result = last.tracker.estimate(window, duration_us)
        last.next_us = request.start_us + duration_us
        self._tracking = last
        return result

    def _filter(self, request: Request) -> bytes:
        window = self.store.window(request.start_us - LEAD_US, request.duration_us + LEAD_US)
        labels = denoise(window.events, request.filter)
        n_lead = int(np.searchsorted(window.events.t, window.t_start + LEAD_US))
        return labels_bundle(
            window.events[n_lead:], labels.signal[n_lead:], _request_facts(request)
        )

    def _front_at(self, request: Request, window: Window) -> ParetoFront:
        wanted = (request.start_us, request.duration_us, request.motion, request.n_points)
        if self._front is None or self._front_of != wanted:
            model = model_for(request.motion, self.store.resolution, self.camera)
            self._front = pareto_front(window, model, n_points=request.n_points)
            self._front_of = wanted
        return self._front

    def _point(self, request: Request, window: Window, front: ParetoFront) -> bytes:
        index = min(request.index, len(front) - 1)
        point = front.points[index]
        events = window.events
        model = front.problem.data.warp.model
        aligned = WindowData.of(window, model).warp.warp(point.theta)
        w_map = front.w_map(index)
        confidence = np.clip(front.problem.contrast.sample(w_map, *aligned), 0.0, 1.0)
        facts = {
            **_request_facts(request),
            **motion_facts(model, point.theta),
            "index": index,
            "status": front.status.value,
            "is_good": front.status.is_usable,
            "warnings": [],
        }
        return result_bundle(events, point.signal, confidence, aligned, w_map, facts)

    def _track(self, request: Request, on_progress: Progress) -> bytes:
        windows = Windowing(window_us=request.duration_us)
        model = model_for(request.motion, self.store.resolution, self.camera)
        rows: list[list[float]] = []
        for result in track(
            self.store.chunks(),
            request.method,
            request.motion,
            camera=self.camera,
            windowing=windows,
        ):
            middle = result.window.t_ref - self.store.t_first
            good = float(result.status.is_usable)
            kept = float(result.signal.mean()) if len(result) else 0.0
            rows.append([middle, good, kept, *result.theta])
            on_progress(min(middle / max(self.store.duration_us, 1), 1.0))
        table = np.array(rows, np.float32).reshape(len(rows), 3 + len(model.param_names))
        facts = {
            **_request_facts(request),
            **motion_facts(model, np.zeros(0)),
            "n_windows": len(rows),
        }
        return write_bundle(facts, {"rows": table.ravel()})


def _request_facts(request: Request) -> dict[str, Any]:
    """Return what of the request the page needs to know again."""
    return {
        "kind": request.kind,
        "start_us": request.start_us,
        "duration_us": request.duration_us,
        "method": request.method,
        "filter": request.filter,
    }


def _front_bundle(request: Request, front: ParetoFront) -> bytes:
    model = front.problem.data.warp.model
    columns = ("cost_ea", "cost_ed", "f_ea", "f_ed", "lam")
    facts = {
        **_request_facts(request),
        **motion_facts(model, np.zeros(0)),
        "status": front.status.value,
        "regret_index": front.regret_index,
        "thetas": [point.theta.tolist() for point in front.points],
        "n_signal": [int(point.signal.sum()) for point in front.points],
        "n_events": int(front.points[0].signal.size),
        **{name: front.column(name).tolist() for name in columns},
    }
    return write_bundle(facts, {})


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
    shown = _sensor_part(w_map, events.image_shape)
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
    height, width = events.image_shape
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
