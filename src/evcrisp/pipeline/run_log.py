"""Files of a run beside the cleaned recording: labels, motion and summary."""

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evcrisp
from evcrisp.core.errors import ConfigError
from evcrisp.core.live_area import LiveAreaCounter
from evcrisp.core.types import Floats
from evcrisp.estimators.contrast_gain import contrast_gain
from evcrisp.estimators.layers.identities import Identities
from evcrisp.estimators.result import Estimate
from evcrisp.io.atomic_output import naming, refuse_inputs
from evcrisp.io.header_facts import utc_time
from evcrisp.io.reading import live_area_facts
from evcrisp.io.recording import Recording
from evcrisp.io.registry import READERS
from evcrisp.motion import MotionModel
from evcrisp.motion.open_motion import is_open
from evcrisp.motion.velocity import velocity_of
from evcrisp.pipeline.label_merging import LabeledChunk
from evcrisp.pipeline.window_objects import WindowObjects, codes_of, whole_layer

#: Last columns of a window: whether its motion is reliable (1 or 0), codes of the doubts, misfit, and the
#: same in words.
_DOUBT_COLUMNS = ("reliable", "doubts", "misfit", "warnings")

_WINDOW_COLUMNS = ("t_start_us", "t_end_us", "n_events", "n_signal", "status")

#: Columns of a motion whose model was found: the model, and the number of layers.
_FOUND_COLUMNS = ("motion", "n_layers")

#: Columns of a window: contrast aligned over unaligned, reference time in the clock of the recording, and
#: the same as a date if that clock has Unix time.
_MEASURE_COLUMNS = ("contrast_gain", "t_ref_us", "t_ref_utc")

#: Columns of layers.csv: window, identity, layer, box, velocity at its middle, and change of the velocity.
LAYER_COLUMNS = (
    "window", "t_start_us", "t_end_us", "id", "layer", "n_events", "left [px]", "top [px]", "width [px]",
    "height [px]", "vx [px/s]", "vy [px/s]", "a11 [1/s]", "a12 [1/s]", "a21 [1/s]", "a22 [1/s]",
    "vx_std [px/s]", "vy_std [px/s]", "doubts",
)  # fmt: skip

#: Format of the box of an object, and its numbers.
_OBJECT_CELLS = 12 * "%.6g,"


class TableFile:
    """Writes a CSV file row by row. Errors carry the name of the file."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        with naming(path):
            self._file = path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self, lineterminator="\n")
        self._rows.writerow(columns)

    def write_row(self, row: Iterable[object]) -> None:
        """Append a row."""
        self._rows.writerow(row)

    def write(self, text: str) -> None:
        """Append text; called by the CSV writer."""
        with naming(self.path):
            self._file.write(text)

    def close(self) -> None:
        """Close the file."""
        with naming(self.path):
            self._file.close()


class MotionFile(TableFile):
    """Writes motion.csv: one row per window."""

    def __init__(self, path: Path, model: MotionModel) -> None:
        self._model = model
        names = zip(model.param_names, model.param_units, strict=True)
        names = [(name, unit) for name, unit in names]
        parameters = [f"{name} [{unit}]" for name, unit in names]
        deviations = [f"{name}_std [{unit}]" for name, unit in names]
        found = _FOUND_COLUMNS if is_open(model) else ()
        numbers = [*parameters, *deviations, *_covariance_columns(names)]
        columns = [*_WINDOW_COLUMNS, *found, *numbers, *_MEASURE_COLUMNS, *_DOUBT_COLUMNS]
        super().__init__(path, columns)

    def write_window(self, result: Estimate) -> None:
        """Append a row; a motion that was not found is NaN, and so is an unknown deviation."""
        window, status = result.window, result.status
        theta = result.parameters(self._model)
        theta = theta if status.has_motion else np.full_like(theta, np.nan)
        covariance = result.parameters_covariance(self._model)
        covariance = covariance if status.has_motion else np.full_like(covariance, np.nan)
        spread = [*np.sqrt(np.diag(covariance)), *covariance[_upper(theta.size)]]
        numbers = [repr(float(value)) for value in theta] + [f"{value:.6g}" for value in spread]
        # No commas: not every reader of CSV files understands quotes.
        warnings = " | ".join(result.warnings).replace(",", ";")
        counts = len(result), int(np.count_nonzero(result.signal))
        row = (window.t_start, window.t_end, *counts, status.name.lower())
        found = (result.motion.name, len(result.layer_motions)) if is_open(self._model) else ()
        measures = (f"{contrast_gain(result):.6g}", window.t_ref, utc_time(window.t_ref) or "")
        self.write_row([*row, *found, *numbers, *measures, *_doubt_cells(result), warnings])


@lru_cache(maxsize=8)
def _upper(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the entries of a symmetric matrix that differ."""
    return np.triu_indices(n)


def _covariance_columns(names: Sequence[tuple[str, str]]) -> list[str]:
    """Return the names of all entries of a covariance that differ, row by row.

    >>> _covariance_columns([("vx", "px/s"), ("w", "1/s")])
    ['cov(vx vx) [px/s px/s]', 'cov(vx w) [px/s 1/s]', 'cov(w w) [1/s 1/s]']
    """
    return [
        f"cov({name} {other}) [{unit} {other_unit}]"
        for k, (name, unit) in enumerate(names)
        for other, other_unit in names[k:]
    ]


class LayersFile(TableFile):
    """Writes layers.csv: one row per window and object, which is a connected region of a layer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, LAYER_COLUMNS)
        self._identities = Identities()
        self._n_windows = 0

    def write_window(self, window: WindowObjects) -> None:
        """Append the objects of a window, with numbers that stay."""
        numbers: list[int] = []
        if window.has_motion:
            numbers = self._identities.assign(window.objects, window.t_ref)
        start = f"{self._n_windows},{window.t_start},{window.t_end}"
        # All rows at once, and without a CSV writer: no cell needs quotes.
        self.write("".join(
            f"{start},{number},{thing.index},{thing.n_events},{_OBJECT_CELLS % thing.cells}{thing.doubts}\n"
            for number, thing in zip(numbers, window.objects, strict=True)
        ))  # fmt: skip
        self._n_windows += 1


def _doubt_cells(result: Estimate) -> tuple[object, ...]:
    return int(result.reliable), codes_of(result.doubts), f"{result.misfit:.4g}"


#: Attributes of `RunLog` that are added when pieces are joined.
_SUMS = ("n_events", "n_kept", "n_windows", "n_reliable")
_COUNTERS = ("models", "statuses", "warnings", "doubts")


class RunLog:
    """Counts of a run, for its summary."""

    def __init__(self, model: MotionModel) -> None:
        self.n_events = self.n_kept = self.n_windows = 0
        self._model = model
        self.models: Counter[str] = Counter()
        self.layers: Counter[int] = Counter()
        self._lengths_us = _Range()
        self._ranges: dict[str, _Range] = {}
        self._reliable_ranges: dict[str, _Range] = {}
        self.statuses: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self._live = LiveAreaCounter()
        self.doubts: Counter[str] = Counter()
        self.n_reliable = 0

    def add_window(self, result: Estimate) -> None:
        """Count a window, its status and its warnings."""
        self.n_windows += 1
        self.statuses[result.status.name.lower()] += 1
        self.warnings.update(result.warnings)
        self.doubts.update(doubt.code for doubt in result.doubts)
        self.n_reliable += result.reliable
        self._lengths_us.add(result.window.t_end - result.window.t_start)
        if result.status.has_motion:
            self.models[result.motion.name] += 1
            self.layers[len(result.layer_motions)] += 1
            for name, value, is_reliable in _motion_values(result, self._model):
                self._ranges.setdefault(name, _Range()).add(value)
                if is_reliable:
                    self._reliable_ranges.setdefault(name, _Range()).add(value)

    def add_labels(self, chunk: LabeledChunk) -> None:
        """Count events and kept events."""
        from evcrisp.kernels.auto.live_area import count_lines

        events = chunk.events.contiguous()
        columns, rows = (np.zeros(side, np.int64) for side in events.resolution)
        count_lines(events.x, events.y, columns, rows)
        self._live.add_lines(columns, rows)
        self.n_events += len(events)
        self.n_kept += int(np.count_nonzero(chunk.signal))

    def state(self) -> dict[str, Any]:
        """Return all counts as JSON types, for `merge`."""
        counters = {name: dict(getattr(self, name)) for name in _COUNTERS}
        return {
            **{name: getattr(self, name) for name in _SUMS},
            **counters,
            "layers": [[n, count] for n, count in self.layers.items()],
            "lengths_us": self._lengths_us.ends(),
            "ranges": {name: seen.ends() for name, seen in self._ranges.items()},
            "reliable_ranges": {name: seen.ends() for name, seen in self._reliable_ranges.items()},
            "live": self._live.counts(),
        }

    def merge(self, state: Mapping[str, Any]) -> None:
        """Add the counts of the next piece of the recording."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + state[name])
        for name in _COUNTERS:
            getattr(self, name).update(state[name])
        self.layers.update(dict(map(tuple, state["layers"])))
        self._lengths_us.merge(state["lengths_us"])
        for ranges, seen in (("ranges", self._ranges), ("reliable_ranges", self._reliable_ranges)):
            for name, ends in state[ranges].items():
                seen.setdefault(name, _Range()).merge(ends)
        self._live.merge(*state["live"])

    def live_area_advice(self) -> str | None:
        """Return what to do if large parts of the sensor have no events."""
        area = self._live.area()
        return area.advice() if self.n_events and area.is_small else None

    def counts(self, recording: Recording) -> dict[str, Any]:
        """Return the counts as JSON types."""
        damage = recording.damage
        return {
            "live_area": live_area_facts(self._live.area()) if self.n_events else None,
            "n_events": self.n_events,
            "n_kept": self.n_kept,
            "n_windows": self.n_windows,
            "window_length_us": self._lengths_us.ends(),
            "motion_range": _all_ends(self._ranges),
            "reliable_motion_range": _all_ends(self._reliable_ranges),
            "models": dict(sorted(self.models.items())),
            "layers": {str(n): count for n, count in sorted(self.layers.items())},
            "statuses": dict(sorted(self.statuses.items())),
            "n_reliable": self.n_reliable,
            "doubts": dict(sorted(self.doubts.items())),
            "warnings": dict(sorted(self.warnings.items())),
            "damage": None if damage is None else damage.kept(),
        }


def _motion_values(result: Estimate, model: MotionModel) -> Iterator[tuple[str, float, bool]]:
    """Yield the parameters of a window by name and unit; of an open motion, velocities of layers.

    The third value is whether they are reliable.
    """
    if not is_open(model):
        names = zip(model.param_names, model.param_units, strict=True)
        for (name, unit), value in zip(names, result.theta.tolist(), strict=True):
            yield f"{name} [{unit}]", value, result.reliable
        return
    for index, layer in enumerate(result.layer_motions):
        velocity = _velocity_of_layer(result, index)
        if velocity is not None:
            is_reliable = result.reliable and not layer.doubts
            for name, value in zip(("vx [px/s]", "vy [px/s]"), velocity.tolist(), strict=True):
                yield name, value, is_reliable


def _velocity_of_layer(result: Estimate, index: int) -> Floats | None:
    """Return the velocity at the middle of a layer, (2,), px/s; None if it has no events."""
    layer = result.layer_motions[index]
    uniform = layer.motion.uniform_velocity(layer.theta)
    if uniform is not None:  # its middle does not matter
        return uniform if (result.layer == index).any() else None
    found = whole_layer(result.window.events, result.layer, index)
    if found is None:
        return None
    left, top, width, height = found.box
    x, y = left + 0.5 * (width - 1.0), top + 0.5 * (height - 1.0)
    return velocity_of(layer.motion, layer.theta, [x], [y], [0.0])[0]


def _all_ends(ranges: Mapping[str, "_Range"]) -> dict[str, list[float]]:
    return {name: ends for name, seen in ranges.items() if (ends := seen.ends())}


class _Range:
    """Smallest and largest of the values so far."""

    def __init__(self) -> None:
        self._ends: list[float] | None = None

    def add(self, value: float) -> None:
        if math.isfinite(value):
            low, high = self._ends or (value, value)
            self._ends = [min(low, value), max(high, value)]

    def merge(self, ends: Sequence[float] | None) -> None:
        for value in ends or ():
            self.add(value)

    def ends(self) -> list[float] | None:
        return self._ends


def input_facts(recording: Recording, output: str) -> dict[str, Any]:
    """Return the facts about input and output that a summary starts with."""
    return {
        "evcrisp": evcrisp.__version__,
        "input": _name(recording),
        "format": recording.format,
        "output": output,
        "resolution": recording.resolution,
        "stream": recording.stream,
        "cut": recording.cut.facts(),
    }


def config_facts(config: Any) -> Any:
    """Return a configuration as JSON types, with defaults that depend on other parameters."""
    if not is_dataclass(config):
        return None
    resolved = getattr(config, "resolved", dict)()
    return json.loads(json.dumps({**asdict(config), **resolved}, default=str))


def stem_of(recording: Recording) -> str:
    """Return the name of a recording without the suffix of its format; other dots stay."""
    return stem_of_name(_name(recording), recording.format)


def stem_of_name(name: str, format: str) -> str:
    """Return a name without the suffix of a format; other dots stay.

    >>> stem_of_name("2024.05.01.aedat4", "aedat4"), stem_of_name("events.csv.gz", "csv")
    ('2024.05.01', 'events')
    """
    suffixes = READERS[format].suffixes if format in READERS else ()
    for suffix in sorted(suffixes, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return Path(name).stem or "recording"


def has_results(
    folder: Path, names: tuple[str, ...], recording: Recording, *, overwrite: bool
) -> bool:
    """Return whether results exist; raise if they must not be replaced."""
    for name in names:
        refuse_inputs(folder / name, recording.path)
    if overwrite:
        _refuse_other_recording(folder / names[0], recording)
    return any((folder / name).exists() for name in names)


def _refuse_other_recording(summary_path: Path, recording: Recording) -> None:
    """Raise if the folder has results of another recording: both would be mixed."""
    try:
        name = json.loads(summary_path.read_text())["input"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # no summary, or not one of ours
    if name != _name(recording):
        raise ConfigError(
            f"{summary_path.parent} holds the results of {name}, not of {_name(recording)}. "
            "Choose another folder, or remove this one."
        )


def _name(recording: Recording) -> str:
    return recording.path.name or recording.path.absolute().name  # of the folder "."
