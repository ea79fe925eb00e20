"""Errors of velocities against the truth: fields of pixels, or one velocity per event."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_number

#: An outlier of KITTI 2015: the error is above both, px and share of the true displacement.
OUTLIER_PX = 3.0
OUTLIER_SHARE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowErrors:
    """Errors of displacements over a duration; NaN without a vector to compare.

    Two angles are in use. ``direction_deg`` is that in the image. It says nothing about small
    displacements, which are left out. ``barron_deg`` is that between (u, v, 1) and its truth in
    px (Barron et al. 1994): it needs no limit, and depends on the duration.
    """

    aee: float  # px, average endpoint error: mean length of the error
    direction_deg: float  # mean angle in the image, where the true displacement is long enough
    barron_deg: float  # mean angle between (u, v, 1) and its truth
    outliers: float  # share with an error above 3 px and above 5 % of the true displacement
    share_above_px: Mapping[float, float]  # limit, px -> share with an error above it
    n: int  # vectors that were compared
    n_directions: int  # of them, those in `direction_deg`


def flow_errors(
    estimated_velocity: ArrayLike,
    true_velocity: ArrayLike,
    valid: ArrayLike | None,
    duration_s: float,
    *,
    limits_px: Sequence[float] = (1.0, 2.0, 3.0),
    least_px: float = 1.0,
) -> FlowErrors:
    """Compare velocities with the true ones, as displacements over a duration.

    Parameters
    ----------
    estimated_velocity, true_velocity : array_like, shape (n, 2) or (h, w, 2), px/s
        Velocities of events or pixels. Where the truth is not finite, it is not known.
    valid : array_like of bool, shape (n,) or (h, w); or None
        Vectors to compare, such as the pixels with events. None: all with a known truth.
    duration_s : float, s
        Duration of the displacements: that of the window, or that of the benchmark.
    limits_px : sequence of float, px
        Limits of ``share_above_px``; DSEC reports 1, 2 and 3 px.
    least_px : float, px
        True displacement from which on ``direction_deg`` counts a vector. An estimate without
        motion has no direction, and counts as 90 degrees.

    Raises
    ------
    EventDataError
        If shapes differ, or an estimate that is compared is not finite. Leaving it out would
        reward estimates that fail: state it in ``valid``, and report ``n``.

    Examples
    --------
    >>> true = np.full((4, 2), (300.0, 400.0))           # 15 px in 30 ms
    >>> errors = flow_errors(true + [[0, 0], [0, 100], [200, 0], [0, 0]], true, None, 0.03)
    >>> errors.aee, errors.outliers, errors.share_above_px[2.0]
    (2.25, 0.25, 0.5)
    """
    check_number("duration_s", duration_s, 0, open_low=True)
    check_number("least_px", least_px, 0)
    for limit_px in limits_px:
        check_number("limits_px", limit_px, 0)
    estimate = np.asarray(estimated_velocity, np.float64)
    truth = np.asarray(true_velocity, np.float64)
    chosen = _chosen(estimate, truth, valid)
    u, true_u = estimate[chosen] * duration_s, truth[chosen] * duration_s
    if len(u) == 0:
        nothing = {float(limit): math.nan for limit in limits_px}
        return FlowErrors(
            aee=math.nan, direction_deg=math.nan, barron_deg=math.nan, outliers=math.nan,
            share_above_px=nothing, n=0, n_directions=0,
        )  # fmt: skip
    error, length = np.hypot(*(u - true_u).T), np.hypot(*true_u.T)
    is_long = (length >= least_px) & (length > 0)
    ones = np.ones((len(u), 1))
    return FlowErrors(
        aee=float(error.mean()),
        direction_deg=_mean_angle_deg(u[is_long], true_u[is_long]),
        barron_deg=_mean_angle_deg(np.hstack((u, ones)), np.hstack((true_u, ones))),
        outliers=float(((error > OUTLIER_PX) & (error > OUTLIER_SHARE * length)).mean()),
        share_above_px={float(limit): float((error > limit).mean()) for limit in limits_px},
        n=len(u),
        n_directions=int(np.count_nonzero(is_long)),
    )


def _chosen(estimate: Floats, truth: Floats, valid: ArrayLike | None) -> Bools:
    """Return the vectors to compare; raise if one has no estimate."""
    if estimate.shape != truth.shape or estimate.ndim < 2 or estimate.shape[-1] != 2:
        raise EventDataError(
            "`estimated_velocity` and `true_velocity` must have one shape (..., 2); got "
            f"{estimate.shape}, {truth.shape}."
        )
    finite = np.isfinite(truth)
    chosen = finite[..., 0] & finite[..., 1]
    if valid is not None:
        flags = np.asarray(valid)
        if flags.shape != chosen.shape or flags.dtype != np.bool_:
            problem = f"must be bool of shape {chosen.shape}; got {flags.dtype} of {flags.shape}"
            raise EventDataError(problem, parameter="valid")
        chosen = chosen & flags
    n_unknown = int(np.count_nonzero(~np.isfinite(estimate[chosen]).all(axis=-1)))
    if n_unknown:
        raise EventDataError(
            f"must be finite where it is compared; {n_unknown:,} of {chosen.sum():,} are not",
            parameter="estimated_velocity",
            remedy="Fill them in, or leave them out of `valid` and report `n`.",
        )
    return chosen


def _mean_angle_deg(u: Floats, true_u: Floats) -> float:
    """Return the mean angle between vectors, (n, 2 or 3); 90 degrees for a vector of zeros."""
    if len(u) == 0:
        return math.nan
    # The arc cosine loses half of the digits of small angles; this form keeps them.
    a = u * np.linalg.norm(true_u, axis=1, keepdims=True)
    b = true_u * np.linalg.norm(u, axis=1, keepdims=True)
    apart, together = np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1)
    angle = np.where(apart + together > 0, 2.0 * np.arctan2(apart, together), math.pi / 2)
    return float(np.rad2deg(angle).mean())
