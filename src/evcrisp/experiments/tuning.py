"""Find hyper-parameters on a training split, so that 'tuned for 5 %' is a command."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError, EventDataError
from evcrisp.core.events import Events
from evcrisp.core.messages import counted
from evcrisp.core.registry import lookup, require
from evcrisp.experiments.datasets import find_clips
from evcrisp.experiments.datasets.dnd21 import check_noise, noise_file
from evcrisp.experiments.datasets.noise import with_recorded_noise, with_uniform_noise
from evcrisp.experiments.labeling import labeled
from evcrisp.experiments.methods import AUTO, EJA, PROPOSED, TABLE1, Method
from evcrisp.experiments.simulated_datasets import twin_of
from evcrisp.io.reading import read
from evcrisp.metrics import confusion


@dataclass(frozen=True, slots=True)
class Range:
    """Where a hyper-parameter is looked for."""

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
}

METHODS: dict[str, Method] = {
    method.key: method for method in (*TABLE1, EJA, PROPOSED, AUTO) if method.key in SPACES
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Recordings with noise and labels, the part that tuning may see."""

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
    ) -> "Training":
        """Read the first part of every recording of DND21, and add noise.

        Parameters
        ----------
        root : Path
            The data set.
        share : float
            Noise events per signal event.
        noise : str
            "uniform", or the name of a measured noise.
        train_share : float
            Share of the time of every recording, at its start.
        max_events : int, optional
            At most so many events of every recording.
        seed : int
            Of the noise. Another one than that of the tables, which must not be learned.
        """
        if not 0.0 < train_share < 1.0:
            raise ConfigError(f"`train_share` must lie between 0 and 1; got {train_share}.")
        check_noise(noise)
        twin_of("dnd21", root)  # that of another data set is refused
        extra = None if noise == "uniform" else read(noise_file(root, noise))
        parts = []
        for clip in find_clips("dnd21", root):
            clean = read(clip.path, resolution=clip.resolution)
            until = int(clean.t[0] + train_share * clean.duration_us) if len(clean) else 0
            clean = clean[clean.t < until][:max_events]
            parts.append(
                with_uniform_noise(clean, share, seed=seed)
                if extra is None
                else with_recorded_noise(clean, extra, share, seed=seed)
            )
            _check_both_kinds(clip.name, parts[-1])
        return cls(events=tuple(parts))

    def score(self, method: Method) -> float:
        """Return the mean of sensitivity and specificity, averaged over recordings."""
        values = []
        for events in self.events:
            labels = [
                np.asarray(part.signal) for part in labeled([events], events.resolution, method)
            ]
            counts = confusion(np.concatenate(labels), np.asarray(events.signal))
            values.append(counts.denoising_accuracy)
        return float(np.mean(values))


def _check_both_kinds(name: str, events: Events) -> None:
    """Raise if there is nothing to tell apart."""
    n_signal = int(np.count_nonzero(np.asarray(events.signal)))
    n_noise = len(events) - n_signal
    if not n_signal or not n_noise:
        raise EventDataError(
            f"The first part of {name} has {counted(n_signal, 'signal event')} and "
            f"{counted(n_noise, 'noise event')}; tuning needs both. Take more events or more noise."
        )


def tune(
    key: str,
    training: Training,
    *,
    trials: int = 40,
    seed: int = 0,
    on_trial: Callable[[int, float], None] | None = None,
) -> tuple[dict[str, Any], float]:
    """Return the best hyper-parameters of a method and their score; same seed, same result.

    Parameters
    ----------
    key : str
        One of the keys of ``SPACES``.
    training : Training
        What to tune on.
    trials : int
        Settings to try; the first is the method's own.
    seed : int
        Of the search (Optuna's TPE).
    on_trial : callable, optional
        Called with the number of each trial and the best score so far.
    """
    optuna = require("optuna", extra="tune", purpose="Tuned hyper-parameters")
    space, method = lookup(SPACES, key, "method that can be tuned"), METHODS[key]
    if trials < 1:
        raise ConfigError(f"`trials` must be 1 or more; got {trials}.")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    defaults = _defaults(method, space)
    if defaults:
        study.enqueue_trial(defaults)

    def objective(trial: Any) -> float:
        params = {name: _suggested(trial, name, where) for name, where in space.items()}
        return training.score(method.tuned(method.label, key, params))

    def report(study: Any, trial: Any) -> None:
        if on_trial is not None:
            on_trial(trial.number + 1, study.best_value)

    study.optimize(objective, n_trials=trials, callbacks=[report])
    return _rounded(study.best_params), float(study.best_value)


def tuned_file(
    found: Mapping[str, Mapping[str, Mapping[str, Any]]], train_share: float, noises: Sequence[str]
) -> dict[str, Any]:
    """Return what ``evcrisp reproduce table2 --tuned`` reads."""
    return {"train_share": train_share, "noise": sorted(set(noises)), "methods": found}


def _suggested(trial: Any, name: str, where: Range) -> float:
    if where.whole:
        return int(trial.suggest_int(name, int(where.low), int(where.high), log=where.log))
    return float(trial.suggest_float(name, where.low, where.high, log=where.log))


def _defaults(method: Method, space: Mapping[str, Range]) -> dict[str, Any]:
    """Return the method's own values of the parameters that have one."""
    config = method.config()
    return {
        name: value
        for name in space
        if isinstance(value := config.get(name), int | float) and not isinstance(value, bool)
    }


def _rounded(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, int) else float(f"{value:.4g}")
        for name, value in params.items()
    }
