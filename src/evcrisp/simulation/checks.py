"""Checks that the configs share."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError


def check_range(name: str, value: Any, low: float, high: float) -> None:
    """Raise unless ``value`` is a number from ``low`` to ``high``."""
    try:
        fits = low <= float(value) <= high
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ConfigError(f"must lie in {low:g}..{high:g}", parameter=name, value=value)


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Raise unless ``value`` is a whole number from ``low`` to ``high``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        limit = f"{low} or more" if high is None else f"in {low}..{high}"
        raise ConfigError(f"must be a whole number, {limit}", parameter=name, value=value)


def as_numbers(name: str, values: ArrayLike) -> tuple[float, ...]:
    """Return finite numbers as a tuple of floats."""
    try:
        numbers = tuple(float(value) for value in np.atleast_1d(np.asarray(values, np.float64)))
    except (TypeError, ValueError):
        raise ConfigError(f"`{name}` must be numbers; got {values!r}.") from None
    if not all(math.isfinite(number) for number in numbers):
        raise ConfigError(f"`{name}` must be finite; got {numbers}.")
    return numbers
