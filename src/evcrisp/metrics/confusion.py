"""The four counts of labels against the truth, and every rate that is made of them."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.metrics.labels import as_labels

#: The rates of a `Confusion`, in the order of reports.
RATES = (
    "retention",
    "sensitivity",
    "specificity",
    "precision",
    "accuracy",
    "f1",
    "denoising_accuracy",
    "snr",
    "snr_db",
    "psr",
    "pnr",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How many events of each kind were kept and dropped.

    All rates are NaN where what they divide by is empty. Counts of parts of a stream are added
    with ``+``.

    Parameters
    ----------
    signal_kept, signal_dropped, noise_kept, noise_dropped : int
        True positives, false negatives, false positives, true negatives.

    Examples
    --------
    >>> counts = Confusion(signal_kept=90, signal_dropped=10, noise_kept=20, noise_dropped=60)
    >>> counts.sensitivity, counts.specificity, counts.denoising_accuracy
    (0.9, 0.75, 0.825)
    >>> counts.snr
    4.5
    """

    signal_kept: int
    signal_dropped: int
    noise_kept: int
    noise_dropped: int

    def __post_init__(self) -> None:
        if min(self.signal_kept, self.signal_dropped, self.noise_kept, self.noise_dropped) < 0:
            raise EventDataError(f"Counts of events must be 0 or more; got {self}.")

    def __add__(self, other: "Confusion") -> "Confusion":
        return Confusion(
            signal_kept=self.signal_kept + other.signal_kept,
            signal_dropped=self.signal_dropped + other.signal_dropped,
            noise_kept=self.noise_kept + other.noise_kept,
            noise_dropped=self.noise_dropped + other.noise_dropped,
        )

    @property
    def n_signal(self) -> int:
        """True signal events."""
        return self.signal_kept + self.signal_dropped

    @property
    def n_noise(self) -> int:
        """True noise events."""
        return self.noise_kept + self.noise_dropped

    @property
    def n_kept(self) -> int:
        """Events that were kept."""
        return self.signal_kept + self.noise_kept

    @property
    def retention(self) -> float:
        """Share of all events that were kept."""
        return _share(self.n_kept, self.n_signal + self.n_noise)

    @property
    def sensitivity(self) -> float:
        """Share of the signal that was kept: true positive rate, recall, signal retained."""
        return _share(self.signal_kept, self.n_signal)

    @property
    def specificity(self) -> float:
        """Share of the noise that was dropped: true negative rate, noise removed."""
        return _share(self.noise_dropped, self.n_noise)

    @property
    def precision(self) -> float:
        """Share of what was kept that is signal."""
        return _share(self.signal_kept, self.n_kept)

    @property
    def accuracy(self) -> float:
        """Share of right labels; says little where one class is much larger."""
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
        """Signal events kept per noise event kept; infinite without noise."""
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
        counts = {
            "signal_kept": self.signal_kept,
            "signal_dropped": self.signal_dropped,
            "noise_kept": self.noise_kept,
            "noise_dropped": self.noise_dropped,
        }
        return {**counts, **{name: getattr(self, name) for name in RATES}}


def confusion(signal: ArrayLike, truth: ArrayLike) -> Confusion:
    """Count the events of each kind that were kept and dropped.

    Parameters
    ----------
    signal : array_like of bool, shape (n,)
        What a method says; True = keep.
    truth : array_like of bool, shape (n,)
        True = signal.

    Examples
    --------
    >>> confusion([1, 1, 0, 0], [1, 0, 1, 0]).accuracy
    0.5
    """
    kept, true = as_labels(signal, truth)
    n_signal, n_kept = int(np.count_nonzero(true)), int(np.count_nonzero(kept))
    both = int(np.count_nonzero(kept & true))
    return Confusion(
        signal_kept=both,
        signal_dropped=n_signal - both,
        noise_kept=n_kept - both,
        noise_dropped=true.size - n_signal - n_kept + both,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
