"""What a user may choose about the tables."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.experiments.datasets.dnd21 import check_noise
from evcrisp.experiments.methods import Method, chosen
from evcrisp.experiments.simulated_datasets import Twin
from evcrisp.experiments.tables.tuned import check_tuned


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of all tables; each table takes what concerns it.

    Parameters
    ----------
    methods : sequence of str
        Keys of the rows; all of them if empty.
    gpu_methods : sequence of str
        Keys of the methods that only workers with the resource GPU get.
    max_events : int, optional
        Use so many events at the start of each recording, to try things out.
    slice_events : int
        Slices of the ESR.
    window_events : int
        Windows of the motion.
    noise : str
        For table 2: "uniform", or the name of a measured noise.
    tuned : mapping, optional
        For table 2: hyper-parameters as ``evcrisp tune`` writes them. Default: those of this package,
        found on the twin.
    imu_offset_us : int, us
        For table 3: the gyroscope is read at the middle of a window plus this.
    seed : int
        For noise, random controls and bootstrap.
    skip_slow : bool
        Leave methods out that are very slow, unless they are named.
    """

    methods: tuple[str, ...] = ()
    gpu_methods: tuple[str, ...] = ()
    max_events: int | None = None
    slice_events: int = 30_000
    window_events: int = 30_000
    noise: str = "uniform"
    tuned: Mapping[str, Any] | None = None
    imu_offset_us: int = 0
    seed: int = 0
    skip_slow: bool = False

    def __post_init__(self) -> None:
        for name in ("slice_events", "window_events", "max_events"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"`{name}` must be 1 or more; got {value}.")
        check_noise(self.noise)
        if self.tuned is not None:
            check_tuned(self.tuned)

    def rows(self, methods: tuple[Method, ...]) -> tuple[tuple[Method, ...], tuple[str, ...]]:
        """Return the methods that were chosen and can run, and a note for each that cannot."""
        rows, notes = [], []
        for method in chosen(methods, self.methods):
            reason = method.missing()
            if self.skip_slow and method.slow and not self.methods:
                reason = f"it is very slow; --methods {method.key} asks for it"
            if reason is not None:
                notes.append(f"{method.label} was left out: {reason}.")
                continue
            is_for_gpu = method.key in self.gpu_methods
            rows.append(replace(method, resource="GPU") if is_for_gpu else method)
        return tuple(rows), tuple(notes)

    def for_each(self, tables: Mapping[str, tuple[Method, ...]]) -> "dict[str, Options]":
        """Share the chosen methods out among tables; those that have none of them are left out.

        Raises
        ------
        UnknownNameError
            If no table has a method that was chosen.
        """
        every = {method.key: method for methods in tables.values() for method in methods}
        for key in (*self.methods, *self.gpu_methods):
            lookup(every, key, "method of these tables")
        shared = {
            name: tuple(key for key in self.methods if any(key == m.key for m in methods))
            for name, methods in tables.items()
        }
        return {
            name: replace(self, methods=keys)
            for name, keys in shared.items()
            if keys or not self.methods
        }


def data_note(root: Path, twin: Twin | None) -> str:
    """Say what the numbers are about."""
    if twin is None:
        return f"Data: {root.name}."
    return (
        f"Data: the simulated twin of {twin.dataset}{' (small)' if twin.small else ''}, seed "
        f"{twin.seed}. The paper's numbers, in parentheses, are about the real one: compare the "
        "order of methods at most."
    )
