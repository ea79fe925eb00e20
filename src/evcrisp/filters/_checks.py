"""Checks of parameters."""

from evcrisp.errors import ConfigError


def at_least(name: str, value: float, least: float, most: float = 2**53) -> None:
    """Raise unless a parameter has a possible value."""
    if not value >= least:
        wanted = "positive" if least == 1 else f"{least} or more"
        raise ConfigError(f"`{name}` must be {wanted}; got {value}.")
    if value > most:
        raise ConfigError(f"`{name}` must be at most {most:,}; got {value:,}.")
