"""The passes over recordings and labels behind ``evcrisp evaluate``."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.io.recording import Recording
from evcrisp.metrics import Confusion, Quality, QualityMeter, confusion, random_chunks, rank_auc
from evcrisp.pipeline.labels_file import open_labels
from evcrisp.pipeline.subset import Subset

#: Called with a title and a recording; the context yields a function to call with every chunk.
Progress = Callable[[str, Recording], AbstractContextManager[Callable[[Events], None]]]


def no_progress(
    title: str, recording: Recording
) -> AbstractContextManager[Callable[[Events], None]]:
    """Report nothing."""
    return nullcontext(lambda chunk: None)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What is known after all passes."""

    columns: dict[str, Quality]  # what was measured, by name
    labels: dict[str, float] | None = None  # against the truth, where that is known


def evaluate_alone(
    recording: Recording, settings: dict[str, Any], progress: Progress = no_progress
) -> Evaluation:
    """Measure one recording."""
    measured = _measure(_chunks(recording, "Measuring", progress), recording, settings)
    return Evaluation({"recording": measured})


def evaluate_beside(
    recording: Recording,
    raw: Recording,
    settings: dict[str, Any],
    seed: int,
    progress: Progress = no_progress,
) -> Evaluation:
    """Measure a cleaned recording, what it was made from, and a random part of that."""
    if recording.resolution != raw.resolution:
        raise EventDataError(
            f"{recording.path} and {raw.path} must be of one sensor; got {recording.resolution} and "
            f"{raw.resolution} px. Give --resolution WxH if a file does not state it."
        )
    base = _measure(_with_all_of(raw, recording, progress), raw, settings)
    cleaned = _measure(_chunks(recording, "Measuring", progress), recording, settings)
    labels = None
    if cleaned.n_events > base.n_events:
        raise EventDataError(
            f"{recording.path} has {counted(cleaned.n_events, 'event')}, more than {raw.path} with "
            f"{base.n_events:,}. Give the recording that it was made from."
        )
    if cleaned.n_signal is not None and base.n_signal is not None:
        labels = _confusion_of(cleaned, base, cleaned.n_signal, base.n_signal).as_dict()
    return Evaluation(_beside_random(raw, cleaned, base, settings, seed, progress), labels)


def evaluate_labels(
    recording: Recording,
    labels: Path,
    truth: Path | None,
    settings: dict[str, Any],
    seed: int,
    progress: Progress = no_progress,
) -> Evaluation:
    """Measure what labels keep of a recording, the recording, and a random part of it."""
    kept = QualityMeter(recording.resolution, **settings)
    whole = QualityMeter(recording.resolution, **settings)
    tally = _Tally()
    with ExitStack() as stack:
        given = stack.enter_context(open_labels(labels))
        true = None if truth is None else stack.enter_context(open_labels(truth))
        for chunk in _chunks(recording, "Measuring", progress):
            signal, score = given.take(len(chunk))
            if true is not None:
                chunk = chunk.with_signal(true.take(len(chunk))[0])
            whole.add(chunk)
            kept.add(chunk[signal])
            if chunk.signal is not None:
                tally.add(signal, chunk.signal, score)
        for file in (given, true):
            if file is not None:
                file.check_end()
    cleaned, base = kept.quality(), whole.quality()
    return Evaluation(
        _beside_random(recording, cleaned, base, settings, seed, progress),
        tally.result(given.has_score),
    )


@dataclass(slots=True)
class _Tally:
    """Labels against the truth, chunk by chunk; scores are kept, since ranks need them all."""

    counts: Confusion | None = None
    scores: list[NDArray[Any]] = field(default_factory=list)
    truths: list[NDArray[np.bool_]] = field(default_factory=list)

    def add(
        self, signal: NDArray[np.bool_], truth: NDArray[np.bool_], score: NDArray[Any] | None
    ) -> None:
        counts = confusion(signal, truth)
        self.counts = counts if self.counts is None else self.counts + counts
        if score is not None:
            self.scores.append(score)
            self.truths.append(truth)

    def result(self, has_score: bool) -> dict[str, float] | None:
        if self.counts is None:
            return None
        if not has_score:
            return self.counts.as_dict()
        auc = rank_auc(np.concatenate(self.scores), np.concatenate(self.truths))
        return {**self.counts.as_dict(), "auc": auc}


def _measure(chunks: Iterator[Events], recording: Recording, settings: dict[str, Any]) -> Quality:
    meter = QualityMeter(recording.resolution, **settings)
    for chunk in chunks:
        meter.add(chunk)
    return meter.quality()


def _with_all_of(raw: Recording, cleaned: Recording, progress: Progress) -> Iterator[Events]:
    """Yield the raw chunks; raise as soon as the cleaned recording has an event that is not there."""
    subset = Subset(cleaned.chunks())
    for chunk in _chunks(raw, "Measuring", progress):
        _refuse_stranger(subset.add(chunk), cleaned, raw)
        yield chunk
    _refuse_stranger(subset.end(), cleaned, raw)


def _refuse_stranger(
    stranger: tuple[int, int, int] | None, cleaned: Recording, raw: Recording
) -> None:
    if stranger is not None:
        t, x, y = stranger
        raise EventDataError(
            f"{cleaned.path} has an event at {t} us, x={x}, y={y} that {raw.path} does not have. "
            "Give the recording that it was made from."
        )


def _beside_random(
    raw: Recording,
    cleaned: Quality,
    base: Quality,
    settings: dict[str, Any],
    seed: int,
    progress: Progress,
) -> dict[str, Quality]:
    meter = QualityMeter(raw.resolution, **settings)
    chunks = _chunks(raw, "Random control", progress)
    for chunk in random_chunks(chunks, cleaned.n_events, n_total=base.n_events, seed=seed):
        meter.add(chunk)
    return {"cleaned": cleaned, "raw": base, "random": meter.quality()}


def _confusion_of(cleaned: Quality, base: Quality, signal_kept: int, n_signal: int) -> Confusion:
    """Compare true labels before and after, given that nothing but deletion happened."""
    noise_kept, n_noise = cleaned.n_events - signal_kept, base.n_events - n_signal
    if signal_kept > n_signal or noise_kept > n_noise:
        raise EventDataError(
            f"The cleaned recording has {signal_kept:,} signal and {noise_kept:,} noise events, the "
            f"raw one {n_signal:,} and {n_noise:,}. Their labels must be the truth of the same events."
        )
    return Confusion(
        signal_kept=signal_kept,
        signal_dropped=n_signal - signal_kept,
        noise_kept=noise_kept,
        noise_dropped=n_noise - noise_kept,
    )


def _chunks(recording: Recording, title: str, progress: Progress) -> Iterator[Events]:
    with progress(title, recording) as advance:
        for chunk in recording.chunks():
            advance(chunk)
            yield chunk
