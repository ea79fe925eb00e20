"""Curves of sensitivity against the kept share of noise, from scores or a sweep."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.event_columns import as_column
from evcrisp.core.types import Floats
from evcrisp.metrics.labels import as_scores


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """Rates of keeping ``score >= threshold``, for every distinct threshold."""

    thresholds: Floats  # (m,) decreasing from infinity
    fpr: Floats  # (m,) kept share of the noise, from 0 to 1
    tpr: Floats  # (m,) kept share of the signal, from 0 to 1

    @property
    def auc(self) -> float:
        """Area under the curve, :func:`evcrisp.metrics.rank_auc`; NaN if a class is empty."""
        if np.isnan((self.fpr[0], self.tpr[0])).any():
            return float("nan")
        return _area(self.fpr, self.tpr)


def roc_curve(score: ArrayLike, truth: ArrayLike) -> RocCurve:
    """Return the ROC curve of scores: one point per distinct score, and (0, 0).

    Parameters
    ----------
    score : array_like of float, shape (n,)
        Larger = more likely signal; no NaN.
    truth : array_like of bool, shape (n,)
        True = signal. The rates of an empty class are NaN.

    Examples
    --------
    >>> curve = roc_curve([0.1, 0.4, 0.4, 0.8], [False, False, True, True])
    >>> curve.thresholds.tolist()
    [inf, 0.8, 0.4, 0.1]
    >>> curve.tpr.tolist(), curve.fpr.tolist()
    ([0.0, 0.5, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0])
    >>> curve.auc
    0.875
    """
    values, true = as_scores(score, truth)
    order = np.argsort(values)[::-1]
    values, true = values[order], true[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if values.size else order
    kept_signal = np.cumsum(true, dtype=np.intp)[last]
    kept_noise = last + 1 - kept_signal
    n_signal = int(np.count_nonzero(true))
    thresholds = np.concatenate(([np.inf], values[last].astype(np.float64)))
    fpr, tpr = _rates(kept_noise, true.size - n_signal), _rates(kept_signal, n_signal)
    return RocCurve(thresholds, fpr, tpr)


def _rates(kept: NDArray[np.intp], total: int) -> Floats:
    if total == 0:
        return np.full(kept.size + 1, np.nan)
    return np.concatenate(([0.0], kept / total))


@dataclass(frozen=True, slots=True, eq=False)
class SweepCurve:
    """Operating points of a filter for several values of one parameter.

    It is not a ROC curve: each point belongs to another filter, and points need not be in order.
    """

    parameter: str  # name, such as "tau_us"
    values: Floats  # (m,) in the order of the sweep
    fpr: Floats  # (m,)
    tpr: Floats  # (m,)

    @property
    def is_monotone(self) -> bool:
        """Whether both rates only increase, or only decrease, along the sweep."""
        steps = np.stack((np.diff(self.fpr), np.diff(self.tpr)))
        return bool((steps >= 0).all() or (steps <= 0).all())

    @property
    def auc(self) -> float:
        """Area by the rules of jAER; NaN for fewer than two points.

        Trapezoids between consecutive points. A monotone sweep is closed at (0, 0) and (1, 1);
        otherwise the area covers the swept part only.
        """
        if self.values.size < 2:
            return float("nan")
        fpr, tpr = self.fpr, self.tpr
        if fpr[-1] < fpr[0] or (fpr[-1] == fpr[0] and tpr[-1] < tpr[0]):
            fpr, tpr = fpr[::-1], tpr[::-1]
        if self.is_monotone:
            fpr, tpr = (np.concatenate(([0.0], rates, [1.0])) for rates in (fpr, tpr))
        return _area(fpr, tpr)


def sweep_curve(parameter: str, values: ArrayLike, fpr: ArrayLike, tpr: ArrayLike) -> SweepCurve:
    """Return the curve of a parameter sweep.

    Parameters
    ----------
    parameter, values : str, array_like, shape (m,)
        Name of the parameter, and its values.
    fpr, tpr : array_like, shape (m,)
        Kept shares of noise and of signal for each value.

    Examples
    --------
    >>> curve = sweep_curve("tau_us", [1000, 5000, 25000], [0.1, 0.2, 0.6], [0.5, 0.8, 0.9])
    >>> round(curve.auc, 3)
    0.81
    """
    if not parameter:
        raise EventDataError("`parameter` must name the swept parameter; got an empty name.")
    columns = [
        as_column(name, column).astype(np.float64)
        for name, column in (("values", values), ("fpr", fpr), ("tpr", tpr))
    ]
    lengths = [column.size for column in columns]
    if len(set(lengths)) > 1:
        raise EventDataError(f"`values`, `fpr` and `tpr` must have one length; got {lengths}.")
    for name, rates in zip(("fpr", "tpr"), columns[1:], strict=True):
        if ((rates < 0) | (rates > 1)).any():
            raise EventDataError(f"`{name}` must lie in 0..1; got {rates.tolist()}.")
    return SweepCurve(parameter, *columns)


def _area(x: Floats, y: Floats) -> float:
    return float(0.5 * np.sum(np.diff(x) * (y[1:] + y[:-1])))
