"""Covariance of the motions of a window, and reasons to doubt them."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.doubt import Doubt
from evcrisp.core.events import Events
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import seconds_since
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.layer import LayerMotion
from evcrisp.estimators.layers.misfit import OFF_PX, misaligned_share, misfit_of
from evcrisp.estimators.reliability.covariance import (
    SLOPE_FACTOR,
    MotionCovariance,
    View,
    covariance_of,
)
from evcrisp.estimators.reliability.misaligned import misaligned_parts, misfit_if_large
from evcrisp.estimators.reliability.motion_terms import MotionTerms, terms_of
from evcrisp.estimators.reliability.normal_motion import (
    NORMAL_METHODS,
    with_normal_layer,
    with_normal_motion,
)
from evcrisp.estimators.reliability.point_at_rest import about_point_at_rest
from evcrisp.estimators.reliability.structure import (
    MAX_RELABELED,
    relabeled_share,
    unexplained_share,
)
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.significance import MIN_SIGNAL, is_met_by_chance
from evcrisp.motion import Translation
from evcrisp.motion.open_motion import is_open
from evcrisp.motion.protocol import MotionModel
from evcrisp.search.window_data import WindowData

#: Curvature over the root of the pairs that meet, of a motion that is no chance. In some 20 windows
#: of noise it was at most 0.41; in 350 windows of moving scenes, at least 1.5.
MIN_STRENGTH = 0.7

#: Standard deviations from rest of a motion: those of 95 % for two parameters.
_MIN_REST_SIGMAS = 2.45

#: Standard deviation along the least known direction above which only a part of the motion is known,
#: px per window, relative to that of the best known one, and relative to the displacement.
_APERTURE_PX, _APERTURE_RATIO, _APERTURE_SHARE = 1.0, 4.0, 0.2

#: Standard deviation of a motion over its events (rms of all parameters) above which it is not known well,
#: px per window, and relative to the displacement. With more, a tenth of the events and more were off by
#: above 3 px in every second layer of 240 random scenes.
_UNSURE_PX, _UNSURE_SHARE = 1.0, 0.1

#: The same for one motion of all events with so many parameters or fewer, whose interval holds.
_FEW_PX, _FEW = 2.0, 4

#: Displacement in bounds of a cold search beyond which a motion is not found, but met by chance.
_MAX_BOUNDS = 1.25

#: Least share of the contrast that lasts over the window, with one motion and in a layer. Of 90
#: constant motions the least is 0.70; 12 that swing within the window have 0.48 or less.
_LEAST_LASTING, _LEAST_LASTING_LAYER = 0.65, 0.5

#: Largest change of a motion that counts as constant, px. In 120 windows of constant motions it was at
#: most 0.45; things that swing by 1.5 px or more within a window have 0.7 or more. And relative to the
#: displacement.
_MAX_BEND_PX, _MAX_BEND = 0.6, 0.1

#: Share of structured events without explanation that is too much.
_MAX_MISFIT = 0.3

#: Unexplained share of the signal, and misaligned share, above which a given motion is not all; and
#: those above which the motions that were found explain a window poorly.
_ONE_MOTION, _ALL_MOTIONS = (0.06, 0.4), (0.3, 0.5)

#: Share of structured events without explanation below which what is left is noise: its density differs
#: over a sensor, but it has no structure.
_LEAST_STRUCTURE = 0.05

#: A layer with this share of its events in parts that another displacement would sharpen, by this distance
#: or more, px per window, holds several motions, or a wrong one.
_LAYER_MISALIGNED, _LAYER_OFF_PX = 0.2, 2.0

#: Share of the signal in parts that a displacement by this distance or more, px per window, and by this share
#: of the motion, would sharpen: above it, one motion that was found is wrong somewhere. In 59 random scenes
#: it was above 0.2 in six of nine where a tenth of the events was off by 3 px, and in one of the others.
_ONE_MISALIGNED, _ONE_OFF_PX, _ONE_OFF_SHARE = 0.2, 0.6, 0.1

#: Parts of a view are less certain than the whole: they may be off by this many of its standard deviations.
_PART_SIGMAS = 2.0

#: Standard deviation of a motion by which parts of the view can be compared, px per window.
_SHARP_PX = 0.25

#: Parts may be off by this share of the displacement. Events that suffice for its mean.
_OFF_SHARE, _SPEED_EVENTS = 0.2, 1_000

#: Displacements of events that do not align are chance up to this, px: hardly more than a pixel.
_STILL_PX = 2.5

#: Standard deviation of the fit of a layer besides that of its events, px per window: steps below 0.1 px
#: end a fit, and its events are those that an earlier motion aligned.
_LAYER_PX = 0.1

#: Doubts that hold for this share of the moving signal hold for the estimate.
_DOUBTFUL_SHARE = 0.5

#: False alarms of the labels by which methods without comparable labels are judged.
_FALSE_ALARM = 0.1


def assess(
    result: Estimate, wanted: MotionModel | None = None, prior: Estimate | None = None
) -> Estimate:
    """Return an estimate with its covariance, its misfit and its doubts.

    ``wanted`` is the motion that was asked for; ``prior`` the estimate of the window before. Along
    edges of one direction, the motion is that of ``prior`` or zero, for the methods that search for
    the sharpest map.
    """
    if not result.status.has_evidence or len(result) < MIN_SIGNAL:
        return with_doubts(result, Doubt.CHANCE)
    if result.layer_map is not None:
        return _assessed_layers(result)
    judged = _with_comparable_labels(result)
    terms, misfit = _known_terms(judged), _misfit(judged)
    if terms is None:
        is_noise = misfit <= _MAX_MISFIT
        doubt = Doubt.CHANCE if is_noise else Doubt.POORLY_EXPLAINED
        return with_doubts(replace(result, misfit=misfit), doubt)
    found = _covariance(judged, terms, judged.motion, judged.theta)
    given = result
    if not found.is_known.all() and getattr(result.config, "name", "") in NORMAL_METHODS:
        result = with_normal_motion(result, found, prior)
    if wanted is not None and is_open(wanted):
        result = about_point_at_rest(result)
    if result is not given:
        judged = replace(
            judged, motion=result.motion, theta=result.theta, aligned_x=result.aligned_x,
            aligned_y=result.aligned_y, fit=None,
        )  # fmt: skip
        terms = terms_of(judged, judged.signal) or terms
        found = _covariance(judged, terms, judged.motion, judged.theta)
    own = found
    if getattr(result.config, "name", "") != "auto":
        own = covariance_in(result, result.signal & ~hot_events(result.window.events))
    covariance = (own or found).covariance if result.covariance is None else result.covariance
    most_px = _FEW_PX if len(result.motion.param_names) <= _FEW else _APERTURE_PX
    doubts = doubts_of(found, result.window.events.resolution, _LEAST_LASTING, most_px)
    if Doubt.CHANCE in doubts:
        doubts = [_without_motion(judged, found, misfit)]
    elif is_met_by_chance(judged):
        doubts.append(Doubt.CHANCE)
    elif not {Doubt.ACCELERATION, Doubt.AT_REST} & set(doubts):
        is_given = wanted is None or not is_open(wanted)
        limits = _ONE_MOTION if is_given else _ALL_MOTIONS
        if misfit > _MAX_MISFIT or _is_partial(judged, found, limits, misfit, terms):
            doubts.append(Doubt.SEVERAL_MOTIONS if is_given else Doubt.POORLY_EXPLAINED)
    if result.status in (Status.COLLAPSED, Status.OUTSIDE):
        doubts.append(Doubt.AT_BOUND)
    return with_doubts(result, *doubts, covariance=covariance, misfit=misfit)


def _known_terms(result: Estimate) -> MotionTerms | None:
    """Return what the signal says about its motion: from the search if it has measured that."""
    known = getattr(result.fit, "terms", None)
    return terms_of(result, result.signal) if known is None else known


def with_doubts(result: Estimate, *doubts: Doubt, **changes: Any) -> Estimate:
    """Return an estimate with more doubts, without repetition, and with other changes."""
    doubts = tuple(dict.fromkeys((*result.doubts, *doubts)))
    if doubts == result.doubts and not changes:
        return result
    return replace(result, doubts=doubts, **changes)


def covariance_in(result: Estimate, chosen: Bools) -> MotionCovariance | None:
    """Return the covariance of the motion of chosen events; None if they are too few."""
    terms = terms_of(result, chosen)
    if terms is None:
        return None
    return _covariance(result, terms, result.motion, result.theta)


def _covariance(
    result: Estimate,
    terms: MotionTerms,
    motion: MotionModel,
    theta: Floats,
    all_terms: Callable[[], MotionTerms] | None = None,
    view: View | None = None,
) -> MotionCovariance:
    """Return the covariance of a motion; ``all_terms`` are those of its layer, by default of one motion.

    ``view`` is that of the window, if it is known.
    """
    window = result.window
    length_s = max(window.t_end - window.t_start, 1) / 1e6
    if all_terms is None:  # needed once at most
        all_terms = partial(_terms_of_all, result, terms)
    view = _view(window.events) if view is None else view
    return covariance_of(terms, motion, theta, length_s, view, all_terms)


def _terms_of_all(result: Estimate, terms: MotionTerms) -> MotionTerms:
    """Return the terms of all events not at hot pixels; those that are given if they are too few."""
    return terms_of(result, ~hot_events(result.window.events)) or terms


def _all_terms(
    result: Estimate, terms: MotionTerms, chosen: Callable[[], Bools]
) -> Callable[[], MotionTerms]:
    """Return a function that returns the terms of all events of a motion, computed once."""

    @cache
    def all_terms() -> MotionTerms:
        return terms_of(result, chosen()) or terms

    return all_terms


def _layers_held(result: Estimate) -> Callable[[], NDArray[np.int16]]:
    """Return a function that returns the layer that holds at each event, -1 at hot pixels, computed once."""

    @cache
    def held() -> NDArray[np.int16]:
        window, events, layer_map = result.window, result.window.events, result.layer_map
        if layer_map is None:
            layer = np.zeros(len(events), np.int16)
        else:
            share = (events.t - window.t_start) / max(window.t_end - window.t_start, 1)
            layer = layer_map.at(events.x, events.y, share)
        return np.where(hot_events(events), np.int16(-1), layer)

    return held


def _view(events: Events) -> View:
    """Return the rectangle of the events of a window."""
    ends = (float(end) for column in (events.x, events.y) for end in (column.min(), column.max()))
    left, right, top, bottom = ends
    return View(left, top, right, bottom, 0.5 * bound_px(events.resolution))


def bound_px(resolution: tuple[int, int]) -> float:
    """Return the largest displacement that a cold search covers, px."""
    return min(0.18 * max(resolution), 100.0)


def doubts_of(
    found: MotionCovariance,
    resolution: tuple[int, int],
    least_lasting: float,
    most_px: float = _APERTURE_PX,
) -> list[Doubt]:
    """Return the doubts about a motion that its own events tell.

    ``most_px`` is a standard deviation up to which a motion counts as known.
    """
    doubts = []
    moved_px = float(np.linalg.norm(found.displacement))
    if found.lasting < least_lasting or found.bend_px > max(_MAX_BEND_PX, _MAX_BEND * moved_px):
        doubts.append(Doubt.ACCELERATION)
    if not found.strength > MIN_STRENGTH:
        return [Doubt.CHANCE]
    std = found.axis_std
    limit_px = max(most_px, _APERTURE_RATIO * float(std.min()), _APERTURE_SHARE * moved_px)
    is_partly_known = std.max() > limit_px or _is_unsure(found, most_px)
    if is_partly_known or not found.is_known.all():
        doubts.append(Doubt.APERTURE)
    if found.rest_sigmas < _MIN_REST_SIGMAS:
        doubts.append(Doubt.AT_REST)
    if moved_px > _MAX_BOUNDS * bound_px(resolution):
        doubts.append(Doubt.AT_BOUND)
    return doubts


def _is_unsure(found: MotionCovariance, most_px: float = _UNSURE_PX) -> bool:
    """Return whether the displacement of the events is uncertain on average over them."""
    moved_px = float(np.linalg.norm(found.displacement))
    std_px = float(np.linalg.norm(found.axis_std))
    return std_px > max(most_px, _UNSURE_SHARE * moved_px)


def _without_motion(result: Estimate, found: MotionCovariance, misfit: float) -> Doubt:
    """Return why the events do not align: nothing moves, all moves differently, or it is noise."""
    is_signal = 2 * int(np.count_nonzero(result.signal)) > len(result)
    if misfit > _MAX_MISFIT:
        return Doubt.POORLY_EXPLAINED
    if is_signal and float(np.linalg.norm(found.displacement)) < _STILL_PX:
        return Doubt.AT_REST
    return Doubt.POORLY_EXPLAINED if is_signal else Doubt.CHANCE


def _is_partial(
    result: Estimate,
    found: MotionCovariance | None,
    limits: tuple[float, float],
    misfit: float,
    terms: MotionTerms | None = None,
) -> bool:
    """Return whether motions leave a part of the window unexplained, or misaligned.

    ``misfit`` is the share of structured events that they leave; ``terms`` are those of the signal, of one motion.
    """
    max_unexplained, max_misaligned = limits
    fit = result.fit
    if fit is None and terms is not None:
        fit = misfit_if_large(terms, result, max_misaligned)
    elif fit is None:
        fit = misfit_of(result)
    if limits is _ALL_MOTIONS and misfit < _LEAST_STRUCTURE:
        max_unexplained = np.inf
    if fit.unexplained > max_unexplained:
        # Events of hot pixels need no explanation. To find them takes longer than the rest.
        fit = misfit_of(_subset(result, ~hot_events(result.window.events)))
    # Where the whole motion is uncertain, parts seem off by chance.
    is_sharp = found is not None and float(found.axis_std.min()) < _SHARP_PX
    is_off = is_sharp and fit.misaligned > max_misaligned
    if is_off:
        # Steps over the curvature from slopes between pixels are too long by a factor. And of several motions,
        # parts that are off by little, compared with their motion, are explained well enough.
        off_px = max(OFF_PX, _OFF_SHARE * _moved_px(result)) if limits is _ALL_MOTIONS else OFF_PX
        is_off = misaligned_share(result, SLOPE_FACTOR * off_px) > max_misaligned
    if is_sharp and not is_off and result.layer_map is None and limits is _ALL_MOTIONS:
        uncertain_px = _PART_SIGMAS * float(np.linalg.norm(found.axis_std)) if found else 0.0
        off_px = max(_ONE_OFF_PX, _ONE_OFF_SHARE * _moved_px(result), uncertain_px)
        is_off = fit.misaligned > _ONE_MISALIGNED
        is_off = is_off and misaligned_share(result, SLOPE_FACTOR * off_px) > _ONE_MISALIGNED
    return fit.unexplained > max_unexplained or is_off


def _moved_px(result: Estimate) -> float:
    """Return the mean displacement of the signal, px per window."""
    length_s = (result.window.t_end - result.window.t_start) / 1e6
    chosen = np.flatnonzero(result.signal)
    chosen = chosen[:: max(chosen.size // _SPEED_EVENTS, 1)]
    return float(np.linalg.norm(result.velocity[chosen], axis=1).mean()) * length_s


def _misfit(result: Estimate) -> float:
    return unexplained_share(result.window.events, result.signal)


def _with_comparable_labels(result: Estimate) -> Estimate:
    """Return an estimate with labels as of "auto" at its motion; other labels have other aims."""
    if getattr(result.config, "name", "") == "auto":
        return _by_motion(result)
    from evcrisp.estimators.auto.event_evidence import compute_evidence

    events = result.window.events.contiguous()
    data = WindowData.of(result.window, result.motion)
    evidence = compute_evidence(
        data, events, result.theta, supporting=~hot_events(events), false_alarm=_FALSE_ALARM
    )
    return replace(result, signal=evidence.by_motion.signal)


def _by_motion(result: Estimate) -> Estimate:
    """Return an estimate with the labels by its motion: others tell nothing about the motion."""
    signal = result.motion_signal
    if signal is None:
        return result
    return replace(result, signal=signal, layer=np.where(signal, result.layer, np.int16(-1)))


def _subset(result: Estimate, chosen: Bools) -> Estimate:
    """Return an estimate with one motion, with some of the events."""
    columns = ("signal", "score", "confidence", "aligned_x", "aligned_y", "layer")
    parts = {name: getattr(result, name)[chosen] for name in columns}
    window = replace(result.window, events=result.window.events[chosen])
    return replace(result, window=window, **parts)


def _assessed_layers(result: Estimate) -> Estimate:
    """Return an estimate with layers, with the covariance and the doubts of each of them."""
    judged = _by_motion(result)
    held, view = _layers_held(judged), _view(judged.window.events)
    n_layers = len(judged.layer_motions)
    motions, largest, known = [], None, None
    for k in range(n_layers):
        part, found, is_known = _assessed_layer(judged, k, held, view, known)
        if k == 0:
            largest, known = found, part if is_known else None
        motions.append(part)
    misfit = _misfit(judged)
    sizes = np.bincount(judged.layer[judged.layer >= 0], minlength=len(motions))
    doubts = _shared_doubts(motions, sizes)
    if not any(part.theta.any() for part in motions):
        doubts.append(Doubt.AT_REST)
    elif relabeled_share(result) > MAX_RELABELED:
        doubts.append(Doubt.ACCELERATION)
    elif misfit > _MAX_MISFIT or _is_partial(judged, largest, _ALL_MOTIONS, misfit):
        doubts.append(Doubt.POORLY_EXPLAINED)
    if np.count_nonzero(judged.signal) < MIN_SIGNAL or is_met_by_chance(judged):
        doubts.append(Doubt.CHANCE)
    changed = replace(
        result, layer_motions=tuple(motions), theta=motions[0].theta, misfit=misfit,
        covariance=motions[0].covariance,
    )  # fmt: skip
    return with_doubts(_realigned(changed, result.layer_motions, held), *doubts)


def _realigned(
    result: Estimate, before: tuple[LayerMotion, ...], held: Callable[[], NDArray[np.int16]]
) -> Estimate:
    """Return an estimate with the positions of events in layers whose motion has changed."""
    changed = [
        k for k, (one, other) in enumerate(zip(before, result.layer_motions, strict=True))
        if not np.array_equal(one.theta, other.theta)
    ]  # fmt: skip
    if not changed:
        return result
    x, y = result.aligned_x.copy(), result.aligned_y.copy()
    events = result.window.events
    for k in changed:
        at = np.flatnonzero(held() == k)
        dt = seconds_since(events.t[at], result.window.t_ref)
        part = result.layer_motions[k]
        x[at], y[at] = part.motion.warp(part.theta, events.x[at], events.y[at], dt)
    return replace(result, aligned_x=x, aligned_y=y)


def _assessed_layer(
    result: Estimate,
    index: int,
    held: Callable[[], NDArray[np.int16]],
    view: View,
    largest: LayerMotion | None,
) -> tuple[LayerMotion, MotionCovariance | None, bool]:
    """Return a layer with its covariance and doubts; that it is at rest is no reason for doubt.

    And the covariance of its velocity alone, and whether all of its motion is known. ``held`` returns the
    layer that holds at each event; ``largest`` is the largest layer, if its motion is known.
    """
    part = result.layer_motions[index]
    terms = terms_of(result, result.layer == index)
    if terms is None:
        return replace(part, doubts=(Doubt.CHANCE,) if part.theta.any() else ()), None, False
    all_terms = _all_terms(result, terms, lambda: held() == index)
    found = _covariance(result, terms, Translation(), part.theta[:2], all_terms, view)
    covariance = np.zeros((part.theta.size, part.theta.size))
    covariance[:2, :2] = found.covariance
    turns, field = False, found
    if part.theta[2:].any():
        field = _covariance(result, terms, part.motion, part.theta, all_terms, view)
        covariance = field.covariance.copy()
        turns = field.rest_sigmas >= _MIN_REST_SIGMAS
    length_s = (result.window.t_end - result.window.t_start) / 1e6
    covariance[[0, 1], [0, 1]] += (_LAYER_PX / length_s) ** 2
    doubts = doubts_of(found, result.window.events.resolution, _LEAST_LASTING_LAYER)
    doubts = doubts if part.theta.any() else []
    if turns:  # about its middle: a wheel has no velocity as a whole
        doubts = [doubt for doubt in doubts if doubt is not Doubt.AT_REST]
    if part.theta.any():
        if _is_unsure(field):
            doubts.append(Doubt.APERTURE)
        if misaligned_parts(terms, _LAYER_OFF_PX) > _LAYER_MISALIGNED:
            doubts.append(Doubt.POORLY_EXPLAINED)
    doubts = list(dict.fromkeys(doubts))
    is_known = bool(field.is_known.all())
    if part.theta.any() and not field.is_seen.all():
        part = with_normal_layer(part, field, largest)
    return replace(part, covariance=covariance, doubts=tuple(doubts)), found, is_known


def _shared_doubts(motions: list[LayerMotion], sizes: NDArray[np.intp]) -> list[Doubt]:
    """Return the doubts of the largest layer, and those that hold for much of the moving signal."""
    pairs = list(zip(motions, sizes.tolist(), strict=True))
    n_moving = sum(n for part, n in pairs if part.theta.any())
    doubts = list(motions[0].doubts)
    for doubt in Doubt:
        held = sum(n for part, n in pairs if doubt in part.doubts)
        if held > _DOUBTFUL_SHARE * max(n_moving, 1):
            doubts.append(doubt)
    return doubts
