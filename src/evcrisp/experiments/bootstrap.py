"""How sure a root mean square error is: resampling of blocks of windows."""

from dataclasses import dataclass

import numpy as np

from evcrisp.core.types import Floats

#: Error conventions -> how the mean squares of the axes (..., m) become one number.
CONVENTIONS = {
    "vector": lambda squares: np.sqrt(squares.sum(axis=-1)),
    "pooled": lambda squares: np.sqrt(squares.mean(axis=-1)),
    "axis": lambda squares: np.sqrt(squares).mean(axis=-1),
}


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the interval that holds it with 95 % confidence."""

    value: float
    low: float
    high: float


def rms_intervals(errors: Floats, *, n_resamples: int = 1000, seed: int = 0) -> dict[str, Interval]:
    """Return root mean square errors in the three conventions, with intervals.

    Errors of windows that follow each other are alike, so that blocks of them are drawn (circular,
    of length ``n^(1/3)``), not single ones.

    Parameters
    ----------
    errors : ndarray, shape (n, m)
        Estimate minus truth; one row per window, in their order.
    n_resamples : int
        Number of draws.
    seed : int
        Same seed, same intervals.

    Examples
    --------
    >>> intervals = rms_intervals(np.full((50, 3), 2.0))
    >>> round(intervals["vector"].value, 4), round(intervals["pooled"].high, 4)
    (3.4641, 2.0)
    """
    n = len(errors)
    squares = errors**2
    length = max(1, round(n ** (1 / 3)))
    # Sums of squares over every block, wrapped around the end.
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
