"""Estimates of the windows of a batch, on the host."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window, seconds_since
from evcrisp.estimators.auto.auto import AutoRegret, warnings_of
from evcrisp.estimators.auto.on_device.auto_batch import BatchLabels, BatchResult
from evcrisp.estimators.result import Estimate, Regret
from evcrisp.estimators.view_frame import ViewFrame
from evcrisp.tensors.ascent import statuses
from evcrisp.tensors.lazy import Tensor

_REGRET = ("f_ea", "f_ed", "baseline_ea", "baseline_ed", "value")


def estimates_of(
    windows: Sequence[Window], found: BatchResult, method: AutoRegret
) -> list[Estimate]:
    """Return the estimate of each window of a batch."""
    batch = found.batch
    ends = np.cumsum([0, *batch.rows.counts.tolist()])
    aligned = [_host(column) for column in found.aligned()]
    labels, by_motion = _labels(found.labels), _labels(found.by_motion)
    theta, n_eval = _host(found.motions.theta), found.motions.n_eval.tolist()
    states, n_signal = statuses(found.motions.status), found.n_signal.tolist()
    by_neighbors = found.evidence.by_neighbors.tolist()
    joint = _joint_objectives(found)
    out = []
    for k, window in enumerate(windows):
        here = slice(ends[k], ends[k + 1])
        w_map, regret = joint[k]
        out.append(
            Estimate(
                theta=theta[k], score=labels[0][here], confidence=labels[1][here],
                signal=labels[2][here], aligned_x=aligned[0][here], aligned_y=aligned[1][here],
                status=states[k], motion=batch.model, window=window, config=method,
                n_eval=n_eval[k], w_map=w_map, regret=regret,
                warnings=warnings_of(states[k], int(n_signal[k])),
                motion_signal=by_motion[2][here] if by_neighbors[k] else None,
            )
        )  # fmt: skip
    return out


def without_hot_events(window: Window, hot: Bools) -> Window:
    """Return a window without its hot events, (n,) bool."""
    return replace(window, events=window.events[~hot]) if hot.any() else window


def with_hot_events(result: Estimate, window: Window, hot: Bools) -> Estimate:
    """Return an estimate with the hot events of its window, (n,) bool, as noise."""
    if not hot.any():
        return result
    not_hot, events = ~hot, window.events

    def expand(values: Floats, fill: float) -> Floats:
        out = np.full(hot.size, fill)
        out[not_hot] = values
        return out

    def marked(values: Bools) -> Bools:
        out = np.zeros(hot.size, np.bool_)
        out[not_hot] = values
        return out

    dt = seconds_since(events.t, window.t_ref)
    x, y = result.motion.warp(result.theta, events.x, events.y, dt)
    by_motion = result.motion_signal
    return replace(
        result, window=window, signal=marked(result.signal), aligned_x=x, aligned_y=y,
        score=expand(result.score, min(float(result.score.min(initial=0.0)), 0.0)),
        confidence=expand(result.confidence, 0.0),
        motion_signal=None if by_motion is None else marked(by_motion),
    )  # fmt: skip


def _joint_objectives(found: BatchResult) -> list[tuple[Floats | None, Regret | None]]:
    """Return W and the objectives of each window, where they were computed."""
    batch, joint = found.batch, found.objectives
    if joint is None:
        return [(None, None)] * len(batch)
    columns = [getattr(joint, name).tolist() for name in _REGRET]
    flat, starts = _host(joint.w_maps), joint.layout.starts.tolist()
    shapes = zip(joint.layout.height.tolist(), joint.layout.width.tolist(), strict=True)
    corners = zip(batch.left.tolist(), batch.top.tolist(), strict=True)
    out: list[tuple[Floats | None, Regret | None]] = []
    for k, ((rows, columns_of_map), (left, top)) in enumerate(zip(shapes, corners, strict=True)):
        w_map = flat[starts[k] : starts[k] + rows * columns_of_map].reshape(rows, columns_of_map)
        frame = ViewFrame(left, top, *batch.frames[k].resolution, batch.resolution)
        numbers = dict(zip(_REGRET, (column[k] for column in columns), strict=True))
        w_map = frame.w_map_on_sensor(w_map.astype(np.float64))
        out.append((w_map, Regret(lam=0.0, **numbers)))
    return out


def _labels(labels: BatchLabels) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return _host(labels.score), _host(labels.confidence), _host(labels.signal)


def _host(values: Tensor) -> NDArray[Any]:
    return values.cpu().numpy()
