"""Measures of labels against the truth. An empty class gives NaN, never a made-up number."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.event_columns import as_column, as_flag


def as_labels(signal: ArrayLike, truth: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return labels and truth as flags of one length."""
    if np.shape(signal) != np.shape(truth):
        raise EventDataError(f"`signal` and `truth` differ: {np.shape(signal)}, {np.shape(truth)}.")
    return as_flag("signal", signal), as_flag("truth", truth)


def as_scores(score: ArrayLike, truth: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return scores and truth of one length; a score that is not a number has no rank."""
    if np.shape(score) != np.shape(truth):
        raise EventDataError(f"`score` and `truth` differ: {np.shape(score)}, {np.shape(truth)}.")
    values = as_column("score", score)
    if values.dtype.kind not in "biuf":
        raise EventDataError(f"`score` must be numbers; got {values.dtype}.")
    if values.dtype != np.float32:
        values = values.astype(np.float64, copy=False)
    if np.isnan(values).any():
        first = int(np.argmax(np.isnan(values)))
        raise EventDataError(f"`score` must be numbers; score[{first}] is NaN.")
    return values, as_flag("truth", truth)


def sensitivity(signal: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Share of the true signal events that were kept.

    >>> sensitivity(np.array([True, False, True]), np.array([True, True, False]))
    0.5
    """
    signal, truth = as_labels(signal, truth)
    return float(signal[truth].mean()) if truth.any() else float("nan")


def specificity(signal: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Share of the true noise events that were dropped.

    >>> specificity(np.array([True, False, True]), np.array([True, True, False]))
    0.0
    """
    signal, truth = as_labels(signal, truth)
    return float((~signal[~truth]).mean()) if not truth.all() else float("nan")


def rank_auc(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """Chance that a signal event scores higher than a noise event; ties count half.

    It is the area under :func:`evcrisp.metrics.roc_curve`. NaN if one class is empty.

    >>> rank_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    score, truth = as_scores(score, truth)
    signal, noise = np.sort(score[truth]), np.sort(score[~truth])
    if signal.size == 0 or noise.size == 0:
        return float("nan")
    # Whole numbers up to here: wins count twice, ties once.
    n_below = int(np.searchsorted(noise, signal, side="left").sum())
    n_not_above = int(np.searchsorted(noise, signal, side="right").sum())
    return (n_below + n_not_above) / (2 * signal.size * noise.size)
