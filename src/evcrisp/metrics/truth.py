"""True motion at the times of estimates."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.event_columns import as_time

_REMEDY = (
    'Sort both: order = np.argsort(truth_t, kind="stable"), then truth_t[order] and truth[order].'
)


def interpolate_truth(
    t: ArrayLike, truth_t: ArrayLike, truth: ArrayLike, *, offset_us: int = 0
) -> NDArray[np.float64]:
    """Return measured motion, such as a gyroscope's, at the times of estimates.

    Parameters
    ----------
    t : array_like of int, shape (n,), us
        Times of the estimates: the middles of their windows.
    truth_t : array_like of int, shape (k,), us
        Times of the measurements, not decreasing.
    truth : array_like, shape (k, m)
        What was measured.
    offset_us : int
        Added to ``truth_t``: positive if the measurements are stamped too early. Published programs
        shift by 2.4 ms, some of them the other way; report 0 too.

    Returns
    -------
    ndarray, shape (n, m)
        Linear between measurements; NaN before the first and after the last.

    Examples
    --------
    >>> interpolate_truth([5, 10, 25], [0, 10, 20], [[0.0], [2.0], [2.0]]).ravel().tolist()
    [1.0, 2.0, nan]
    """
    stamps, known = as_time(truth_t, "truth_t", _REMEDY), np.asarray(truth, np.float64)
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
    # Differences in whole numbers first: float64 does not hold microseconds since 1970 and parts.
    start = int(stamps[0]) + offset_us
    at, places = (wanted.astype(np.int64) - start), (stamps - stamps[0])
    columns = [np.interp(at, places, column, left=np.nan, right=np.nan) for column in known.T]
    return np.stack(columns, axis=1)
