"""Table 2: labels on DND21 with added noise, by rate of tuning."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from evcrisp.core.messages import counted
from evcrisp.experiments import paper
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.dnd21 import noise_file
from evcrisp.experiments.methods import AUTO, TABLE1, Kind, Method, method_for
from evcrisp.experiments.protocols import LABEL_SETTINGS, measure_labels
from evcrisp.experiments.tables.options import Done, Options, failure_notes
from evcrisp.experiments.tables.table import Cell, Column, Row, Table, mean
from evcrisp.experiments.task_runner import Task

#: Noise events per 100 signal events.
RATES = (1, 5, 10)

MEASURES = ("sensitivity", "specificity")

#: Default hyper-parameters for each rate, tuned on the simulated data set with
#: ``evcrisp tune eja proposed --root FOLDER --max-events 100000 --trials 30``.
TUNED: dict[str, dict[str, dict[str, Any]]] = {
    "eja": {
        "1": {"tau": 0.9522, "sigma_px": 0.8255},
        "5": {"tau": 0.9217, "sigma_px": 0.8456},
        "10": {"tau": 0.9038, "sigma_px": 0.8199},
    },
    "proposed": {
        "1": {"min_support": 3.416, "beta_hat": 0.8557, "b_hat": 11.33},
        "5": {"min_support": 3.954, "beta_hat": 3.004, "b_hat": 19.02},
        "10": {"min_support": 4.862, "beta_hat": 1.205, "b_hat": 19.3},
    },
}


class Table2:
    """Sensitivity and specificity at 1, 5 and 10 % of noise."""

    name: ClassVar[str] = "table2"
    title: ClassVar[str] = "Table 2: labels on DND21 with added noise"
    dataset: ClassVar[str] = "dnd21"
    kinds: ClassVar[tuple[Kind, ...]] = ("filter", "estimator")

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return a row per method and rate of its tuning, and ours without tuning."""
        found = {} if options.tuned is None else options.tuned["methods"]
        rows = [
            method.tuned(f"{method.label} tuned for {rate}%", f"{key}-{rate}", params)
            for key, by_rate in {**TUNED, **found}.items()
            for method in [method_for(key)]
            for rate, params in by_rate.items()
        ]
        return (*rows, AUTO)

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return one task per recording, rate of noise and method."""
        if options.noise != "uniform":
            extra = noise_file(root, options.noise)
            clips = [replace(clip, files=(*clip.files, extra)) for clip in clips]
        methods, _ = options.rows(self.methods(options), self.kinds)
        settings = {
            "noise": options.noise,
            "seed": options.seed,
            "max_events": options.max_events,
            "skip_share": 0.0 if options.tuned is None else options.tuned["train_share"],
            **LABEL_SETTINGS,
        }
        return [
            Task(measure_labels, clip, method, {"share": rate / 100, **settings})
            for clip in clips
            for rate in RATES
            for method in methods
        ]

    def tables(self, done: Done, clips: Sequence[Clip], options: Options) -> list[Table]:
        """Return the table."""
        methods, left_out = options.rows(self.methods(options), self.kinds)
        columns = tuple(
            Column(key=f"{measure}-{rate}", label=f"{rate}%", group=measure.capitalize())
            for measure in MEASURES
            for rate in RATES
        )
        rows = tuple(Row.of(method, _cells(done, method)) for method in methods)
        notes = (
            f"{counted(len(clips), 'recording')}; {options.noise} noise, in percent of the signal events.",
            *_tuning_notes(methods, options.tuned),
            *left_out,
            *failure_notes(done),
        )
        title = "Sensitivity and specificity (higher is better)"
        return [Table(name="table2", title=title, columns=columns, rows=rows, notes=notes)]


def _tuning_notes(methods: Sequence[Method], tuned: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return notes on the source of the hyper-parameters and on the excluded events."""
    tuned_rows = (method for method in methods if " tuned for " in method.label)
    keys = dict.fromkeys(method.key.rpartition("-")[0] for method in tuned_rows)
    given = {} if tuned is None else tuned["methods"]
    known = {method.key: method.label for method in TABLE1}
    labels = {key: known.get(key, key) for key in (*known, *given) if key in keys}
    ours = [label for key, label in labels.items() if key not in given]
    theirs = [label for key, label in labels.items() if key in given]
    notes = []
    if ours:
        notes.append(
            f"Hyper-parameters of {' and '.join(ours)}: those of this package, tuned for each rate "
            "on the simulated DND21."
        )
    if tuned is not None:
        start = f"the first {100 * tuned['train_share']:.3g}% of each recording"
        if theirs:
            notes.append(
                f"Hyper-parameters of {' and '.join(theirs)}: from the given file, tuned on {start}."
            )
        notes.append(f"The events used for tuning, {start}, are left out for all methods.")
    return tuple(notes)


def _cells(done: Done, method: Method) -> dict[str, Cell]:
    name, _, tuned_for = method.key.rpartition("-")
    published = None if method.part else paper.LABELS.get((name, tuned_for))
    cells = {}
    for j, (measure, rate) in enumerate((m, r) for m in MEASURES for r in RATES):
        values = [
            numbers.get(measure)
            for task, numbers in done
            if numbers is not None
            and task.method.key == method.key
            and task.settings["share"] == rate / 100
        ]
        cells[f"{measure}-{rate}"] = Cell(mean(values), None if published is None else published[j])
    return cells
