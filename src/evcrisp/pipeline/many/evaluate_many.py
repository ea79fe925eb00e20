"""Measure many recordings side by side."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from evcrisp.io.atomic_output import naming, replacing
from evcrisp.io.reading import open_recording
from evcrisp.pipeline.evaluation import evaluate
from evcrisp.pipeline.json_numbers import without_nan
from evcrisp.pipeline.many.batch import Batch, BatchResult
from evcrisp.pipeline.many.one_file import BatchOptions
from evcrisp.pipeline.many.settings import settings_facts


@dataclass(frozen=True, slots=True)
class EvaluateTask:
    """Measure one recording."""

    measures: Mapping[str, Any] = field(default_factory=dict)  # keywords of `evaluate`
    opening: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path, *, overwrite: bool) -> dict[str, Any]:
        """Write the measures as JSON, and return them."""
        with (
            replacing(target, overwrite=overwrite) as temporary,
            open_recording(source, **self.opening) as recording,
        ):
            found = evaluate(recording, **self.measures)
            facts = without_nan({"input": source.name, **found.as_dict()})
            with naming(temporary):
                temporary.write_text(json.dumps(facts, indent=2) + "\n")
        return {"output": target.name, **facts["quality"]["recording"]}

    def target(self, folder: Path, name: str) -> Path:
        """Return the JSON file."""
        return folder / f"{name}.measures.json"

    def settings(self) -> dict[str, Any] | None:
        """Return the settings as JSON types."""
        return settings_facts({"measures": dict(self.measures), "opening": dict(self.opening)})


def evaluate_many(
    paths: Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    slice_events: int | None = None,
    slice_us: int | None = None,
    measures_aocc: bool = True,
    opening: Mapping[str, Any] | None = None,
    **batch: Unpack[BatchOptions],
) -> BatchResult:
    """Measure many recordings side by side; each has a JSON file with its name in a folder.

    ``summary.json`` has the measures of all, and in ``totals`` the number of events and the mean of each
    measure over the recordings where it is defined.

    Parameters
    ----------
    paths, folder, opening, **batch
        As for :func:`evcrisp.run_many`.
    slice_events, slice_us, measures_aocc
        As for :func:`evcrisp.evaluate`.

    Examples
    --------
    >>> import evcrisp, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = evcrisp.write(folder / "a.npz", evcrisp.simulate(duration_us=60_000, seed=1).events)
    >>> result = evaluate_many([folder], folder / "measures", measures_aocc=False, jobs=0)
    >>> result.summary["totals"]["esr"] > 0
    True
    """
    chosen = {"slice_events": slice_events, "slice_us": slice_us, "measures_aocc": measures_aocc}
    task = EvaluateTask(chosen, dict(opening or {}))
    where = Batch(format=task.opening.get("format"), **batch)
    return where.process(paths, folder, task, _totals)


def _totals(facts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the number of events, and the mean of the other numbers where they are defined."""
    names = [name for name, value in (facts[0] if facts else {}).items() if name != "output"]
    means: dict[str, Any] = {}
    for name in names:
        values = [one[name] for one in facts if isinstance(one[name], (int, float))]
        if values:
            means[name] = math.fsum(values) / len(values)
    return {**means, "n_events": sum(one["n_events"] for one in facts)}
