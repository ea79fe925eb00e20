"""Tune hyper-parameters of a method on a training split."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.registry import require
from evcrisp.core.validation import check_number
from evcrisp.experiments.datasets import DatasetLike, find_clips
from evcrisp.experiments.datasets.dnd21 import check_noise, noise_file
from evcrisp.experiments.datasets.noise import with_recorded_noise, with_uniform_noise
from evcrisp.experiments.methods import Method, method_for
from evcrisp.experiments.protocols import signal_of
from evcrisp.experiments.simulated_datasets import read_simulated
from evcrisp.io.reading import read
from evcrisp.metrics import confusion


@dataclass(frozen=True, slots=True)
class Range:
    """Search range of a hyper-parameter."""

    low: float
    high: float
    log: bool = False
    whole: bool = False


_TAU = Range(100, 100_000, log=True, whole=True)

#: Method -> its hyper-parameters, as many as the paper counts.
SPACES: dict[str, dict[str, Range]] = {
    "eja": {"tau": Range(0.5, 0.999), "sigma_px": Range(0.5, 2.0)},
    "proposed": {
        "min_support": Range(1.5, 15.0, log=True),
        "beta_hat": Range(0.05, 5.0, log=True),
        "b_hat": Range(1.0, 20.0),
    },
    "baf": {"tau_us": _TAU},
    "knoise": {"tau_us": _TAU, "k": Range(1, 3, whole=True)},
    "ynoise": {"tau_us": _TAU, "k": Range(1, 8, whole=True)},
    "ts": {"tau_us": _TAU, "threshold": Range(0.02, 0.8)},
    "dwf": {"length": Range(8, 512, log=True, whole=True), "radius_px": Range(2, 20, whole=True)},
    # Not in the paper.
    "ebf": {"tau_us": _TAU, "threshold": Range(0.1, 15.0, log=True)},
    "pfd": {"tau_us": _TAU, "window_us": _TAU, "min_active": Range(1, 8, whole=True)},
    "pfdslices": {"tau_us": _TAU, "window_us": _TAU, "min_active": Range(1, 8, whole=True)},
}


def search_space(method: Method) -> Mapping[str, Range]:
    """Return the hyper-parameters of a method and their ranges.

    Own methods declare them as a class attribute ``search_space``, a mapping of parameters to
    :class:`Range` or ``(low, high)``. Two integers are a range of whole numbers.
    """
    if method.key in SPACES and method.part is None:
        return SPACES[method.key]
    declared = getattr(method.part, "search_space", None)
    if not isinstance(declared, Mapping) or not declared:
        raise ConfigError(
            f"The method {method.key!r} declares no ranges of hyper-parameters. Tunable: "
            f"{', '.join(SPACES)}, and own classes with `search_space = {{'tau_us': (100, 9000)}}`."
        )
    return {
        name: limits
        if isinstance(limits, Range)
        else Range(*limits, whole=all(isinstance(limit, int) for limit in limits))
        for name, limits in declared.items()
    }


@dataclass(frozen=True, slots=True)
class Training:
    """Recordings with noise and labels, reserved for tuning."""

    events: tuple[Events, ...]

    @classmethod
    def of(
        cls,
        root: Path,
        share: float,
        *,
        noise: str = "uniform",
        train_share: float = 0.5,
        max_events: int | None = None,
        seed: int = 0,
        dataset: DatasetLike = "dnd21",
    ) -> "Training":
        """Read the first part of every recording of a data set, and add noise.

        The first part is ``train_share`` of the time, up to ``max_events``. ``share`` is the number of
        noise events per signal event, and ``noise`` "uniform" or the name of a measured noise. The
        seed of the noise must differ from that of the tables.
        """
        if not 0.0 < train_share < 1.0:
            raise ConfigError(
                "must lie between 0 and 1", parameter="train_share", value=train_share
            )
        check_noise(noise)
        read_simulated(dataset, root)  # refuses the simulation of another data set
        extra = None if noise == "uniform" else read(noise_file(root, noise))
        parts = []
        for clip in find_clips(dataset, root):
            clean = read(clip.path, resolution=clip.resolution)
            until = int(clean.t[0] + train_share * clean.duration_us) if len(clean) else 0
            clean = clean[clean.t < until][:max_events]
            parts.append(
                with_uniform_noise(clean, share, seed=seed)
                if extra is None
                else with_recorded_noise(clean, extra, share, seed=seed)
            )
            _check_classes(clip.name, parts[-1])
        return cls(tuple(parts))

    def score(self, method: Method) -> float:
        """Return the mean of sensitivity and specificity, averaged over recordings."""
        counts = [confusion(signal_of(e, method), np.asarray(e.signal)) for e in self.events]
        return float(np.mean([count.denoising_accuracy for count in counts]))


def _check_classes(name: str, events: Events) -> None:
    """Raise unless there are signal events and noise events."""
    n_signal = int(np.count_nonzero(np.asarray(events.signal)))
    n_noise = len(events) - n_signal
    if not n_signal or not n_noise:
        raise EventDataError(
            f"The first part of {name} has {counted(n_signal, 'signal event')} and "
            f"{counted(n_noise, 'noise event')}; tuning needs both. Use more events or more noise."
        )


def tune(
    method: str | Any,
    training: Training,
    *,
    trials: int = 40,
    seed: int = 0,
    on_trial: Callable[[int, float], None] | None = None,
) -> tuple[dict[str, Any], float]:
    """Return the best hyper-parameters of a method and their score.

    Parameters
    ----------
    method : str, type or object
        Row of a table, registered method by name, class, or object; see :func:`search_space`.
    training : Training
        Recordings for tuning.
    trials, seed : int
        Number of settings to try, first the defaults; seed of the search (TPE of Optuna).
    on_trial : callable, optional
        Called with the number of each trial and the best score so far.
    """
    optuna = require("optuna", extra="tune", purpose="Tuned hyper-parameters")
    row = method_for(method)
    space = search_space(row)
    check_number("trials", trials, 1)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    config = row.config()
    defaults = {name: config[name] for name in space if type(config.get(name)) in (int, float)}
    if defaults:
        study.enqueue_trial(defaults)

    def objective(trial: Any) -> float:
        params = {name: _suggested(trial, name, limits) for name, limits in space.items()}
        return training.score(row.tuned(row.label, row.key, params))

    def report(study: Any, trial: Any) -> None:
        if on_trial is not None:
            on_trial(trial.number + 1, study.best_value)

    study.optimize(objective, n_trials=trials, callbacks=[report])
    best = study.best_params.items()
    rounded = {name: v if isinstance(v, int) else float(f"{v:.4g}") for name, v in best}
    return rounded, float(study.best_value)


def tuned_file(
    found: Mapping[str, Mapping[str, Mapping[str, Any]]], train_share: float, noises: Sequence[str]
) -> dict[str, Any]:
    """Return the content of the file for ``evcrisp reproduce table2 --tuned``."""
    return {"train_share": train_share, "noise": sorted(set(noises)), "methods": found}


def _suggested(trial: Any, name: str, limits: Range) -> float:
    if limits.whole:
        return int(trial.suggest_int(name, int(limits.low), int(limits.high), log=limits.log))
    return float(trial.suggest_float(name, limits.low, limits.high, log=limits.log))
