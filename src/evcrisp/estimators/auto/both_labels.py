"""An estimate with two sets of labels: the best ones, and those by its motion alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from evcrisp.estimators.auto.event_evidence import Evidence
from evcrisp.estimators.result import Estimate


@dataclass(frozen=True, slots=True, eq=False)
class BothLabels:
    """Whether a motion explains a window is decided by the labels that it gives, not by the best ones."""

    final: Estimate  # with the labels of the evidence that separates best
    by_motion: Estimate  # with the labels by the motion; mostly the same object
    complete: "Callable[[], BothLabels] | None" = None  # of an estimate that was given up early

    @property
    def is_given_up(self) -> bool:
        """Whether this is a first motion, not refined, with the labels by it."""
        return self.complete is not None

    def completed(self) -> "BothLabels":
        """Return the whole estimate."""
        return self if self.complete is None else self.complete()

    @classmethod
    def of(cls, final: Estimate, evidence: Evidence) -> "BothLabels":
        """Return an estimate with the labels of its evidence, and with those by the motion."""
        if evidence.by_motion is evidence.labels:
            return cls(final, final)
        score, confidence, signal = evidence.by_motion
        by_motion = replace(final, score=score, confidence=confidence, signal=signal)
        return cls(replace(final, motion_signal=signal), by_motion)
