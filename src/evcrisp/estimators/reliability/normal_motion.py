"""The part of a motion that edges of one direction show: that across them."""

from dataclasses import replace

import numpy as np

from evcrisp.core.types import Floats
from evcrisp.estimators.reliability.covariance import MotionCovariance
from evcrisp.estimators.result import Estimate
from evcrisp.search.window_data import WindowData

#: Methods whose motion is that of the sharpest map, wherever along the edges that is.
NORMAL_METHODS = ("auto", "cmax", "exact")


def with_normal_motion(
    result: Estimate, found: MotionCovariance, prior: Estimate | None
) -> Estimate:
    """Return an estimate whose unknown part of the motion is that of ``prior``, or zero."""
    if result.motion.uses_rays:
        return result
    unknown = found.axes[:, ~found.is_known]
    wanted = np.zeros(result.theta.size)
    if prior is not None and prior.reliable and prior.motion == result.motion:
        wanted = np.linalg.solve(found.backward, prior.theta)
    moved = unknown @ (unknown.T @ (wanted - found.displacement))
    return _moved(result, result.theta + found.backward @ moved)


def _moved(result: Estimate, theta: Floats) -> Estimate:
    x, y = WindowData.of(result.window, result.motion).warp.warp(theta)
    return replace(result, theta=theta, aligned_x=x, aligned_y=y)
