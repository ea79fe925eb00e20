"""Label a window with the motions of an earlier one, without a search."""

from dataclasses import replace
from typing import Any

import numpy as np

from evcrisp.core.doubt import Doubt
from evcrisp.core.status import Status
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.event_evidence import compute_evidence
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.layer import LayerMotion
from evcrisp.estimators.layers.competition import LAYER_COST, compete
from evcrisp.estimators.layers.find_layers import sorted_layers
from evcrisp.estimators.layers.layer_evidence import layer_evidence
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.estimators.layers.motion_finder import layered_estimate, scaled
from evcrisp.estimators.result import Estimate
from evcrisp.motion import Translation
from evcrisp.motion.open_motion import affine_at, is_open
from evcrisp.motion.protocol import MotionModel, center_of
from evcrisp.search.window_data import WindowData

#: Share of uniform noise that may be kept, for methods that do not state it.
_FALSE_ALARM = 0.1


def relabel(window: Window, known: Estimate | None, config: Any, model: MotionModel) -> Estimate:
    """Return the labels of a window by the motions of an earlier one, with a doubt.

    The labels are those of "auto", whatever the method ``config`` is. Without an earlier window,
    ``model`` is at rest.
    """
    events = window.events.contiguous()
    false_alarm = getattr(config, "false_alarm", _FALSE_ALARM)
    if known is None:
        model = Translation() if is_open(model) else model
        at_rest = np.zeros(len(model.param_names))
        return _by_one_motion(window, model, at_rest, false_alarm, config)
    if known.layer_map is None or not len(events):
        return _by_one_motion(window, known.motion, known.theta, false_alarm, config)
    data = WindowData.of(window, Translation())
    prepared = LayerWindow.of(data, events, ~hot_events(events))
    rows = _rows(known, data.duration_s)
    found = sorted_layers(prepared, compete(prepared, rows, LAYER_COST))
    evidence = layer_evidence(prepared, found, false_alarm)
    result = layered_estimate(window, prepared, found, evidence)
    numbers = {row.tobytes(): part.id for row, part in zip(rows, known.layer_motions, strict=False)}
    motions = tuple(
        _doubtful(part, numbers.get(row.tobytes(), -1))
        for part, row in zip(result.layer_motions, found.motions, strict=True)
    )
    return replace(result, layer_motions=motions, doubts=(Doubt.REUSED,), config=config)


def _by_one_motion(
    window: Window, model: MotionModel, theta: Floats, false_alarm: float, config: Any
) -> Estimate:
    events, data = window.events.contiguous(), WindowData.of(window, model)
    if len(events):
        evidence = compute_evidence(
            data, events, theta, supporting=~hot_events(events), false_alarm=false_alarm
        )
        score, confidence, signal = evidence.labels
    else:
        score, confidence, signal = np.empty(0), np.empty(0), np.empty(0, np.bool_)
    x, y = data.warp.warp(theta)
    return Estimate(
        theta=theta.copy(), signal=signal, score=score, confidence=confidence, aligned_x=x,
        aligned_y=y, status=Status.CONVERGED if len(events) else Status.TOO_FEW_EVENTS,
        motion=model, window=window, config=config, doubts=(Doubt.REUSED,),
    )  # fmt: skip


def _rows(known: Estimate, duration_s: float) -> Floats:
    """Return the motions of an estimate as rows of 8, px per window, and rest."""
    rows = []
    middle = center_of(known.window.events.resolution)
    for part in known.layer_motions:
        center = getattr(part.motion, "center", None) or middle
        rows.append([*affine_at(part.motion, part.theta, center), *center])
    rows.append([0.0] * 6 + list(middle))
    return scaled(np.array(rows), duration_s)


def _doubtful(part: LayerMotion, number: int) -> LayerMotion:
    return replace(part, id=number, doubts=(Doubt.REUSED,))
