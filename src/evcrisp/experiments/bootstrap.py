"""Confidence intervals by bootstrap: root mean squares over windows, means over recordings."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evcrisp.core.types import Floats

#: Convention -> function from mean squares of the axes (..., m) to one error.
CONVENTIONS = {
    "vector": lambda squares: np.sqrt(squares.sum(axis=-1)),
    "pooled": lambda squares: np.sqrt(squares.mean(axis=-1)),
    "axis": lambda squares: np.sqrt(squares).mean(axis=-1),
}


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


def rms_intervals(errors: Floats, *, n_resamples: int = 1000, seed: int = 0) -> dict[str, Interval]:
    """Return root mean square errors in the three conventions, with intervals.

    Circular blocks of ``n^(1/3)`` windows are resampled: errors of consecutive ones are correlated.

    Parameters
    ----------
    errors : ndarray, shape (n, m)
        Estimate minus truth; one row per window, in order.
    n_resamples, seed : int
        Number of resamples; equal seeds give equal intervals.

    Examples
    --------
    >>> intervals = rms_intervals(np.full((50, 3), 2.0))
    >>> round(intervals["vector"].value, 4), round(intervals["pooled"].high, 4)
    (3.4641, 2.0)
    """
    n = len(errors)
    squares = errors**2
    length = max(1, round(n ** (1 / 3)))
    # Mean squares of every block; blocks wrap around the end.
    wrapped = np.concatenate((squares, squares[: length - 1]))
    totals: Floats = np.zeros((len(wrapped) + 1, squares.shape[1]))
    np.cumsum(wrapped, axis=0, out=totals[1:])
    blocks = (totals[length:] - totals[:-length]) / length
    rng = np.random.default_rng(seed)
    n_blocks = -(-n // length)
    means = blocks[rng.integers(0, n, (n_resamples, n_blocks))].mean(axis=1)
    found = {}
    for name, convention in CONVENTIONS.items():
        low, high = np.quantile(convention(means), (0.025, 0.975))
        found[name] = Interval(float(convention(squares.mean(axis=0))), float(low), float(high))
    return found


def mean_interval(
    values: Sequence[float], *, n_resamples: int = 1000, seed: int = 0
) -> Interval | None:
    """Return the mean of recordings with its interval, by resampling recordings; None without any.

    >>> mean_interval([0.5, 0.5, 0.5])
    Interval(value=0.5, low=0.5, high=0.5)
    """
    if not len(values):
        return None
    known: Floats = np.array(values, np.float64)
    picks = np.random.default_rng(seed).integers(0, known.size, (n_resamples, known.size))
    low, high = np.quantile(known[picks].mean(axis=1), (0.025, 0.975))
    return Interval(float(known.mean()), float(low), float(high))
