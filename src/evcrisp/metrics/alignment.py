"""Metrics of motion: sharpness after warping, errors of the parameters of windows."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.event_columns import as_time
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_resolution


def flow_warp_loss(
    x: ArrayLike,
    y: ArrayLike,
    aligned_x: ArrayLike,
    aligned_y: ArrayLike,
    resolution: tuple[int, int],
) -> float:
    """Return FWL: variance of the image of warped events over that of raw events.

    Values above 1 mean that warping sharpens; some programs report the inverse. NaN if the image of
    the raw events is flat. Events that are warped off the sensor reduce the numerator.

    Parameters
    ----------
    x, y, aligned_x, aligned_y : array_like, shape (n,), px
        Positions of the events, before and after warping.
    resolution : (int, int), px
        Size of both images; bilinear votes, no blur.

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
    # A border of one pixel receives votes outside the sensor; it is not part of the image.
    image = np.zeros((height + 2, width + 2))
    accumulate_bilinear(x + 1.0, y + 1.0, np.ones(x.size), image)
    return float(image[1:-1, 1:-1].var())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MotionError:
    """Errors of velocities in three conventions that differ by up to ``sqrt(axes)``.

    Do not compare numbers of different conventions. All are in the unit of the input.
    """

    axis_mean_abs: Floats  # (m,)
    axis_std: Floats  # (m,) standard deviation of the error
    axis_rms: Floats  # (m,)
    mean_axis_rms: float  # mean of the RMS of the axes, reported by EventEMin
    pooled_rms: float  # RMS over all numbers, reported by ST-PPP
    vector_rms: float  # RMS of the norm of the error; sqrt(m) times `pooled_rms`
    percent_of_peak: float  # `mean_axis_rms` over the largest absolute true value
    percent_of_range: float  # `pooled_rms` over the largest minus the smallest true value


def motion_error(estimate: ArrayLike, truth: ArrayLike) -> MotionError:
    """Compare estimated with true motion, such as angular velocities.

    Parameters
    ----------
    estimate, truth : array_like, shape (n, m)
        One row per window, one column per axis, in one unit; no NaN. Errors are NaN without rows.

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
        raise EventDataError(
            "`estimate` and `truth` must be finite. Replace or drop those rows first."
        )
    if ours.size == 0:
        names = [field.name for field in fields(MotionError)]
        unknown: dict[str, Any] = dict.fromkeys(names, math.nan)
        unknown.update(dict.fromkeys(names[:3], np.full(ours.shape[1], math.nan)))
        return MotionError(**unknown)
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


def interpolate_truth(
    t: ArrayLike, truth_t: ArrayLike, truth: ArrayLike, *, offset_us: int = 0
) -> Floats:
    """Interpolate measured motion, such as that of a gyroscope, at the times of estimates.

    Linear between measurements, shape (n, m); NaN before the first and after the last.

    Parameters
    ----------
    t, truth_t : array_like of int, shapes (n,) and (k,), us
        Times of the estimates (middles of windows), and of the measurements, not decreasing.
    truth : array_like, shape (k, m)
        Measurements.
    offset_us : int
        Added to ``truth_t``: positive if the measurements are stamped too early. Published programs
        shift by 2.4 ms, in either direction; report the error at 0 as well.

    Examples
    --------
    >>> interpolate_truth([5, 10, 25], [0, 10, 20], [[0.0], [2.0], [2.0]]).ravel().tolist()
    [1.0, 2.0, nan]
    """
    remedy = (
        'Sort both: order = np.argsort(truth_t, kind="stable"), then truth_t[order] and '
        "truth[order]."
    )
    stamps, known = as_time(truth_t, "truth_t", remedy), np.asarray(truth, np.float64)
    wanted = np.asarray(t)
    if known.ndim != 2 or known.shape[0] != stamps.size:
        raise EventDataError(
            f"`truth` must have one row per time, shape ({stamps.size}, axes); got {known.shape}."
        )
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise EventDataError(
            f"`t` must be whole microseconds of one axis; got {wanted.dtype} of shape {wanted.shape}."
        )
    if stamps.size == 0:
        return np.full((wanted.size, known.shape[1]), np.nan)
    # Integer differences first: float64 cannot hold fractions of microseconds since 1970.
    start = int(stamps[0]) + offset_us
    at, known_at = (wanted.astype(np.int64) - start), (stamps - stamps[0])
    columns = [np.interp(at, known_at, column, left=np.nan, right=np.nan) for column in known.T]
    return np.stack(columns, axis=1)
