"""Metrics of labels against the truth; the rates of an empty class are NaN."""

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.event_columns import as_column, as_flag
from evcrisp.core.types import Bools, Floats

#: Rates of a `Confusion`, in the order of reports.
RATES = (
    "retention", "sensitivity", "specificity", "precision", "accuracy", "f1",
    "denoising_accuracy", "snr", "snr_db", "psr", "pnr",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Counts of kept and dropped events by class; counts of chunks are added with ``+``.

    >>> counts = Confusion(signal_kept=90, signal_dropped=10, noise_kept=20, noise_dropped=60)
    >>> counts.sensitivity, counts.specificity, counts.denoising_accuracy
    (0.9, 0.75, 0.825)
    >>> counts.snr
    4.5
    """

    signal_kept: int  # true positives
    signal_dropped: int  # false negatives
    noise_kept: int  # false positives
    noise_dropped: int  # true negatives

    def __post_init__(self) -> None:
        if min(asdict(self).values()) < 0:
            raise EventDataError(f"Counts of events must be 0 or more; got {self}.")

    def __add__(self, other: "Confusion") -> "Confusion":
        return Confusion(**{k: n + getattr(other, k) for k, n in asdict(self).items()})

    @property
    def n_signal(self) -> int:
        """Number of true signal events."""
        return self.signal_kept + self.signal_dropped

    @property
    def n_noise(self) -> int:
        """Number of true noise events."""
        return self.noise_kept + self.noise_dropped

    @property
    def n_kept(self) -> int:
        """Number of kept events."""
        return self.signal_kept + self.noise_kept

    @property
    def retention(self) -> float:
        """Share of all events that are kept."""
        return _share(self.n_kept, self.n_signal + self.n_noise)

    @property
    def sensitivity(self) -> float:
        """Share of the signal that is kept: true positive rate, recall, signal retained."""
        return _share(self.signal_kept, self.n_signal)

    @property
    def specificity(self) -> float:
        """Share of the noise that is dropped: true negative rate, noise removed."""
        return _share(self.noise_dropped, self.n_noise)

    @property
    def precision(self) -> float:
        """Share of the kept events that are signal."""
        return _share(self.signal_kept, self.n_kept)

    @property
    def accuracy(self) -> float:
        """Share of correct labels; depends on the size of the classes."""
        return _share(self.signal_kept + self.noise_dropped, self.n_signal + self.n_noise)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and sensitivity; NaN without true signal."""
        if self.n_signal == 0:
            return math.nan
        return _share(2 * self.signal_kept, self.n_signal + self.n_kept)

    @property
    def denoising_accuracy(self) -> float:
        """Mean of sensitivity and specificity: balanced accuracy, DA."""
        return 0.5 * (self.sensitivity + self.specificity)

    @property
    def snr(self) -> float:
        """Kept signal events per kept noise event; infinite without noise."""
        if self.noise_kept == 0:
            return math.inf if self.signal_kept else math.nan
        return self.signal_kept / self.noise_kept

    @property
    def snr_db(self) -> float:
        """The same ratio in decibels, ``10 log10(snr)``."""
        ratio = self.snr
        return -math.inf if ratio == 0.0 else 10.0 * math.log10(ratio)

    @property
    def psr(self) -> float:
        """Percentage of signal remaining."""
        return 100.0 * self.sensitivity

    @property
    def pnr(self) -> float:
        """Percentage of noise remaining."""
        return 100.0 * _share(self.noise_kept, self.n_noise)

    def as_dict(self) -> dict[str, float]:
        """Return the counts and all rates."""
        return {**asdict(self), **{name: getattr(self, name) for name in RATES}}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def confusion(signal: ArrayLike, truth: ArrayLike) -> Confusion:
    """Count kept and dropped events by true class.

    Parameters
    ----------
    signal, truth : array_like of bool, shape (n,)
        Labels of a method, True = keep; true classes, True = signal.

    Examples
    --------
    >>> confusion([1, 1, 0, 0], [1, 0, 1, 0]).accuracy
    0.5
    """
    _check_shapes("signal", signal, truth)
    kept, true = as_flag("signal", signal), as_flag("truth", truth)
    n_signal, n_kept = int(np.count_nonzero(true)), int(np.count_nonzero(kept))
    both = int(np.count_nonzero(kept & true))
    return Confusion(
        signal_kept=both,
        signal_dropped=n_signal - both,
        noise_kept=n_kept - both,
        noise_dropped=true.size - n_signal - n_kept + both,
    )


def sensitivity(signal: ArrayLike, truth: ArrayLike) -> float:
    """Return the share of the true signal events that are kept.

    >>> sensitivity([True, False, True], [True, True, False])
    0.5
    """
    return confusion(signal, truth).sensitivity


def specificity(signal: ArrayLike, truth: ArrayLike) -> float:
    """Return the share of the true noise events that are dropped.

    >>> specificity([True, False, True], [True, True, False])
    0.0
    """
    return confusion(signal, truth).specificity


def rank_auc(score: ArrayLike, truth: ArrayLike) -> float:
    """Return the probability that a signal event scores higher than a noise event.

    Ties count half. It is the area under :func:`evcrisp.metrics.roc_curve`; NaN if a class is empty.

    >>> rank_auc([0.1, 0.4, 0.4, 0.8], [False, False, True, True])
    0.875
    """
    scores, true = as_scores(score, truth)
    signal, noise = np.sort(scores[true]), np.sort(scores[~true])
    if signal.size == 0 or noise.size == 0:
        return math.nan
    # Integers up to here: pairs in the right order count twice, ties once.
    n_below = int(np.searchsorted(noise, signal, side="left").sum())
    n_not_above = int(np.searchsorted(noise, signal, side="right").sum())
    return (n_below + n_not_above) / (2 * signal.size * noise.size)


def as_scores(score: ArrayLike, truth: ArrayLike) -> tuple[Floats, Bools]:
    """Return scores without NaN, and truth as flags, of one length."""
    _check_shapes("score", score, truth)
    values = as_column("score", score)
    if values.dtype.kind not in "biuf":
        raise EventDataError(f"`score` must be numbers; got {values.dtype}.")
    if values.dtype != np.float32:
        values = values.astype(np.float64, copy=False)
    if np.isnan(values).any():
        first = int(np.argmax(np.isnan(values)))
        raise EventDataError(f"`score` must be numbers; score[{first}] is NaN.")
    return values, as_flag("truth", truth)


def _check_shapes(name: str, values: ArrayLike, truth: ArrayLike) -> None:
    if np.shape(values) != np.shape(truth):
        raise EventDataError(f"`{name}` and `truth` differ: {np.shape(values)}, {np.shape(truth)}.")
