"""Compute the requests of the page; results are bundles of 5 bytes per event and per-pixel maps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.joint.pareto import ParetoFront
from evcrisp.estimators.layer import Layer
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate
from evcrisp.filters import denoise
from evcrisp.motion import MotionModel
from evcrisp.pipeline.camera_motion.recorded_camera import needs_camera
from evcrisp.pipeline.tracking import Tracker, track
from evcrisp.pipeline.windowing import Windowing
from evcrisp.search.window_data import WindowData
from evcrisp.viewer.bundle_format import write_bundle
from evcrisp.viewer.contrast_facts import (
    ContrastFacts,
    Positions,
    map_of_method,
    mean_confidence,
    quantized,
)
from evcrisp.viewer.event_store import EventStore, display_step
from evcrisp.viewer.layer_facts import flow_cells, layer_flags, layers_as_json
from evcrisp.viewer.own_front import OwnFront
from evcrisp.viewer.requests import Request

#: Called with the share of a computation that is done, 0 to 1.
Progress = Callable[[float], None]

#: Filters process this time before the window, us, so that their state does not start empty.
LEAD_US = 200_000

#: Windows to estimate before the requested one, for warm starts and filters; and windows before these
#: whose hot pixels are counted, which takes little time: 5 time constants of 1 s, in windows of 25 ms.
LEAD_WINDOWS, HOT_PIXEL_WINDOWS = 6, 200


@dataclass(slots=True)
class _Tracking:
    """A tracker, its settings, and the start of the window that would follow, us."""

    key: tuple[Any, ...]
    tracker: Tracker
    next_us: int = 0


@dataclass(slots=True)
class Computer:
    """Computes requests for one recording; keeps the last Pareto front and the last tracker."""

    store: EventStore
    camera: Camera | None = None
    _front_key: tuple[Any, ...] = ()
    _front: OwnFront | None = None
    _last_key: tuple[Any, ...] = ()
    _last: Estimate | None = None  # of the last window
    _tracking: _Tracking | None = None

    def compute(self, request: Request, on_progress: Progress) -> bytes:
        """Return the bundle of a request."""
        if request.kind == "track":
            return self._track(request, on_progress)
        if request.kind == "filter":
            return self._filter(request)
        window = self.store.window(request.start_us, request.duration_us)
        if request.kind == "estimate":
            return self._estimate(request, window)
        front = self._front_of(request, window)
        if request.kind == "front":
            return _front_bundle(request, front)
        return _point_bundle(request, window, front.front)

    def _model(self, request: Request) -> MotionModel:
        estimator = _estimator(request) if request.method else None
        camera = self.camera
        if camera is None and needs_camera(request.motion):
            camera = self.store.camera
        return model_for(request.motion, self.store.resolution, camera, estimator)

    def _lens(self, request: Request) -> str:
        """Return which calibration a rotation has; "" for motions that need none."""
        if not needs_camera(request.motion):
            return ""
        given, recorded = self.camera is not None, self.store.camera is not None
        return "given" if given else "calib.txt" if recorded else "ideal"

    def _estimate(self, request: Request, window: Window) -> bytes:
        result = self._tracked(request, window)
        facts = {
            **_facts(request, result.motion, result.theta),
            "row": self._row(request, result),
            "lens": self._lens(request),
            **_status_facts(result.status, list(result.warnings)),
            "center": result.moved_center,
            "std": [None if np.isnan(value) else float(value) for value in result.std],
            "is_reliable": result.reliable,
            "doubts": [doubt.code for doubt in result.doubts],
        }
        cell_px, velocity = flow_cells(result)
        facts["flow_cell_px"] = cell_px
        aligned = result.aligned_x, result.aligned_y
        labels = _Labels(result.signal, result.layer, result.layers)
        maps = _Maps(map_of_method(result.config), result.confidence, result.w_map)
        more = {"flow": velocity.ravel()}
        return _result_bundle(window.events, labels, aligned, maps, facts, more)

    def _row(self, request: Request, result: Estimate) -> dict[str, Any]:
        """Return the motion in the parameters of the requested model, which all windows share."""
        model = self._model(request)
        names, units = list(model.param_names), list(model.param_units)
        return {"names": names, "units": units, "theta": _plain(_listed_motion(result, model))}

    def _tracked(self, request: Request, window: Window) -> Estimate:
        """Estimate a window as `track` does, after the last one or up to LEAD_WINDOWS earlier ones."""
        start_us = request.start_us
        kind = 0 if request.windows == "auto" else request.duration_us
        key = (request.method, request.method_options, request.motion, kind)
        window_key = (*key, start_us, request.duration_us)
        if self._last is not None and self._last_key == window_key:
            return self._last
        earlier, full_us, next_us = self._around(request)
        last = self._tracking
        if last is None or last.key != key or last.next_us != start_us:
            estimator = _estimator(request)
            last = _Tracking(key, Tracker(estimator, self._model(request), self.store.resolution))
            for k, bounds in zip(range(len(earlier), 0, -1), earlier, strict=True):
                if k > LEAD_WINDOWS:
                    last.tracker.observe(self.store.window(*bounds))
                else:
                    last.tracker.estimate(self.store.window(*bounds), kind)
        result = last.tracker.estimate(window, full_us)
        last.next_us = next_us
        self._tracking, self._last, self._last_key = last, result, window_key
        return result

    def _around(self, request: Request) -> tuple[list[tuple[int, int]], int, int]:
        """Return start and duration of earlier windows, the full length of this one, and the next start.

        Times in us since the first event.
        """
        start_us, duration_us = request.start_us, request.duration_us
        if request.windows == "fixed":
            n = min(HOT_PIXEL_WINDOWS, start_us // duration_us)
            starts = range(start_us - n * duration_us, start_us, duration_us)
            return [(s, duration_us) for s in starts], duration_us, start_us + duration_us
        windows = self.store.windows()
        k = int(np.searchsorted(windows[:, 0], start_us))
        earlier = [(int(s), int(d)) for s, d in windows[max(k - HOT_PIXEL_WINDOWS, 0) : k]]
        if k + 1 < len(windows):
            return earlier, 0, int(windows[k + 1, 0])
        # The recording ends with this window: it may be short.
        return earlier, earlier[-1][1] if earlier else 0, -1

    def _filter(self, request: Request) -> bytes:
        window = self.store.window(request.start_us - LEAD_US, request.duration_us + LEAD_US)
        signal = denoise(window.events, request.filter, **request.filter_options).signal
        n_lead = int(np.searchsorted(window.events.t, window.t_start + LEAD_US))
        events, signal = window.events[n_lead:], signal[n_lead:]
        step = display_step(len(events))
        facts = {**_facts(request), **_label_facts(events, signal), "step": step}
        return write_bundle(facts, {"flags": signal[::step].astype(np.uint8)})

    def _front_of(self, request: Request, window: Window) -> OwnFront:
        names = (
            "start_us",
            "duration_us",
            "method",
            "method_options",
            "motion",
            "n_points",
            "windows",
        )
        key = tuple(getattr(request, name) for name in names)
        if self._front is None or self._front_key != key:
            result = self._tracked(request, window)
            # Several motions have no front of their own; that of one motion is shown.
            model = self._model(request) if len(result.layer_motions) > 1 else result.motion
            self._front = OwnFront.of(result, model, request.n_points)
            self._front_key = key
        return self._front

    def _track(self, request: Request, on_progress: Progress) -> bytes:
        is_auto = request.windows == "auto"
        windowing = Windowing() if is_auto else Windowing(window_us=request.duration_us)
        model = self._model(request)
        rows: list[list[float]] = []
        method = _estimator(request)
        for result in track(self.store.chunks(), method, model, windowing=windowing):
            middle = result.window.t_ref - self.store.t_first
            certainty = [float(result.status.is_usable), float(result.reliable)]
            length = result.window.t_end - result.window.t_start
            rows.append([middle, length, *certainty, *_listed_motion(result, model)])
            on_progress(min(middle / max(self.store.duration_us, 1), 1.0))
        table = np.array(rows, np.float32).reshape(len(rows), 4 + len(model.param_names))
        facts = {**_facts(request, model), "n_windows": len(rows)}
        return write_bundle(facts, {"rows": table.ravel()})


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels of a window: signal, and the layer of each event."""

    signal: Bools
    layer: NDArray[np.int16]  # position in `layers`; -1 for noise
    layers: Sequence[Layer]


@dataclass(frozen=True, slots=True)
class _Maps:
    """Contrast map of the method, confidence of each event, and the map W or None."""

    contrast: ContrastMap
    confidence: Floats
    w_map: Floats | None


def _listed_motion(result: Estimate, model: MotionModel) -> Floats:
    """Return the motion in the parameters of a model; of layers, that of the first line of their list."""
    theta = result.parameters(model)
    if len(result.layer_motions) < 2:
        return theta
    return np.concatenate((result.layers[0].velocity, theta[2:]))


def _estimator(request: Request) -> Estimator:
    return build(ESTIMATORS, request.method, "method", **request.method_options)


def _facts(
    request: Request, model: MotionModel | None = None, theta: Iterable[float] = ()
) -> dict[str, Any]:
    """Return the fields of a request that the page needs, and the motion, as JSON types."""
    facts = asdict(request)
    if model is not None:
        facts["model"] = model.name
        facts["names"], facts["units"] = list(model.param_names), list(model.param_units)
        facts["theta"] = _plain(theta)
    return facts


def _plain(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values]


def _status_facts(status: Status, warnings: list[str]) -> dict[str, Any]:
    return {"status": status.value, "is_good": status.is_usable, "warnings": warnings}


def _front_bundle(request: Request, own: OwnFront) -> bytes:
    columns = ("cost_ea", "cost_ed", "f_ea", "f_ed", "lam")
    front = own.front
    facts = {
        **own.facts(),
        **_facts(request, front.problem.data.warp.model),
        "status": front.status.value,
        "regret_index": front.regret_index,
        "thetas": [point.theta.tolist() for point in front.points],
        "n_signal": [int(point.signal.sum()) for point in front.points],
        "n_events": int(front.points[0].signal.size),
        **{name: front.column(name).tolist() for name in columns},
    }
    return write_bundle(facts, {})


def _point_bundle(request: Request, window: Window, front: ParetoFront) -> bytes:
    index = min(request.index, len(front) - 1)
    point, model = front.points[index], front.problem.data.warp.model
    aligned = WindowData.of(window, model).warp.warp(point.theta)
    w_map = front.w_map(index)
    confidence = np.clip(front.problem.contrast.sample(w_map, *aligned), 0.0, 1.0)
    facts = {
        **_facts(request, model, point.theta),
        "index": index,
        **_status_facts(front.status, []),
    }
    only = Layer(motion=model, theta=point.theta, index=0, events=window.events[point.signal])
    labels = _Labels(point.signal, point.signal.astype(np.int16) - np.int16(1), [only])
    maps = _Maps(front.problem.contrast, confidence, w_map)
    return _result_bundle(window.events, labels, aligned, maps, facts)


def _label_facts(events: Events, signal: Bools) -> dict[str, Any]:
    """Return the number of kept events; with true labels, sensitivity and specificity."""
    facts: dict[str, Any] = {"n_events": len(events), "n_signal": int(signal.sum())}
    truth = events.signal
    if truth is not None and truth.any():
        facts["sensitivity"] = float(signal[truth].mean())
    if truth is not None and not truth.all():
        facts["specificity"] = float((~signal[~truth]).mean())
    return facts


def _result_bundle(
    events: Events,
    labels: _Labels,
    aligned: Positions,
    maps: _Maps,
    facts: dict[str, Any],
    more: Mapping[str, NDArray[Any]] | None = None,
) -> bytes:
    """Return the bundle of a window: shifts by alignment, labels, layers and maps."""
    step = display_step(len(events))
    signal, layers = labels.signal, layers_as_json(labels.layers)
    width, height = events.resolution
    contrast = ContrastFacts.of(events, signal, aligned, maps.contrast)
    shown = _sensor_part(maps.w_map, events.image_shape)
    facts = {
        **facts,
        **_label_facts(events, signal),
        **contrast.facts,
        "layers": layers,
        "step": step,
        "width": width,
        "height": height,
        "w_from": "events" if shown is None else "map",
    }
    if shown is None:
        shown = mean_confidence(aligned, maps.confidence, events.resolution)
    arrays = {
        "shift_x": _quantized_shift((aligned[0] - events.x)[::step], width),
        "shift_y": _quantized_shift((aligned[1] - events.y)[::step], height),
        "flags": layer_flags(labels.layer[::step], [layer["slot"] for layer in layers]),
        **contrast.images,
        "w": quantized(shown).ravel(),
        **(more or {}),
    }
    return write_bundle(facts, arrays)


def _quantized_shift(values: Floats, side: int) -> NDArray[np.uint16]:
    """Return shifts, which compress better than positions, from -side to side as uint16."""
    share = (np.nan_to_num(values, nan=-side) + side) / (2.0 * side)
    return np.rint(65_535.0 * np.clip(share, 0.0, 1.0)).astype(np.uint16)


def _sensor_part(w_map: Floats | None, shape: tuple[int, int]) -> Floats | None:
    """Return the map without its padding; None if its scale differs from the sensor."""
    if w_map is None:
        return None
    border_y, border_x = (w_map.shape[k] - shape[k] for k in (0, 1))
    if border_y != border_x or border_y < 0 or border_y % 2:
        return None
    border = border_y // 2
    return w_map[border : border + shape[0], border : border + shape[1]]
