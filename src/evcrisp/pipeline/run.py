"""Run a method over a recording and put the results into a folder."""

import csv
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import evcrisp
from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.estimators.joint.problem import RegretConfig
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate
from evcrisp.io.arrays.npz_packer import NpzPacker
from evcrisp.io.atomic_output import naming, refuse_inputs, replacing
from evcrisp.io.recording import Recording
from evcrisp.io.registry import READERS, WRITERS
from evcrisp.io.writing import fill
from evcrisp.motion import MOTION_MODELS, MotionModel
from evcrisp.pipeline.label_merging import LabeledChunk, vote
from evcrisp.pipeline.tracking import Windows, track


@dataclass(slots=True)
class Stop:
    """A wish to end a run early. Windows that are finished by then are kept, and written whole.

    `ask` may be called from the handler of a signal: it interrupts reading and estimating, but never
    the writing of a window, unless it is called again. `has_cut` says whether windows are missing.
    """

    is_asked: bool = False
    has_cut: bool = False
    _is_writing: bool = False

    def ask(self) -> None:
        """Ask for the end; a second time, insist."""
        insists, self.is_asked = self.is_asked, True
        if insists or not self._is_writing:
            raise KeyboardInterrupt

    def until(self, estimates: Iterator[Estimate]) -> Iterator[Estimate]:
        """Yield estimates until the end is asked for; who takes one writes it down."""
        estimate: Estimate | None = None
        while not self.has_cut:
            try:
                self._is_writing = False
                estimate = None if self.is_asked else next(estimates, None)
                self.has_cut = self.is_asked
            except KeyboardInterrupt:
                self.is_asked = self.has_cut = True
                return
            finally:
                self._is_writing = True
            if estimate is None:
                return
            yield estimate


class _NamedFile:
    """A text file that complains with its name: several are open at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with naming(path):
            self.file = path.open("w", encoding="utf-8", newline="")

    def write(self, text: str) -> None:
        with naming(self.path):
            self.file.write(text)

    def close(self) -> None:
        with naming(self.path):
            self.file.close()


@dataclass(slots=True)
class _Journal:
    """What is noted on the way: a line of motion per window, labels per event, counts."""

    labels: NpzPacker
    motion: Any  # a csv writer
    n_events: int = 0
    n_kept: int = 0
    n_windows: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)

    def note_model(self, model: type[MotionModel]) -> None:
        names = zip(model.param_names, model.param_units, strict=True)
        columns = ("t_start_us", "t_end_us", "n_events", "n_signal", "status")
        parameters = (f"{name} [{unit}]" for name, unit in names)
        self.motion.writerow([*columns, *parameters, "warnings"])

    def note_window(self, result: Estimate) -> Estimate:
        self.n_windows += 1
        self.statuses[result.status.name.lower()] += 1
        self.warnings.update(result.warnings)
        window = result.window
        row = [
            window.t_start,
            window.t_end,
            len(result),
            int(result.signal.sum()),
            result.status.name.lower(),
        ]
        # What was not found is no motion of zero.
        theta = result.theta if result.status.has_motion else np.full_like(result.theta, np.nan)
        numbers = (repr(float(value)) for value in theta)
        # Not every reader of such files knows that a comma may stand in quotes.
        doubts = " | ".join(result.warnings).replace(",", ";")
        self.motion.writerow([*row, *numbers, doubts])
        return result

    def note_labels(self, chunk: LabeledChunk) -> Events:
        signal = chunk.events.signal
        signal = np.ones(len(chunk.events), np.bool_) if signal is None else signal
        self.labels.append(
            {
                "signal": signal,
                "score": chunk.score.astype(np.float32),
                "confidence": chunk.confidence.astype(np.float32),
            }
        )
        self.n_events += len(chunk.events)
        self.n_kept += int(signal.sum())
        truth = None if chunk.truth is None else chunk.truth[signal]
        return chunk.events[signal].with_signal(truth)


def run_to_folder(
    recording: Recording,
    folder: Path,
    *,
    method: str = "auto",
    motion: str = "translation",
    camera: Camera | None = None,
    windows: Windows | None = None,
    overwrite: bool = False,
    on_chunk: Callable[[Events], None] | None = None,
    stop: Stop | None = None,
    **params: Any,
) -> dict[str, Any]:
    """Track a recording, write what comes out, and return the summary.

    Parameters
    ----------
    recording : Recording
        Streamed once; memory stays bounded by the windows.
    folder : Path
        Made if it does not exist. Gets the cleaned recording, ``labels.npz``, ``motion.csv`` and
        ``summary.json``, each complete or not at all. Windows in which no motion could be told have
        NaN in ``motion.csv``; its last column holds what was doubted. Events that came with labels
        keep them.
    method, motion, camera, windows, **params
        As for :func:`evcrisp.track`.
    overwrite : bool
        Replace results that are there, unless they are those of another recording.
    on_chunk : callable, optional
        Called with every chunk of cleaned events, for progress.
    stop : Stop, optional
        Ends the run early. What was finished is written then, and the summary says so; unless there
        are results already, which stay as they are.

    Raises
    ------
    ConfigError
        If a name is unknown, a setting cannot be, or the folder holds results of another recording.
    KeyboardInterrupt
        If the run was ended early and nothing was written.
    """
    start = time.perf_counter()
    writer = WRITERS[recording.format if recording.format in WRITERS else "npz"]()
    clean = folder / f"{_stem(recording)}.clean{writer.suffixes[0]}"
    # The summary appears last: where it is, the other files belong to it.
    names = ("summary.json", "motion.csv", "labels.npz", clean.name)
    has_results = _has_results(folder, names, recording, overwrite=overwrite)
    stop = Stop() if stop is None else stop
    windows = Windows() if windows is None else windows
    estimator = build(ESTIMATORS, method, "method", **params)
    estimates = track(recording, method, motion, camera=camera, windows=windows, **params)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        summary_path, motion_path, labels_path, clean_path = (
            stack.enter_context(replacing(folder / name, overwrite=overwrite)) for name in names
        )
        packer = NpzPacker(labels_path)
        stack.callback(packer.remove)
        lines = stack.enter_context(closing(_NamedFile(motion_path)))
        journal = _Journal(packer, csv.writer(lines, lineterminator="\n"))
        journal.note_model(MOTION_MODELS[motion])
        cleaned = _cleaned(stop.until(estimates), journal, recording.resolution)
        fill(clean_path, writer, cleaned, extras_from=recording, on_chunk=on_chunk)
        packer.pack({})
        if stop.has_cut and (has_results or not journal.n_windows):
            raise KeyboardInterrupt
        lines.close()
        summary = {
            **_input_facts(recording, clean),
            "method": method,
            "motion": motion,
            "config": _plain(estimator),
            "windows": windows.facts(),
            "camera": _plain(camera),
            **_counts(recording, journal),
            "stopped": stop.has_cut,
        }
        _write_text(summary_path, json.dumps(summary, indent=2) + "\n")
    # Not in the file: the same input gives the same bytes.
    return {**summary, "elapsed_s": round(time.perf_counter() - start, 3)}


def _input_facts(recording: Recording, clean: Path) -> dict[str, Any]:
    return {
        "evcrisp": evcrisp.__version__,
        "input": _name(recording),
        "format": recording.format,
        "output": clean.name,
        "resolution": recording.resolution,
    }


def _write_text(path: Path, text: str) -> None:
    # Without its name, a complaint would be taken for one about the recording, the innermost file.
    with naming(path):
        path.write_text(text)


def _name(recording: Recording) -> str:
    return recording.path.name or recording.path.absolute().name  # of the folder "."


def _stem(recording: Recording) -> str:
    """Return the name of a recording without the ending of its format; other dots stay."""
    name = _name(recording)
    endings = READERS[recording.format].suffixes if recording.format in READERS else ()
    for ending in sorted(endings, key=len, reverse=True):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return Path(name).stem or "recording"


def _cleaned(
    estimates: Iterator[Estimate], journal: _Journal, resolution: tuple[int, int]
) -> Iterator[Events]:
    for chunk in vote(journal.note_window(result) for result in estimates):
        yield journal.note_labels(chunk)
    if not journal.labels.names:
        yield journal.note_labels(LabeledChunk(Events.empty(resolution), np.zeros(0), np.zeros(0)))


def _has_results(
    folder: Path, names: tuple[str, ...], recording: Recording, *, overwrite: bool
) -> bool:
    """Tell whether files are there already; raise if they must not be replaced, the summary first."""
    for name in names:
        refuse_inputs(folder / name, recording.path)
    if overwrite:
        _refuse_others(folder / names[0], recording)
    return any((folder / name).exists() for name in names)


def _refuse_others(summary_path: Path, recording: Recording) -> None:
    """Raise if there are results of another recording: what is not replaced would be mixed with them."""
    try:
        name = json.loads(summary_path.read_text())["input"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # none, or none that could be told
    if name != _name(recording):
        raise ConfigError(
            f"{summary_path.parent} holds the results of {name}, not of {_name(recording)}. "
            "Choose another folder, or remove this one."
        )


def _plain(config: Any) -> Any:
    """Return a configuration as JSON can hold it, with defaults that depend on what was given."""
    if not is_dataclass(config):
        return None
    facts = config.forms() if isinstance(config, RegretConfig) else {}
    return json.loads(json.dumps({**asdict(config), **facts}, default=str))


def _counts(recording: Recording, journal: _Journal) -> dict[str, Any]:
    damage = recording.damage
    return {
        "n_events": journal.n_events,
        "n_kept": journal.n_kept,
        "n_windows": journal.n_windows,
        "statuses": dict(sorted(journal.statuses.items())),
        "warnings": dict(sorted(journal.warnings.items())),
        "damage": None if damage is None else damage.kept(),
    }
