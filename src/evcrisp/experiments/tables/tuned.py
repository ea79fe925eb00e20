"""Hyper-parameters that a user has tuned: what a file of them must hold."""

from collections.abc import Mapping
from typing import Any

from evcrisp.core.errors import ConfigError

_EXPECTED = (
    "Tuned hyper-parameters must be as evcrisp tune writes them: "
    '{"train_share": 0.5, "methods": {METHOD: {RATE: {...}}}}'
)


def check_tuned(tuned: Any) -> None:
    """Raise if this is not what ``evcrisp tune`` writes."""
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
