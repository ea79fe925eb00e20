"""Options of the tables, and the interface of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from evcrisp.core.errors import ConfigError
from evcrisp.core.messages import counted
from evcrisp.core.validation import check_number
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.dnd21 import check_noise
from evcrisp.experiments.methods import (
    ALL,
    Kind,
    Method,
    device_notes,
    method_for,
    select_methods,
)
from evcrisp.experiments.simulated_datasets import SimulatedDataset
from evcrisp.experiments.tables.table import Table
from evcrisp.experiments.task_runner import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of all tables; each table uses some of them.

    Parameters
    ----------
    methods : sequence of str, type or object
        Rows, registered estimators and filters by name, classes, objects, or "all"; all rows if empty.
    gpu_methods : sequence of str
        Keys of the methods that run on workers with the resource GPU only.
    max_events : int, optional
        Number of events at the start of each recording; all by default.
    slice_events, window_events : int
        Number of events of a slice of the ESR, and of a window for motion.
    noise : str
        Noise of table 2: "uniform", or the name of a measured noise.
    tuned : mapping, optional
        Hyper-parameters of table 2 as written by ``evcrisp tune``. Default: those of this package,
        tuned on the simulated data set.
    imu_offset_us : int, us
        Offset of table 3: the gyroscope is read at the middle of a window plus this.
    seed : int
        Seed of noise, random controls and bootstrap.
    skip_slow : bool
        Leave out very slow methods unless they are named.
    device : str, optional
        Where methods with a parallel form run, such as "cuda"; the others use the compiled kernels.
    """

    methods: tuple[Any, ...] = ()
    gpu_methods: tuple[str, ...] = ()
    max_events: int | None = None
    slice_events: int = 30_000
    window_events: int = 30_000
    noise: str = "uniform"
    tuned: Mapping[str, Any] | None = None
    imu_offset_us: int = 0
    seed: int = 0
    skip_slow: bool = False
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("slice_events", "window_events", "max_events"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 1)
        check_noise(self.noise)
        if self.tuned is not None:
            check_tuned(self.tuned)

    def rows(
        self, methods: tuple[Method, ...], kinds: tuple[Kind, ...]
    ) -> tuple[tuple[Method, ...], tuple[str, ...]]:
        """Return the chosen methods that can run, and a note for each that cannot."""
        rows, notes = [], []
        for method in select_methods(methods, self.methods, kinds):
            reason = method.missing()
            if self.skip_slow and method.slow and method.key not in self.methods:
                reason = f"it is very slow; --methods {method.key} includes it"
            if reason is not None:
                notes.append(f"{method.label} was left out: {reason}.")
                continue
            is_for_gpu = method.key in self.gpu_methods
            chosen = replace(method, resource="GPU") if is_for_gpu else method
            rows.append(chosen.on(self.device))
        return tuple(rows), (*notes, *device_notes(rows))

    def for_each(self, tables: "Mapping[str, TableKind]") -> "dict[str, Options]":
        """Return the options of each table, with the methods that fit it.

        A row goes to the tables that have it; another method goes to all tables, where a motion is
        needed with contrast maximization after a filter. Tables without a method are left out.
        """
        rows = {name: kind.methods(self) for name, kind in tables.items()}
        every = [method for methods in rows.values() for method in methods]
        given = [part for part in (*self.methods, *self.gpu_methods) if not _is_all(part)]
        found = {id(part): method_for(part, every) for part in given}

        def fits(name: str, part: Any) -> bool:
            method = None if _is_all(part) else found[id(part)]
            if method is not None and any(method is row for row in every):
                return any(method.key == row.key for row in rows[name])
            return True

        shared = {name: tuple(p for p in self.methods if fits(name, p)) for name in tables}
        kept = {name: parts for name, parts in shared.items() if parts or not self.methods}
        return {name: replace(self, methods=parts) for name, parts in kept.items()}


def _is_all(part: Any) -> bool:
    return isinstance(part, str) and part == ALL


_EXPECTED = (
    "Tuned hyper-parameters must have the format of evcrisp tune: "
    '{"train_share": 0.5, "methods": {METHOD: {RATE: {...}}}}'
)


def check_tuned(tuned: Any) -> None:
    """Raise unless a mapping has the format that ``evcrisp tune`` writes."""
    if not isinstance(tuned, Mapping):
        raise ConfigError(f"{_EXPECTED}; got {type(tuned).__name__}.")
    methods = tuned.get("methods")
    if not _is_filled(methods) or not all(map(_is_filled, methods.values())):
        raise ConfigError(f"{_EXPECTED}; got no methods, or one without rates.")
    for method, by_rate in methods.items():
        for rate, params in by_rate.items():
            if not isinstance(params, Mapping):
                raise ConfigError(f"{_EXPECTED}; got {params!r} for {method!r} at {rate!r}.")
    share = tuned.get("train_share")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
        raise ConfigError(f"{_EXPECTED}; `train_share` must lie between 0 and 1, got {share!r}.")


def _is_filled(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) > 0


def data_note(root: Path, simulated: SimulatedDataset | None) -> str:
    """Return a note on the data of a table."""
    if simulated is None:
        return f"Data: {root.name}."
    return (
        f"Data: simulated data set {simulated.dataset}{' (small)' if simulated.small else ''}, seed "
        f"{simulated.seed}. The paper's numbers, in parentheses, are for the real one: compare only "
        "the order of methods."
    )


#: Tasks and their numbers; None if a task failed.
Done = Sequence[tuple[Task, dict[str, Any] | None]]


class TableKind(Protocol):
    """A table of the paper."""

    name: ClassVar[str]
    title: ClassVar[str]  # in reports
    dataset: ClassVar[str]
    #: Kinds of methods that the table can measure.
    kinds: ClassVar[tuple[Kind, ...]]

    def methods(self, options: Options) -> tuple[Method, ...]:
        """Return all rows of the paper, and ours."""
        ...

    def tasks(self, root: Path, clips: Sequence[Clip], options: Options) -> list[Task]:
        """Return the tasks of the table."""
        ...

    def tables(self, done: Done, clips: Sequence[Clip], options: Options) -> list[Table]:
        """Return the table and its additional tables."""
        ...


def failure_notes(done: Done) -> tuple[str, ...]:
    """Return a note on the number of failures of each method."""
    failed: dict[str, int] = {}
    for task, numbers in done:
        if numbers is None:
            failed[task.method.label] = failed.get(task.method.label, 0) + 1
    return tuple(
        f"{label} failed on {counted(n, 'recording')}, which its means leave out."
        for label, n in failed.items()
    )
