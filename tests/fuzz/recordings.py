"""Read damaged recordings and check the promises: prefix, same events at each read, own errors."""

import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
from tests.fuzz.mutations import damage
from tests.fuzz.samples import Files, Sample, all_samples

import evcrisp
from evcrisp import Events

#: Larger than any coordinate, so that no event lies outside the sensor.
SIZE = (65_536, 65_536)


class Wrong(AssertionError):  # noqa: N818 - a finding
    """A promise is broken."""


def is_prefix(part: Events, whole: Events) -> bool:
    """Return whether events are the first ones of others."""
    n = len(part)
    names = ("x", "y", "t", "p")
    return n <= len(whole) and all(
        np.array_equal(getattr(part, name), getattr(whole, name)[:n]) for name in names
    )


class DamagedRecordings:
    """Damaged copies of the samples of one reader, by number."""

    def __init__(self, reader: str, folder: Path | None = None) -> None:
        self._reader = reader
        shared = Path("/dev/shm")
        place = shared if folder is None and shared.is_dir() else folder
        self._folder = tempfile.TemporaryDirectory(dir=place)
        self._path = Path(self._folder.name)
        self._there: Files = {}
        self._known: dict[str, _Known] = {}

    @cached_property
    def samples(self) -> list[Sample]:
        """The samples of the reader."""
        return all_samples(self._reader)

    def prepare(self) -> None:
        """Read all samples, which compiles kernels and finds the events before each byte."""
        for sample in self.samples:
            self._known_of(sample)

    def file_bytes(self) -> int:
        """Return the size of the last damaged copy."""
        return sum(map(len, self._there.values()))

    def files(self, rng: np.random.Generator) -> tuple[Sample, str, str, int, Files]:
        """Return (sample, name of the damaged file, kind, first changed byte, files)."""
        sample = self.samples[int(rng.integers(len(self.samples)))]
        names = list(sample.files)
        name = names[int(rng.integers(len(names)))]
        others = [data for other in self.samples for data in other.files.values()]
        change = damage(rng, sample.files[name], others)
        files = {**sample.files, name: change.data}
        return sample, name, change.kind, change.first, files

    def run(self, rng: np.random.Generator) -> str:
        """Damage a copy and read it; return what came of it, or raise."""
        sample, name, kind, first, files = self.files(rng)
        path = self._placed(sample, sample.pack(files))
        kept, failure = read_kept(path, sample.reader)
        n_kept = 0 if kept is None else len(kept)
        known = self._known_of(sample)
        n_safe = known.n_safe(name, first)
        if n_kept < n_safe or (kept is not None and not is_prefix(known.whole[:n_safe], kept)):
            raise Wrong(f"{kind}: kept {n_kept} events, {n_safe} stood before the damage")
        way = int(rng.integers(4))
        if way == 0 and sample.is_repeatable:
            self._check_strict(path, sample, kept, failure)
        elif way == 1:
            _check_part(path, sample.reader, known.whole)
        elif way == 2:
            _check_detected(path)
        elif sample.is_repeatable:
            self._check_again(path, sample, kept)
        return "read" if failure is None else "kept" if n_kept else "refused"

    def _check_strict(
        self, path: Path, sample: Sample, kept: Events | None, failure: Exception | None
    ) -> None:
        """Check that `read` with errors gives the same events, or the same error."""
        try:
            events = evcrisp.read(path, format=sample.reader, resolution=SIZE)
        except evcrisp.FormatError as error:
            n = 0 if kept is None else len(kept)
            if error.n_before > n:
                raise Wrong(f"truncate kept {n} events of {error.n_before}") from error
            if failure is None:
                raise Wrong(f"refused although it was read: {error}") from error
        else:
            if kept is None or not (len(events) == len(kept) and is_prefix(events, kept)):
                raise Wrong("read() and chunks() give other events")

    def _check_again(self, path: Path, sample: Sample, kept: Events | None) -> None:
        again, _ = read_kept(path, sample.reader)
        if (kept is None) != (again is None):
            raise Wrong("read at one time, refused at another")
        if kept is None or again is None:
            return
        if len(again) != len(kept) or not is_prefix(again, kept):
            raise Wrong("another read gives other events")

    def _known_of(self, sample: Sample) -> "_Known":
        if sample.name not in self._known:
            there = dict(self._there)
            self._known[sample.name] = _Known(self, sample)
            self._put(there)
        return self._known[sample.name]

    def _placed(self, sample: Sample, files: Files) -> Path:
        self._put(files)
        return self._path / sample.entry

    def _put(self, files: Files) -> None:
        """Write files; remove others."""
        for name in self._there:
            if name not in files:
                (self._path / name).unlink()
        for name, data in files.items():
            path = self._path / name
            if name not in self._there:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self._there = dict(files)

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()


class _Known:
    """Events of an intact sample, and how many of them stand before a byte."""

    def __init__(self, place: DamagedRecordings, sample: Sample) -> None:
        path = place._placed(sample, sample.pack(sample.files))
        whole, failure = read_kept(path, sample.reader)
        if whole is None or failure is not None or len(whole) == 0:
            raise Wrong(f"the intact sample {sample.name} is not read: {failure}")
        self.whole, self._unit = whole, sample.unit
        self._n_at: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for name, data in sample.files.items():
            cuts = np.unique(np.linspace(0, len(data), sample.n_cuts + 1).astype(int))
            counts = []
            for cut in cuts[:-1]:
                files = {**sample.files, name: data[:cut]}
                kept, _ = read_kept(place._placed(sample, sample.pack(files)), sample.reader)
                if kept is not None and not is_prefix(kept, whole):
                    raise Wrong(f"cut of {sample.name} at {cut}: the events are not the first ones")
                counts.append(0 if kept is None else len(kept))
            self._n_at[name] = cuts[:-1], np.minimum.accumulate(counts[::-1])[::-1]

    def n_safe(self, name: str, first: int) -> int:
        """Return the number of events that a file cut before byte ``first`` keeps."""
        cuts, counts = self._n_at[name]
        # Strictly before: the end of a line, which tells that a number is complete, must stand.
        index = int(np.searchsorted(cuts, first, side="left")) - 1
        return int(counts[index]) // self._unit * self._unit if index >= 0 else 0


def read_kept(path: Path, reader: str) -> tuple[Events | None, Exception | None]:
    """Return the events before the damage and the error; errors that are not ours are raised."""
    try:
        with evcrisp.open(path, on_error="truncate", format=reader, resolution=SIZE) as opened:
            events = Events.concatenate([Events.empty(SIZE), *opened.chunks()])
            failure = opened.damage
            opened.imu(), opened.triggers(), sum(1 for _ in opened.frames())
            str(opened.metadata), opened.streams
            return events, failure
    except evcrisp.FormatError as error:
        return None, error


def _check_part(path: Path, reader: str, whole: Events) -> None:
    """Check that all events of the second half have a time in it; a wrong first event moves it."""
    start_us = whole.duration_us // 2
    options = {"format": reader, "resolution": SIZE, "start_us": start_us}
    try:
        with evcrisp.open(path, on_error="truncate", duration_us=start_us, **options) as opened:
            events = opened.read()
            n_chunks = sum(map(len, opened.chunks(1000)))
            opened.imu(), opened.triggers(), sum(1 for _ in opened.frames())
    except (evcrisp.FormatError, evcrisp.EventDataError):
        return
    if n_chunks != len(events) or events.duration_us > start_us:
        raise Wrong("a part has events outside of it, or other events in chunks")


def _check_detected(path: Path) -> None:
    """Check that detection and a guess of the sensor size raise our errors only."""
    with suppress(evcrisp.FormatError, evcrisp.EventDataError, evcrisp.MissingExtraError):
        evcrisp.read(path)
