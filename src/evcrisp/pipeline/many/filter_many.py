"""Filter many recordings side by side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from evcrisp.filters import Filter, build_filter
from evcrisp.io.protocol import Writer
from evcrisp.io.reading import open_recording
from evcrisp.io.writing import DEFAULT_FORMAT, writer_and_suffix
from evcrisp.pipeline.filter_recording import filter_recording
from evcrisp.pipeline.many.batch import Batch, BatchResult
from evcrisp.pipeline.many.one_file import BatchOptions, sums
from evcrisp.pipeline.many.settings import settings_facts


@dataclass(frozen=True, slots=True)
class FilterTask:
    """Filter one recording."""

    method: Filter
    to: Writer
    suffix: str
    writes_labels: bool = False
    opening: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Write the events that are kept; return numbers of events."""
        target.mkdir(parents=True, exist_ok=True)
        output = target / f"{target.name}{self.suffix}"
        labels = target / "labels.npz" if self.writes_labels else None
        with open_recording(source, **self.opening) as recording:
            result = filter_recording(
                recording, output, self.method, labels=labels, format=self.to, overwrite=overwrite
            )
        return {"output": output.name, "n_events": result.n_events, "n_kept": result.n_kept}

    def target(self, folder: Path, name: str) -> Path:
        """Return the folder of results."""
        return folder / name

    def settings(self) -> dict[str, Any] | None:
        """Return the settings as JSON types."""
        given = {
            "method": self.method,
            "to": self.to,
            "suffix": self.suffix,
            "labels": self.writes_labels,
        }
        return settings_facts({**given, "opening": dict(self.opening)})


def filter_many(
    paths: Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    method: str | Filter = "baf",
    preset: str | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    labels: bool = False,
    to: str | Writer = DEFAULT_FORMAT,
    opening: Mapping[str, Any] | None = None,
    **batch: Unpack[BatchOptions],
) -> BatchResult:
    """Filter many recordings side by side; each has a folder with its name below ``folder``.

    Parameters
    ----------
    paths, folder, opening, **batch
        As for :func:`evcrisp.run_many`.
    method, preset, params
        Filter and its parameters, as for :func:`evcrisp.denoise`.
    labels : bool
        Also write ``labels.npz`` with ``signal`` and ``score`` of every event.
    to : str or Writer
        Output format, or the suffix of its files.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = evcrisp.write(folder / "a.npz", evcrisp.simulate(duration_us=20_000, seed=1).events)
    >>> result = filter_many([folder], folder / "filtered", "stcf", jobs=0)
    >>> result.summary["recordings"][0]["output"]
    'a.aedat4'
    """
    config = build_filter(method, preset, **(params or {}))
    task = FilterTask(config, *writer_and_suffix(to), labels, dict(opening or {}))
    where = Batch(format=task.opening.get("format"), **batch)
    return where.process(paths, folder, task, lambda facts: sums(facts, "n_events", "n_kept"))
