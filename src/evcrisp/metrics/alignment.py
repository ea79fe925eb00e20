"""Measures of motion: sharpness after warping, errors of velocities and of flow."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_resolution


def flow_warp_loss(
    x: ArrayLike,
    y: ArrayLike,
    aligned_x: ArrayLike,
    aligned_y: ArrayLike,
    resolution: tuple[int, int],
) -> float:
    """Return FWL: the variance of the image of warped events over that of the events as they are.

    Above 1 warping sharpens. Some programs report the inverse.

    Parameters
    ----------
    x, y : array_like, shape (n,), px
        Where the events are.
    aligned_x, aligned_y : array_like, shape (n,), px
        Where warping puts them.
    resolution : (int, int), px
        Both images have the pixels of the sensor; bilinear votes, no blur.

    Returns
    -------
    float
        NaN where the image of the events as they are is flat.

    Notes
    -----
    Events that warping moves off the sensor are missing in the numerator, which lowers it.

    Examples
    --------
    >>> round(flow_warp_loss([1, 2], [1, 1], [1, 1], [1, 1], (4, 4)), 4)
    2.1429
    """
    columns = [np.asarray(column, np.float64) for column in (x, y, aligned_x, aligned_y)]
    if len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
        raise EventDataError(
            "`x`, `y`, `aligned_x` and `aligned_y` must have one length; got shapes "
            f"{[column.shape for column in columns]}."
        )
    size = as_resolution(resolution)
    before = _variance(columns[0], columns[1], size)
    return _variance(columns[2], columns[3], size) / before if before else math.nan


def _variance(x: Floats, y: Floats, resolution: tuple[int, int]) -> float:
    from evcrisp.kernels.contrast.splat import accumulate_bilinear

    width, height = resolution
    # A frame of one pixel takes what falls beyond the outermost ones; it is no part of the image.
    image = np.zeros((height + 2, width + 2))
    accumulate_bilinear(x + 1.0, y + 1.0, np.ones(x.size), image)
    return float(image[1:-1, 1:-1].var())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MotionError:
    """Errors of velocities in three conventions that differ by up to ``sqrt(axes)``.

    Which one a table means decides who wins; never mix them. All are in the unit of the input.
    """

    axis_mean_abs: Floats  # (m,)
    axis_std: Floats  # (m,) standard deviation of the error
    axis_rms: Floats  # (m,)
    mean_axis_rms: float  # mean of the axes' RMS, as EventEMin reports it
    pooled_rms: float  # RMS over all numbers, as ST-PPP reports it
    vector_rms: float  # RMS of the norm of the error; sqrt(m) times `pooled_rms`
    percent_of_peak: float  # `mean_axis_rms` over the largest absolute true value
    percent_of_range: float  # `pooled_rms` over the largest minus the smallest true value


def motion_error(estimate: ArrayLike, truth: ArrayLike) -> MotionError:
    """Compare estimated with true motion, such as angular velocities.

    Parameters
    ----------
    estimate, truth : array_like, shape (n, m)
        One row per window, one column per axis, in one unit. No NaN: a window that was given up
        must be decided on, not skipped silently. Without rows everything is NaN.

    Examples
    --------
    >>> error = motion_error([[3.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]])
    >>> round(error.mean_axis_rms, 4), error.pooled_rms, round(error.vector_rms, 4)
    (2.4749, 2.5, 3.5355)
    """
    ours, true = np.asarray(estimate, np.float64), np.asarray(truth, np.float64)
    if ours.shape != true.shape or ours.ndim != 2:
        raise EventDataError(
            "`estimate` and `truth` must have one shape (windows, axes); got "
            f"{ours.shape}, {true.shape}."
        )
    if not (np.isfinite(ours).all() and np.isfinite(true).all()):
        raise EventDataError("`estimate` and `truth` must be finite. Decide on those rows first.")
    if ours.size == 0:
        nothing = np.full(ours.shape[1], math.nan)
        return MotionError(
            axis_mean_abs=nothing,
            axis_std=nothing,
            axis_rms=nothing,
            mean_axis_rms=math.nan,
            pooled_rms=math.nan,
            vector_rms=math.nan,
            percent_of_peak=math.nan,
            percent_of_range=math.nan,
        )
    error = ours - true
    axis_rms = np.sqrt(np.mean(error**2, axis=0))
    mean_axis_rms, pooled_rms = float(axis_rms.mean()), float(np.sqrt(np.mean(error**2)))
    return MotionError(
        axis_mean_abs=np.abs(error).mean(axis=0),
        axis_std=error.std(axis=0),
        axis_rms=axis_rms,
        mean_axis_rms=mean_axis_rms,
        pooled_rms=pooled_rms,
        vector_rms=float(np.sqrt(np.mean(np.sum(error**2, axis=1)))),
        percent_of_peak=_percent(mean_axis_rms, float(np.abs(true).max())),
        percent_of_range=_percent(pooled_rms, float(np.ptp(true))),
    )


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowError:
    """Errors of a flow field over the pixels whose truth is known; NaN without any."""

    aee: float  # px, mean length of the error
    outlier_percent: float  # of the pixels, with an error above `outlier_px`
    angle_deg: float  # mean angle between (u, v, 1) and its truth
    n_pixels: int


def endpoint_error(
    flow: ArrayLike,
    truth: ArrayLike,
    *,
    valid: ArrayLike | None = None,
    outlier_px: float = 3.0,
) -> FlowError:
    """Compare displacements with the true ones.

    Parameters
    ----------
    flow, truth : array_like, shape (2, ...), px
        Displacements along x and y over the time that the truth is for. A motion model gives them
        by warping the pixels of the sensor.
    valid : array_like of bool, shape (...), optional
        Pixels to judge, such as those with events. Pixels whose truth is not finite, or zero along
        both axes (which files write for "not known"), are always left out.
    outlier_px : float
        Errors above this are outliers.

    Examples
    --------
    >>> error = endpoint_error([[1.0, 5.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]])
    >>> error.aee, error.outlier_percent, error.n_pixels
    (2.0, 50.0, 2)
    """
    ours, true = np.asarray(flow, np.float64), np.asarray(truth, np.float64)
    if ours.shape != true.shape or ours.ndim < 2 or ours.shape[0] != 2:
        raise EventDataError(
            f"`flow` and `truth` must have one shape (2, ...); got {ours.shape}, {true.shape}."
        )
    known = np.isfinite(true).all(axis=0) & true.any(axis=0)
    if valid is not None:
        if np.shape(valid) != known.shape:
            raise EventDataError(f"`valid` must have shape {known.shape}; got {np.shape(valid)}.")
        known &= np.asarray(valid, np.bool_)
    u, true_u = ours[:, known], true[:, known]
    n_pixels = u.shape[1]
    if n_pixels == 0:
        return FlowError(aee=math.nan, outlier_percent=math.nan, angle_deg=math.nan, n_pixels=0)
    length = np.hypot(*(u - true_u))
    norms = np.sqrt((1.0 + (u**2).sum(axis=0)) * (1.0 + (true_u**2).sum(axis=0)))
    cosine = np.clip((1.0 + (u * true_u).sum(axis=0)) / norms, -1.0, 1.0)
    return FlowError(
        aee=float(length.mean()),
        outlier_percent=100.0 * float((length > outlier_px).mean()),
        angle_deg=float(np.rad2deg(np.arccos(cosine)).mean()),
        n_pixels=n_pixels,
    )
