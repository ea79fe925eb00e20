"""The part of a motion that edges of one direction show: that across them."""

from dataclasses import replace
from typing import cast

import numpy as np

from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.layer import LayerMotion
from evcrisp.estimators.reliability.covariance import MotionCovariance
from evcrisp.estimators.result import Estimate
from evcrisp.motion import Affine
from evcrisp.motion.open_motion import affine_at
from evcrisp.search.window_data import WindowData

#: Methods whose motion is that of the sharpest map, wherever along the edges that is.
NORMAL_METHODS = ("auto", "cmax", "exact")


def with_normal_motion(
    result: Estimate, found: MotionCovariance, prior: Estimate | None
) -> Estimate:
    """Return an estimate whose unknown part of the motion is that of ``prior``, or zero."""
    if result.motion.uses_rays:
        return result
    wanted = None
    if prior is not None and prior.reliable and prior.motion == result.motion:
        wanted = prior.theta
    # Closed things of small size hardly show all parameters, but what they show is right.
    is_told = found.is_known if result.motion.name == "translation" else found.is_seen
    theta = _with_unknown_part(result.theta, found, ~is_told, wanted)
    x, y = WindowData.of(result.window, result.motion).warp.warp(theta)
    return replace(result, theta=theta, aligned_x=x, aligned_y=y)


def with_normal_layer(
    part: LayerMotion, found: MotionCovariance, largest: LayerMotion | None
) -> LayerMotion:
    """Return a layer whose unknown part of the motion is that of the largest layer, or zero.

    ``found`` has two parameters for a layer that only shifts, or six.
    """
    wanted = None
    if largest is not None:
        center = cast(Affine, part.motion).center
        wanted = affine_at(largest.motion, largest.theta, center)[: found.is_known.size]
    theta = part.theta.copy()
    m = found.is_seen.size
    theta[:m] = _with_unknown_part(theta[:m], found, ~found.is_seen, wanted)
    return replace(part, theta=theta)


def _with_unknown_part(
    theta: Floats, found: MotionCovariance, is_unknown: Bools, wanted: Floats | None
) -> Floats:
    """Return parameters whose part along unknown axes is that of ``wanted``, or zero."""
    unknown = found.axes[:, is_unknown]
    other = 0.0 if wanted is None else np.linalg.solve(found.backward, wanted)
    moved = unknown @ (unknown.T @ (other - found.displacement))
    return theta + found.backward @ moved
