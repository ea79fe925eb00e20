"""True motion at the times of estimates."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.contract import as_column
from evcrisp.errors import EventDataError


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
    stamps, known = _stamps(truth_t), np.asarray(truth, np.float64)
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


def _stamps(truth_t: ArrayLike) -> NDArray[np.int64]:
    """Return the times of measurements, or say what is wrong with them."""
    column = as_column("truth_t", truth_t)
    if column.size == 0:
        return np.empty(0, np.int64)
    if column.dtype.kind not in "iu":
        raise EventDataError(
            f"`truth_t` must be whole microseconds; got {column.dtype}. "
            "For seconds use np.rint(truth_t * 1e6).astype(np.int64)."
        )
    if int(column.max()) > np.iinfo(np.int64).max:
        raise EventDataError(f"`truth_t` must fit into int64; got {column.max()}.")
    falls = column[1:] < column[:-1]
    if falls.any():
        i = int(np.argmax(falls)) + 1
        raise EventDataError(
            f"`truth_t` must not decrease; truth_t[{i}]={column[i]} follows {column[i - 1]}. Sort both: "
            'order = np.argsort(truth_t, kind="stable"), then truth_t[order] and truth[order].'
        )
    return column.astype(np.int64, copy=False)
