"""Find the simplest motion that explains a window, window after window.

::

    one motion   the model of the window before, a translation at first: motion and labels
                 does it explain the events? then it is the answer
    layers       propose motions, let them compete for the cells of the window, refine
                 one layer left: similarity, affine motion or rotation, as one motion
                 several: labels with the motion of each event's own layer
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window, seconds_since
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.layer import LayerMap, LayerMotion
from evcrisp.estimators.layers.competition import LAYER_COST
from evcrisp.estimators.layers.find_layers import FoundLayers, find_layers
from evcrisp.estimators.layers.identities import Identities
from evcrisp.estimators.layers.layer_evidence import layer_evidence
from evcrisp.estimators.layers.layer_window import CELL_PX, LayerWindow
from evcrisp.estimators.layers.misfit import misfit_of
from evcrisp.estimators.result import Estimate
from evcrisp.motion import Affine, MotionModel, Rotation, Similarity, Translation
from evcrisp.motion.open_motion import OpenMotion, affine_at
from evcrisp.motion.protocol import center_of
from evcrisp.search.scaling import sensor_points
from evcrisp.search.window_data import WindowData

#: A method that estimates one motion: window, model, start.
OneMotion = Callable[[Window, MotionModel, Floats | None], Estimate]

#: Windows with fewer events have one motion.
_LEAST_EVENTS = 300

#: A part of a motion that moves the image by less (root mean square) is not needed, px.
_NEGLIGIBLE_PX = 0.5

#: Least gain of a motion in a smooth field: lower, so that it follows the field more closely.
_FIELD_COST = 50.0

#: Competitions in a window whose layers are known from the window before.
_WARM_ROUNDS = 3


class MotionFinder:
    """Finds the motion of windows in order; layers keep their identity."""

    def __init__(self, one_motion: OneMotion, false_alarm: float) -> None:
        self._one_motion = one_motion
        self._false_alarm = false_alarm
        self._model: MotionModel | None = None
        self._theta: Floats | None = None
        self._layers: Floats | None = None  # (k, 8), px per s; see `fitting`
        self._identities = Identities()

    def run(self, window: Window, wanted: OpenMotion, start: Floats | None = None) -> Estimate:
        """Return the estimate of the next window; ``start`` is a velocity, (2,), px/s."""
        is_forced = wanted.name != "auto"
        if len(window.events) < _LEAST_EVENTS:
            return self._one(window, Translation(), start)
        if self._layers is not None:
            result = self._layered(window, wanted, self._layers)
            if result is not None:
                return result
        if is_forced:
            return self._layered(window, wanted, None) or self._one(window, Translation(), start)
        model = Translation() if self._model is None else self._model
        result = self._one(window, model, start if self._model is None else self._theta)
        if not misfit_of(result).is_large:
            return result
        return self._layered(window, wanted, None) or self._simplest(window, wanted, result)

    def _one(self, window: Window, model: MotionModel, start: Floats | None) -> Estimate:
        """Return the estimate with one motion, and remember it."""
        result = self._one_motion(window, model, start)
        if result.status.is_usable:
            self._model, self._theta, self._layers = model, result.theta.copy(), None
        return result

    def _simplest(self, window: Window, wanted: OpenMotion, result: Estimate) -> Estimate:
        """Return the estimate of the simplest model that explains a window of one layer."""
        resolution, field = window.events.resolution, self._single
        if field is None or result.status is not Status.CONVERGED:
            return result
        duration_s = (window.t_end - window.t_start) / 1e6
        models: list[MotionModel] = []
        if wanted.camera is not None:
            models.append(Rotation(wanted.camera))
        kind = _kind_of(field * duration_s, resolution)
        if kind is Translation and result.motion == Translation():
            return result
        if kind is not Translation:
            models.append(kind.for_sensor(resolution))
        best, least = result, misfit_of(result)
        for model in models:
            other = self._one(window, model, _start_of(model, field))
            misfit = misfit_of(other)
            if not misfit.is_large:
                return other
            if misfit.unexplained + misfit.misaligned < least.unexplained + least.misaligned:
                best, least = other, misfit
        if best.status.is_usable:
            self._model, self._theta = best.motion, best.theta.copy()
        return best

    _single: Floats | None = None  # velocity and matrix of the only layer at the sensor's middle

    def _layered(self, window: Window, wanted: OpenMotion, known: Floats | None) -> Estimate | None:
        """Return the estimate with several layers; None if there is one, see `_single`."""
        data = WindowData.of(window, Translation())
        events = window.events.contiguous()
        duration_s = data.duration_s
        supporting = ~hot_events(events)
        prepared = LayerWindow.of(data, events, supporting)
        cost = _FIELD_COST if wanted.name == "flow" else LAYER_COST
        if known is None:
            found = find_layers(prepared, cost=cost)
        else:
            motions = known.copy()
            motions[:, :6] *= duration_s
            found = find_layers(prepared, motions, cost=cost, n_rounds=_WARM_ROUNDS)
        middle = center_of(events.resolution)
        if len(found) == 1 and (known is not None or wanted.name == "auto"):
            only = Affine(tuple(found.motions[0, 6:].tolist()))
            self._single = affine_at(only, found.motions[0, :6] / duration_s, middle)
            self._layers = None
            return None
        result = self._estimate(window, prepared, found)
        self._model = self._theta = None
        layers = found.motions.copy()
        layers[:, :6] /= duration_s
        rest = np.array([[0.0] * 6 + list(middle)])
        self._layers = np.concatenate((layers, rest))
        return result

    def _estimate(self, window: Window, prepared: LayerWindow, found: FoundLayers) -> Estimate:
        """Label the events, and return the estimate."""
        evidence = layer_evidence(prepared, found, self._false_alarm)
        layer_map = LayerMap(found.label, CELL_PX)
        layer = np.where(evidence.signal, found.label.reshape(-1)[prepared.cell], np.int16(-1))
        duration_s = prepared.indexed.data.duration_s
        motions = tuple(
            LayerMotion(motion=Affine((row[6], row[7])), theta=np.array(row[:6]) / duration_s)
            for row in found.motions.tolist()
        )
        motions = self._identities.assign(motions, window, layer)
        x, y = aligned_by_layer(window, motions, layer_map)
        return Estimate(
            theta=motions[0].theta, signal=evidence.signal, score=evidence.score,
            confidence=evidence.confidence, aligned_x=x, aligned_y=y, status=Status.CONVERGED,
            motion=motions[0].motion, window=window, config=None, layer=layer.astype(np.int16),
            layer_motions=motions, layer_map=layer_map,
        )  # fmt: skip


def aligned_by_layer(
    window: Window, motions: tuple[LayerMotion, ...], layer_map: LayerMap
) -> tuple[Floats, Floats]:
    """Return the positions of events at the reference time, each moved by the layer of its cell."""
    events = window.events
    dt = seconds_since(events.t, window.t_ref)
    length = max(window.t_end - window.t_start, 1)
    layer = layer_map.at(events.x, events.y, (events.t - window.t_start) / length)
    x, y = events.x.astype(np.float64), events.y.astype(np.float64)
    for k, part in enumerate(motions):
        here = layer == k
        x[here], y[here] = part.motion.warp(part.theta, x[here], y[here], dt[here])
    return x, y


def with_hot_events(result: Estimate, window: Window, hot: Bools) -> Estimate:
    """Add events of hot pixels, which are noise, to a layered estimate of the others."""
    not_hot, n = ~hot, hot.size
    score = np.full(n, min(float(result.score.min(initial=0.0)), 0.0))
    confidence, signal = np.zeros(n), np.zeros(n, np.bool_)
    layer = np.full(n, -1, np.int16)
    score[not_hot], confidence[not_hot] = result.score, result.confidence
    signal[not_hot], layer[not_hot] = result.signal, result.layer
    layer_map = result.layer_map
    assert layer_map is not None
    x, y = aligned_by_layer(window, result.layer_motions, layer_map)
    return replace(
        result, window=window, score=score, confidence=confidence, signal=signal, layer=layer,
        aligned_x=x, aligned_y=y,
    )  # fmt: skip


def _kind_of(field: Floats, resolution: tuple[int, int]) -> type[Translation | Similarity | Affine]:
    """Return the simplest model of an affine field; displacements in px per window."""
    x, y = (side - side.mean() for side in sensor_points(resolution))
    spread = float(np.sqrt((x**2 + y**2).mean()))
    xx, xy, yx, yy = field[2:]
    turn_and_growth = 0.5 * float(np.hypot(yx - xy, xx + yy)) * spread
    stretch = 0.5 * float(np.hypot(xx - yy, xy + yx)) * spread
    if stretch > _NEGLIGIBLE_PX:
        return Affine
    return Similarity if turn_and_growth > _NEGLIGIBLE_PX else Translation


def _start_of(model: MotionModel, field: Floats) -> Floats | None:
    """Return parameters of a model that fit an affine field at the middle of the sensor."""
    vx, vy, xx, xy, yx, yy = field.tolist()
    if model.name == "similarity":
        return np.array([vx, vy, 0.5 * (yx - xy), 0.5 * (xx + yy)])
    return field if model.name == "affine" else None
