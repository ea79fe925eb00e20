"""Checks of parameters."""

import math

from evcrisp.core.errors import ConfigError


def at_least(name: str, value: float, least: float, most: float = 2**53) -> None:
    """Raise unless a parameter has a possible value."""
    if not value >= least:
        wanted = "positive" if least == 1 else f"{least} or more"
        raise ConfigError(f"`{name}` must be {wanted}; got {value}.")
    if value > most:
        raise ConfigError(f"`{name}` must be at most {most:,}; got {value:,}.")


def positive(name: str, value: float) -> None:
    """Raise unless a parameter is above 0 and finite."""
    if not 0.0 < value < math.inf:
        raise ConfigError(f"`{name}` must be a positive number; got {value}.")
