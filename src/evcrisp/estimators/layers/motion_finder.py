"""Find the simplest motion that explains a window, window after window.

::

    one motion   the model of the window before, a translation at first: motion and labels
                 does it explain the events? then it is the answer
    layers       propose motions, let them compete for the cells of the window, refine
                 all on one field? then a similarity, affine motion or rotation, if it explains them
                 else labels with the motion of each event's own layer

After a window with layers, the next one starts from their motions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.both_labels import BothLabels
from evcrisp.estimators.auto.event_evidence import Evidence
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.layer import LayerMap, LayerMotion
from evcrisp.estimators.layers.common_models import Start, common_models, models_near
from evcrisp.estimators.layers.competition import LAYER_COST, lost_gains
from evcrisp.estimators.layers.find_layers import FoundLayers, find_layers, subsampling_step
from evcrisp.estimators.layers.fitting import least_parameters
from evcrisp.estimators.layers.identities import Identities
from evcrisp.estimators.layers.layer_contrasts import is_as_sharp, layer_contrasts
from evcrisp.estimators.layers.layer_evidence import layer_evidence, model_evidence
from evcrisp.estimators.layers.layer_window import CELL_PX, LayerWindow, first_cell
from evcrisp.estimators.layers.misfit import Misfit, misfit_of, misfit_of_labels
from evcrisp.estimators.reliability.misaligned import measured_misfit
from evcrisp.estimators.reliability.structure import MAX_RELABELED, relabeled_share
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.significance import (
    MIN_SIGNAL,
    NOT_SIGNIFICANT,
    TOO_LITTLE_SIGNAL,
    with_significance_warning,
)
from evcrisp.estimators.view_frame import ViewFrame
from evcrisp.motion import Affine, MotionModel, Rotation, Translation
from evcrisp.motion.open_motion import OpenMotion, affine_at
from evcrisp.motion.protocol import center_of
from evcrisp.search.window_data import WindowData

#: Whether an estimate is given up, by the labels of its first motion, (n,).
InVain = Callable[[Bools], bool] | None


class OneMotion(Protocol):
    """A method that estimates one motion."""

    def __call__(
        self,
        window: Window,
        model: MotionModel,
        start: Floats | None,
        /,
        *,
        is_in_vain: InVain = None,
    ) -> BothLabels:
        """Estimate a window; ``is_in_vain`` may end that early."""
        ...


#: Windows with fewer events have one motion.
_LEAST_EVENTS = 300

#: Least gain of a motion in a smooth field: lower, so that it follows the field more closely.
_FIELD_COST = 0.5 * LAYER_COST

#: A model with more parameters must lower the misfit by more.
_CLEARLY = 0.1

#: Share of the signal that a motion must align besides, if it was found without layers that suggest it.
_MUCH = 0.4

#: Models for which a simpler one may do, and events that suffice to tell.
_SIMPLER, _SHARP_EVENTS = ("rigid", "similarity", "affine", "homography"), 8_192

#: Models with at most this many parameters may leave as much misaligned as layers do: others follow
#: fields that they do not explain.
_FEW = 4

#: A simpler motion may leave this much more unexplained, of the signal or in events.
_AS_GOOD, _AS_GOOD_EVENTS = 0.005, 5

#: Events on a sensor of 346 x 260 px with which layers and one motion are compared.
_COMPARED_EVENTS = 18_000

#: Gain of a layer over one motion, in costs of a layer, that shows an object. In 33 windows with one motion
#: it was at most 2.1 (the middle of a zoom); in 15 windows with an object that one motion hid, at least 3.
_WORTH_A_LAYER = 2.5

#: Known layers are searched anew if they leave this much more unexplained than when they were found.
_NEW_UNEXPLAINED = 0.03


@dataclass(slots=True, eq=False)
class _LabelTest:
    """Test whether a translation leaves too much unexplained, by its labels alone.

    A refined motion has the same labels.
    """

    window: Window
    usual: Misfit  # what even several motions leave
    found: Misfit | None = None  # of the labels that were tested

    def __call__(self, signal: Bools) -> bool:
        """Return whether labels, (n,), leave too much; few events do not tell."""
        if np.count_nonzero(signal) < MIN_SIGNAL:
            return False
        self.found = misfit_of_labels(self.window.events, signal)
        return self.found.is_large(self.usual)


class MotionFinder:
    """Finds the motion of windows in order; layers keep their identity."""

    def __init__(self, one_motion: OneMotion, false_alarm: float) -> None:
        self._one_motion = one_motion
        self._false_alarm = false_alarm
        self._identities = Identities()
        self._model: MotionModel = Translation()
        self._theta: Floats | None = None
        self._layers: Floats | None = None  # (k, 8) of the window before, per s; see `fitting`
        self._left = Misfit(0.0, 0.0)  # of the motions when layers were searched last

    def run(self, window: Window, wanted: OpenMotion, start: Floats | None = None) -> Estimate:
        """Return the estimate of the next window; ``start`` is a velocity, (2,), px/s."""
        frame = ViewFrame.of(window.events)
        if frame is None:
            return self._identities.numbered(self._run(window, wanted, start, None))
        self._move(frame.left, frame.top)
        result = self._run(frame.window(window), frame.model(wanted), start, frame)
        self._move(-frame.left, -frame.top)
        model = frame.on_sensor(result.motion)
        if model.uses_rays and wanted.camera is not None:
            model = Rotation(wanted.camera)
        return self._identities.numbered(frame.back(result, window, model))

    def _move(self, left: int, top: int) -> None:
        """Make a region with its corner at ``(left, top)`` the sensor of what is remembered."""
        self._model = cast(Any, self._model).on_region(left, top)
        if self._layers is not None:
            self._layers = self._layers - np.array([0.0] * 6 + [left, top])

    def _run(
        self, window: Window, wanted: OpenMotion, start: Floats | None, frame: ViewFrame | None
    ) -> Estimate:
        if not has_several_times(window.events.t):
            return self._one(window, Translation(), start).final
        one, stands_out = None, True
        if wanted.name == "auto" and self._layers is None:
            theta = start if self._theta is None else self._theta
            test = _LabelTest(window, self._left)
            one = self._one(window, self._model, theta, test)
            if self._model.name != "translation" and one.final.status is not Status.CONVERGED:
                # The model of the window before does not hold any more.
                one = self._one(window, Translation(), start, test)
            one = self._simplest(window, one)
            if not one.final.status.has_evidence:
                return one.final
            # A motion under which hardly any event stands out: of another kind, or there is noise alone.
            stands_out = not one.final.warnings
            if stands_out and not one.is_given_up:
                of_labels = test.found if one.final.motion.name == "translation" else None
                fit = measured_misfit(one.by_motion, frame, of_labels)
                if not fit.is_large(self._left):
                    return replace(self._labeled(one.final, fit), fit=fit)
        # One layer explains a second object nearly as well as its own motion: search for that anew.
        known = self._layers if self._layers is not None and len(self._layers) > 2 else None
        prepared, found = self._search(window, wanted, known)
        layered = self._layered(window, prepared, found)
        if one is not None and not stands_out and layered.by_motion.warnings:
            return self._labeled(one.final)
        misfit = misfit_of(layered.by_motion)
        if wanted.name == "auto":
            signal = layered.by_motion.signal
            # Needed where a model may explain all layers.
            contrasts = cache(partial(layer_contrasts, prepared, found, signal))
            starts = common_models(prepared, found, signal, contrasts, wanted.camera)
            if one is not None and one.final.motion.name != "translation":
                starts.insert(0, Start(one.final.motion, None))  # its estimate is known

            def as_sharp(result: Estimate) -> bool:
                theta = result.theta * prepared.indexed.data.duration_s
                return is_as_sharp(prepared, contrasts(), result.motion, theta)

            single = None
            if one is not None and stands_out and not found.motions[:, :6].any():
                single = self._around(window, one.completed())
            if single is None:
                single = self._single(window, starts, found, one, misfit, as_sharp)
            if single is not None:
                single = self._simplest(window, single)
                fit = misfit_of(single.by_motion)
                self._left = replace(fit, unexplained=misfit.unexplained)
                return replace(self._labeled(single.final, fit), fit=fit)
        is_worse = misfit.unexplained > self._left.unexplained + _NEW_UNEXPLAINED
        if known is not None and (is_worse or relabeled_share(layered.final) > MAX_RELABELED):
            prepared, found = self._search(window, wanted, None)
            layered = self._layered(window, prepared, found)
            misfit, known = misfit_of(layered.by_motion), None
        if known is None:
            self._left = misfit
        self._remember(window, found)
        return replace(layered.final, fit=misfit)

    def _one(
        self,
        window: Window,
        model: MotionModel,
        start: Floats | None,
        is_in_vain: InVain = None,
    ) -> BothLabels:
        """Return the estimate with one motion, and remember it; ``is_in_vain`` is for translations."""
        if model.name == "translation" and is_in_vain is not None:
            result = self._one_motion(window, model, start, is_in_vain=is_in_vain)
        else:
            result = self._one_motion(window, model, start)
        if model.name != "translation" and result.final.status.has_evidence:
            result = self._with_neighbors(result.final)
        if result.final.status.is_usable:
            self._model, self._theta, self._layers = model, result.final.theta.copy(), None
        return result

    def _simplest(self, window: Window, both: BothLabels) -> BothLabels:
        """Return a motion with fewer parameters than a rigid one or a homography, if it is as sharp."""
        result = both.by_motion
        model, resolution = result.motion, window.events.resolution
        if model.name not in _SIMPLER or not result.status.is_usable:
            return both
        chosen = np.flatnonzero(result.signal)
        if chosen.size < MIN_SIGNAL:
            return both
        data, events = WindowData.of(window, model), window.events.contiguous()
        prepared = LayerWindow.of(data, events, np.ones(len(events), np.bool_))
        chosen, center = prepared.some(chosen, _SHARP_EVENTS), center_of(resolution)
        start = affine_at(model, result.theta, center)
        row = np.array([*start * data.duration_s, *center])
        n_free = least_parameters(prepared, chosen, row, min(result.theta.size, start.size))
        if n_free == result.theta.size:
            return both
        least, as_good = misfit_of(result), max(_AS_GOOD, _AS_GOOD_EVENTS / chosen.size)
        for model, theta in models_near(start, center):
            if not n_free <= len(model.param_names) < result.theta.size:
                continue
            other = self._one(window, model, theta)
            more = misfit_of(other.by_motion)
            # Only a homography follows a plane that lies at an angle.
            is_aligned = more.misaligned < least.misaligned + _CLEARLY
            if more.unexplained < least.unexplained + as_good and is_aligned:
                return other
        self._model, self._theta = result.motion, result.theta.copy()
        return both

    def _search(
        self, window: Window, wanted: OpenMotion, known: Floats | None
    ) -> tuple[LayerWindow, FoundLayers]:
        """Return the layers of a window; ``known`` are motions per second."""
        data, events = WindowData.of(window, Translation()), window.events.contiguous()
        supporting = ~hot_events(events)
        cost = _FIELD_COST if wanted.name == "flow" else LAYER_COST
        known = None if known is None else scaled(known, data.duration_s)
        return find_layers(data, events, supporting, known, cost=cost)

    def _single(
        self,
        window: Window,
        starts: list[Start],
        layers: FoundLayers,
        result: BothLabels | None,
        left: Misfit,
        as_sharp: Callable[[Estimate], bool],
    ) -> BothLabels | None:
        """Return an estimate with one motion if a model explains all layers.

        ``result`` is the estimate that did not explain the window; ``left`` is the misfit of the layers;
        ``as_sharp`` tells whether an estimate makes each layer as sharp as its own motion does.
        """
        best, least, n_layers = None, None, len(layers)
        for model, start in starts:
            if result is not None and model == result.final.motion:
                other = result = result.completed()
            else:
                duration_s = (window.t_end - window.t_start) / 1e6
                other = self._one(window, model, None if start is None else start / duration_s)
            misfit = misfit_of(other.by_motion)
            has_warning = bool(with_significance_warning(other.by_motion).warnings)
            if has_warning or other.final.status is not Status.CONVERGED:
                continue
            usual = left if len(model.param_names) <= _FEW else replace(left, misaligned=0.0)
            usual = replace(usual, spot=misfit.spot)  # an object in it is a layer, or nothing
            # Layers that slide along their edges gain support, and explain nothing more.
            is_enough = len(model.param_names) <= _FEW and as_sharp(other.final)
            if not misfit.is_large(usual) and (is_enough or replaces(window, layers, other.final)):
                best = other
                break
            # Nothing explains all; more parameters must explain clearly more.
            if n_layers == 1 and (least is None or misfit.total < least.total - _CLEARLY):
                best, least = other, misfit
        if best is None and n_layers == 1 and starts and result is not None:
            moves, result = bool(layers.motions[:, :6].any()), result.completed()
            is_as_good = misfit_of(result.by_motion).total < left.total + _CLEARLY
            best = result if is_as_good or not moves else None
        if best is not None and best.final.status.is_usable:
            self._model, self._layers = best.final.motion, None
            self._theta = best.final.theta.copy()
        return best

    def _around(self, window: Window, one: BothLabels) -> BothLabels | None:
        """Return a motion with more parameters than a given one that aligns much more, if there is one.

        What moves fast among much noise shows no layers.
        """
        result, center = one.by_motion, center_of(window.events.resolution)
        field = affine_at(result.motion, result.theta, center)
        before = misfit_of(result)
        if before.misaligned < _MUCH:
            return None
        for model, theta in models_near(field, center)[1:]:
            other = self._one(window, model, theta)
            fit = misfit_of(other.by_motion)
            is_usable = other.final.status is Status.CONVERGED and not other.by_motion.warnings
            if is_usable and not fit.is_large() and fit.misaligned < before.misaligned - _MUCH:
                return other
        return None

    def _labeled(self, result: Estimate, fit: Misfit | None = None) -> Estimate:
        """Return an estimate with one motion, labeled with neighbors if something is left unexplained.

        ``fit`` is its misfit; None if hardly any event stands out. Models other than a translation have
        such labels already. What is known of the motion still comes from the events that it aligns.
        """
        if result.motion.name != "translation" or (fit is not None and not fit.leaves_some):
            return result
        by_motion = result.signal if result.motion_signal is None else result.motion_signal
        return replace(self._with_neighbors(result).final, motion_signal=by_motion)

    def _with_neighbors(self, result: Estimate) -> BothLabels:
        """Label the events of an estimate with one motion as those of layers are labeled."""
        events = result.window.events.contiguous()
        data = WindowData.of(result.window, result.motion)
        prepared = LayerWindow.of(data, events, ~hot_events(events))
        evidence = model_evidence(prepared, data.warp, result.theta, self._false_alarm)
        score, confidence, signal = evidence.labels
        final = replace(result, score=score, confidence=confidence, signal=signal)
        return BothLabels.of(final, evidence)

    def _layered(self, window: Window, prepared: LayerWindow, found: FoundLayers) -> BothLabels:
        """Label the events, and return the estimate."""
        evidence = layer_evidence(prepared, found, self._false_alarm)
        final = layered_estimate(window, prepared, found, evidence)
        both = BothLabels.of(final, evidence)
        if both.by_motion is final:
            return both
        layer = _layer_of(prepared, found, both.by_motion.signal)
        return replace(both, by_motion=replace(both.by_motion, layer=layer))

    def _remember(self, window: Window, found: FoundLayers) -> None:
        """Keep the motions for the next window, and rest, which costs nothing."""
        duration_s = (window.t_end - window.t_start) / 1e6
        rest = np.array([[0.0] * 6 + list(center_of(window.events.resolution))])
        self._layers = np.concatenate((scaled(found.motions, 1.0 / duration_s), rest))
        self._model, self._theta = Translation(), None


def has_several_times(t: NDArray[np.int64]) -> bool:
    """Return whether a window has enough events for several motions, and not all at one time."""
    return len(t) >= _LEAST_EVENTS and bool(t[0] != t[-1])


def replaces(window: Window, layers: FoundLayers, result: Estimate) -> bool:
    """Return whether an estimate with one motion explains each of several layers as well."""
    if len(layers) < 2:
        return True
    data, events = WindowData.of(window, result.motion), window.events.contiguous()
    step = subsampling_step(len(events), events.resolution, _COMPARED_EVENTS)
    prepared = LayerWindow.of(data, events, ~hot_events(events), step)
    x, y = prepared.indexed.data.warp.warp(result.theta)
    return bool((lost_gains(prepared, layers.motions, layers.label, x, y) < _WORTH_A_LAYER).all())


def layered_estimate(
    window: Window, prepared: LayerWindow, found: FoundLayers, evidence: Evidence
) -> Estimate:
    """Return the estimate of a window with layers."""
    score, confidence, signal = evidence.labels
    duration_s = prepared.indexed.data.duration_s
    motions = tuple(
        LayerMotion(motion=Affine((row[6], row[7])), theta=np.array(row[:6]) / duration_s)
        for row in found.motions.tolist()
    )
    x, y = _aligned(prepared, found)
    return Estimate(
        theta=motions[0].theta, signal=signal, score=score, confidence=confidence,
        aligned_x=x, aligned_y=y, status=Status.CONVERGED, motion=motions[0].motion,
        window=window, config=None, layer=_layer_of(prepared, found, signal),
        layer_motions=motions, layer_map=LayerMap(found.label, CELL_PX, *first_cell(prepared.resolution)),
        warnings=_warnings(found, evidence.by_motion.signal),
    )  # fmt: skip


def _layer_of(prepared: LayerWindow, found: FoundLayers, signal: Bools) -> NDArray[np.int16]:
    """Return the layer of each event; -1 for noise."""
    return np.where(signal, found.label.reshape(-1).take(prepared.cell), np.int16(-1))


def _warnings(found: FoundLayers, signal: Bools) -> tuple[str, ...]:
    """Warn of layers among hardly any signal, and of layers that are all at rest."""
    if np.count_nonzero(signal) < MIN_SIGNAL:
        return (TOO_LITTLE_SIGNAL,)
    return () if found.motions[:, :6].any() else (NOT_SIGNIFICANT,)


def scaled(motions: Floats, factor: float) -> Floats:
    """Return motions with another unit of time."""
    return motions * np.array([factor] * 6 + [1.0] * 2)


def _aligned(window: LayerWindow, found: FoundLayers) -> tuple[Floats, Floats]:
    """Return the positions of all events at the reference time, px."""
    from evcrisp.kernels.layers.placement import place_by_layer

    warp = window.indexed.data.warp
    layer, tau = found.label.reshape(-1)[window.cell], warp.dt / window.indexed.data.duration_s
    x, y, *moved = np.empty((4, len(window)))
    place_by_layer(warp.x, warp.y, tau, layer, found.motions, x, y, *moved)
    return x, y


def with_hot_events(result: Estimate, window: Window, hot: Bools) -> Estimate:
    """Add events of hot pixels, which are noise, to a layered estimate of the others."""
    not_hot, n = ~hot, hot.size
    score = np.full(n, min(float(result.score.min(initial=0.0)), 0.0))
    confidence, signal = np.zeros(n), np.zeros(n, np.bool_)
    layer = np.full(n, -1, np.int16)
    score[not_hot], confidence[not_hot] = result.score, result.confidence
    signal[not_hot], layer[not_hot] = result.signal, result.layer
    x, y = result.align(window.events, window.t_ref)
    by_motion = result.motion_signal
    if by_motion is not None:
        by_motion = np.zeros(n, np.bool_)
        by_motion[not_hot] = result.motion_signal
    return replace(
        result, window=window, motion_signal=by_motion, score=score, confidence=confidence, signal=signal, layer=layer,
        aligned_x=x, aligned_y=y,
    )  # fmt: skip
