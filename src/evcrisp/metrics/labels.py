"""Measures of labels against the truth. An empty class gives NaN, never a made-up number."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.contract import as_flag
from evcrisp.errors import EventDataError


def _as_labels(signal: ArrayLike, truth: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if np.shape(signal) != np.shape(truth):
        raise EventDataError(f"`signal` and `truth` differ: {np.shape(signal)}, {np.shape(truth)}.")
    return as_flag("signal", signal), as_flag("truth", truth)


def sensitivity(signal: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Share of the true signal events that were kept.

    >>> sensitivity(np.array([True, False, True]), np.array([True, True, False]))
    0.5
    """
    signal, truth = _as_labels(signal, truth)
    return float(signal[truth].mean()) if truth.any() else float("nan")


def specificity(signal: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Share of the true noise events that were dropped.

    >>> specificity(np.array([True, False, True]), np.array([True, True, False]))
    0.0
    """
    signal, truth = _as_labels(signal, truth)
    return float((~signal[~truth]).mean()) if not truth.all() else float("nan")


def rank_auc(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """Chance that a signal event scores higher than a noise event; ties count half.

    >>> rank_auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    if np.shape(score) != np.shape(truth):
        raise EventDataError(f"`score` and `truth` differ: {np.shape(score)}, {np.shape(truth)}.")
    truth = as_flag("truth", truth)
    n_signal = int(truth.sum())
    n_noise = truth.size - n_signal
    if n_signal == 0 or n_noise == 0:
        return float("nan")
    _, which, counts = np.unique(score, return_inverse=True, return_counts=True)
    last_rank = np.cumsum(counts)
    mean_rank = last_rank - (counts - 1) / 2
    rank_sum = mean_rank[which][truth].sum()
    return float((rank_sum - n_signal * (n_signal + 1) / 2) / (n_signal * n_noise))
