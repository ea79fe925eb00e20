"""Convert many recordings side by side."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from evcrisp.io.protocol import Writer
from evcrisp.io.reading import open_recording
from evcrisp.io.writing import writer_and_suffix
from evcrisp.pipeline.convert import convert_recording
from evcrisp.pipeline.many.batch import Batch, BatchResult
from evcrisp.pipeline.many.one_file import BatchOptions, sums
from evcrisp.pipeline.many.settings import settings_facts


@dataclass(frozen=True, slots=True)
class ConvertTask:
    """Convert one recording."""

    to: Writer
    suffix: str
    start_at_zero: bool = False
    opening: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Write the converted file; return its number of events."""
        with open_recording(source, **self.opening) as recording:
            result = convert_recording(
                recording,
                target,
                format=self.to,
                start_at_zero=self.start_at_zero,
                overwrite=overwrite,
            )
        return {"output": target.name, "n_events": result.n_events}

    def target(self, folder: Path, name: str) -> Path:
        """Return the converted file."""
        return folder / f"{name}{self.suffix}"

    def settings(self) -> dict[str, Any] | None:
        """Return the settings as JSON types."""
        zero, opening = self.start_at_zero, dict(self.opening)
        return settings_facts(
            {"to": self.to, "suffix": self.suffix, "start_at_zero": zero, "opening": opening}
        )


def convert_many(
    paths: Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    to: str | Writer,
    *,
    start_at_zero: bool = False,
    options: Mapping[str, object] | None = None,
    opening: Mapping[str, Any] | None = None,
    **batch: Unpack[BatchOptions],
) -> BatchResult:
    """Convert many recordings side by side, each to a file with its name in a folder.

    Parameters
    ----------
    paths, folder, opening, **batch
        As for :func:`evcrisp.run_many`.
    to : str or Writer
        Output format, or the suffix of its files.
    start_at_zero, options
        As for :func:`evcrisp.convert_recording`.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = evcrisp.write(folder / "a.npz", evcrisp.simulate(duration_us=20_000, seed=1).events)
    >>> result = convert_many([folder / "*.npz"], folder / "converted", "aedat4", jobs=0)
    >>> result.outputs["a"].name
    'a.aedat4'
    """
    writer, suffix = writer_and_suffix(to, options)  # checked before any recording is read
    task = ConvertTask(writer, suffix, start_at_zero, dict(opening or {}))
    where = Batch(format=task.opening.get("format"), **batch)
    return where.process(paths, folder, task, lambda facts: sums(facts, "n_events"))
