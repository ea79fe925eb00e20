"""Measure the quality of a recording, and of the labels of a filter."""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, EventDataError, Setting
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.types import Bools
from evcrisp.io.reading import opened
from evcrisp.io.recording import Recording
from evcrisp.metrics import Confusion, Quality, QualityMeter, confusion, random_chunks, rank_auc
from evcrisp.pipeline.labels_file import open_labels

#: Called with a title and a recording; the context yields a function to call with every chunk.
Progress = Callable[[str, Recording], AbstractContextManager[Callable[[Events], None]]]

Source = str | PathLike[str] | Recording


def no_progress(
    title: str, recording: Recording
) -> AbstractContextManager[Callable[[Events], None]]:
    """Report nothing."""
    return nullcontext(lambda chunk: None)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Measures of a recording, and of the raw events and a random control beside it.

    ``quality`` is by name: "recording"; or "cleaned", "raw" and "random". ``against_truth`` has
    counts and rates of the labels against the true ones, if these are known.
    """

    quality: dict[str, Quality]
    against_truth: dict[str, float] | None = None

    @property
    def retention(self) -> float:
        """Kept events divided by raw events; NaN without raw events."""
        raw, cleaned = self.quality.get("raw"), self.quality.get("cleaned")
        if raw is None or cleaned is None or not raw.n_events:
            return math.nan
        return cleaned.n_events / raw.n_events

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers; NaN for those that are undefined."""
        first = next(iter(self.quality.values()))
        facts: dict[str, Any] = {"slicing": first.esr.slicing}
        if "raw" in self.quality:
            facts["retention"] = self.retention
            reduction = self.quality["raw"].entropy_bits - first.entropy_bits
            facts["entropy_reduction_bits"] = reduction
        facts["quality"] = {name: quality.as_dict() for name, quality in self.quality.items()}
        facts["against_truth"] = self.against_truth
        return facts


def evaluate(
    recording: Source,
    raw: Source | None = None,
    labels: str | PathLike[str] | None = None,
    truth: str | PathLike[str] | None = None,
    *,
    slice_events: int | None = None,
    slice_us: int | None = None,
    measures_aocc: bool = True,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Evaluation:
    """Measure a recording, alone or against the raw events, in bounded memory.

    Parameters
    ----------
    recording : path or Recording
        The recording.
    raw : path or Recording, optional
        The recording from which ``recording`` was cleaned.
    labels : path, optional
        Instead of ``raw``: labels of the events of ``recording``, .npz with ``signal`` (and
        ``score``) or .npy. The events that they keep are measured.
    truth : path, optional
        True labels, for ``labels``. Default: those in the recording.
    slice_events, slice_us, measures_aocc
        As for :class:`evcrisp.metrics.QualityMeter`.
    seed : int
        Seed of the random control: as many raw events as are kept, drawn at random.
    progress : callable, optional
        Called with a title and a recording before each pass.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> events = evcrisp.simulate(resolution=(80, 60), noise_hz=5.0, seed=1).events
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = evcrisp.write(f"{folder}/a.npz", events)
    ...     _ = evcrisp.filter_recording(f"{folder}/a.npz", f"{folder}/b.npz")
    ...     result = evaluate(f"{folder}/b.npz", raw=f"{folder}/a.npz", slice_events=1000)
    >>> bool(result.quality["cleaned"].esr.esr > result.quality["random"].esr.esr)
    True
    """
    if raw is not None and labels is not None:
        raise ConfigError(
            "exclude each other",
            parameter=("raw", "labels"),
            remedy="A cleaned recording needs the raw one; a raw recording needs labels.",
        )
    if truth is not None and labels is None:
        raise ConfigError("needs labels to compare with", parameter="truth")
    if slice_events is not None and slice_us is not None:
        raise ConfigError("exclude each other", parameter=("slice_events", "slice_us"))
    slices = {"slice_events": slice_events, "slice_us": slice_us}
    settings = {name: value for name, value in slices.items() if value is not None}
    with ExitStack() as stack:
        measured = stack.enter_context(opened(recording))
        passes = _Passes({**settings, "measures_aocc": measures_aocc}, seed, progress)
        if labels is not None:
            true = None if truth is None else Path(truth)
            return passes.labeled(measured, Path(labels), true)
        if raw is None:
            return Evaluation({"recording": passes.measure(measured)})
        return passes.against_raw(measured, stack.enter_context(opened(raw)))


@dataclass(frozen=True, slots=True)
class _Passes:
    """Passes over recordings with the same settings."""

    settings: dict[str, Any]
    seed: int
    progress: Progress

    def measure(self, recording: Recording) -> Quality:
        """Measure one recording."""
        return self._measured(recording, self._chunks(recording, "Measuring"))

    def against_raw(self, recording: Recording, raw: Recording) -> Evaluation:
        """Measure a cleaned recording, the raw one, and a random part of that."""
        if recording.resolution != raw.resolution:
            raise EventDataError(
                f"{recording.path} and {raw.path} must be of one sensor; got "
                f"{recording.resolution} and {raw.resolution} px.",
                remedy=Setting("If a file does not state the sensor size, set it", "resolution"),
            )
        base = self._measured(raw, self._checked_raw(raw, recording))
        cleaned = self.measure(recording)
        if cleaned.n_events > base.n_events:
            raise EventDataError(
                f"{recording.path} has {counted(cleaned.n_events, 'event')}, more than {raw.path} "
                f"with {base.n_events:,}. {_WRONG_RAW}"
            )
        rates = None
        if cleaned.n_signal is not None and base.n_signal is not None:
            rates = _confusion_of(cleaned, base, cleaned.n_signal, base.n_signal).as_dict()
        return self._with_control(raw, cleaned, base, rates)

    def labeled(self, recording: Recording, labels: Path, truth: Path | None) -> Evaluation:
        """Measure the events that labels keep, all events, and a random part of them."""
        kept = QualityMeter(recording.resolution, **self.settings)
        whole = QualityMeter(recording.resolution, **self.settings)
        tally = _Tally()
        with ExitStack() as stack:
            given = stack.enter_context(open_labels(labels))
            true = None if truth is None else stack.enter_context(open_labels(truth))
            for chunk in self._chunks(recording, "Measuring"):
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
        rates = tally.rates(given.has_score)
        return self._with_control(recording, kept.quality(), whole.quality(), rates)

    def _with_control(
        self, raw: Recording, cleaned: Quality, base: Quality, rates: dict[str, float] | None
    ) -> Evaluation:
        chunks = self._chunks(raw, "Random control")
        control = random_chunks(chunks, cleaned.n_events, n_total=base.n_events, seed=self.seed)
        random = self._measured(raw, control)
        return Evaluation({"cleaned": cleaned, "raw": base, "random": random}, rates)

    def _measured(self, recording: Recording, chunks: Iterator[Events]) -> Quality:
        meter = QualityMeter(recording.resolution, **self.settings)
        for chunk in chunks:
            meter.add(chunk)
        return meter.quality()

    def _checked_raw(self, raw: Recording, cleaned: Recording) -> Iterator[Events]:
        """Yield the raw chunks; raise if the cleaned recording has an event that is missing there."""
        subset = Subset(cleaned.chunks())
        for chunk in self._chunks(raw, "Measuring"):
            _check_found(subset.add(chunk), cleaned, raw)
            yield chunk
        _check_found(subset.end(), cleaned, raw)

    def _chunks(self, recording: Recording, title: str) -> Iterator[Events]:
        with self.progress(title, recording) as advance:
            for chunk in recording.chunks():
                advance(chunk)
                yield chunk


_WRONG_RAW = "Give the recording that it was made from."


def _check_found(missing: tuple[int, int, int] | None, cleaned: Recording, raw: Recording) -> None:
    if missing is not None:
        t, x, y = missing
        raise EventDataError(
            f"{cleaned.path} has an event at {t} us, x={x}, y={y} that {raw.path} does not have. "
            f"{_WRONG_RAW}"
        )


@dataclass(slots=True)
class _Tally:
    """Counts of labels against true ones. Scores are kept, because ranks need all of them."""

    counts: Confusion | None = None
    scores: list[Any] = field(default_factory=list)
    truths: list[Bools] = field(default_factory=list)

    def add(self, signal: Bools, truth: Bools, score: Any) -> None:
        counts = confusion(signal, truth)
        self.counts = counts if self.counts is None else self.counts + counts
        if score is not None:
            self.scores.append(score)
            self.truths.append(truth)

    def rates(self, has_score: bool) -> dict[str, float] | None:
        if self.counts is None:
            return None
        if not has_score:
            return self.counts.as_dict()
        auc = rank_auc(np.concatenate(self.scores), np.concatenate(self.truths))
        return {**self.counts.as_dict(), "auc": auc}


def _confusion_of(cleaned: Quality, base: Quality, signal_kept: int, n_signal: int) -> Confusion:
    """Count outcomes from true labels before and after, if events were only deleted."""
    noise_kept, n_noise = cleaned.n_events - signal_kept, base.n_events - n_signal
    if signal_kept > n_signal or noise_kept > n_noise:
        raise EventDataError(
            f"The cleaned recording has {signal_kept:,} signal and {noise_kept:,} noise events, the "
            f"raw one {n_signal:,} and {n_noise:,}. Both need the true labels of the same events."
        )
    return Confusion(
        signal_kept=signal_kept,
        signal_dropped=n_signal - signal_kept,
        noise_kept=noise_kept,
        noise_dropped=n_noise - noise_kept,
    )


class Subset:
    """Search a recording, chunk by chunk, for the events of a part of it.

    The order of events with equal times, and the number of equal events, are not compared.

    >>> whole = Events(x=[0, 1, 2], y=[0, 0, 0], t=[5, 5, 9], p=[1, 1, 0], resolution=(8, 4))
    >>> subset = Subset(iter([whole[1:]]))
    >>> subset.add(whole), subset.end()
    (None, None)
    >>> subset = Subset(iter([whole]))
    >>> subset.add(whole[1:])
    (5, 0, 0)
    """

    def __init__(self, part: Iterator[Events]) -> None:
        self._part = part
        # Events of the last time, of which the next chunk can have more.
        self._whole: Events | None = None
        self._waiting: Events | None = None

    def add(self, chunk: Events) -> tuple[int, int, int] | None:
        """Add the next chunk of the whole; return (t, x, y) of an event that is missing in it."""
        if not len(chunk):
            return None
        known = chunk if self._whole is None else Events.concatenate((self._whole, chunk))
        until = int(known.t[-1])
        n_done = int(np.searchsorted(known.t, until))
        self._whole = known[n_done:]
        return self._compared(known[:n_done], until) if n_done else None

    def end(self) -> tuple[int, int, int] | None:
        """Compare the remaining events; return (t, x, y) of a missing event."""
        return self._compared(self._whole, None)

    def _compared(self, known: Events | None, until: int | None) -> tuple[int, int, int] | None:
        """Search the known events for the events of the part before ``until``."""
        while (part := self._next(until)) is not None:
            missing = _first_missing(part, part[:0] if known is None else known)
            if missing is not None:
                return missing
        return None

    def _next(self, until: int | None) -> Events | None:
        """Return the next events of the part before ``until``; None if there are none."""
        part = self._waiting
        while part is None or not len(part):
            part = next(self._part, None)
            if part is None:
                self._waiting = None
                return None
        n = len(part) if until is None else int(np.searchsorted(part.t, until))
        self._waiting = part[n:]
        return part[:n] if n else None


def _first_missing(part: Events, known: Events) -> tuple[int, int, int] | None:
    """Return (t, x, y) of the first event of a part that is not known."""
    is_new = np.diff(known.t, prepend=known.t[:1] - 1) != 0
    times = known.t[is_new]
    place, is_known = _found(times, part.t)
    # The keys are nearly sorted, for which the stable sort is fast.
    keys = np.sort(_keys(known, np.cumsum(is_new) - 1), kind="stable")
    is_known &= _found(keys, _keys(part, place))[1]
    if is_known.all():
        return None
    k = int(np.argmin(is_known))
    return int(part.t[k]), int(part.x[k]), int(part.y[k])


def _found(
    table: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.integer], NDArray[np.bool_]]:
    """Return the positions of values in a sorted table, and whether they are in it."""
    place = np.searchsorted(table, values)
    if not table.size:
        return place, np.zeros(values.size, np.bool_)
    return place, table[np.minimum(place, table.size - 1)] == values


def _keys(events: Events, place: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return a number per event; the rank of the time, since time and pixel overflow int64."""
    pixel = events.y.astype(np.int64) * events.width + events.x
    return (place.astype(np.int64) * (events.width * events.height) + pixel) * 2 + events.p
