"""Times that users give in milliseconds."""

import math

import click


def microseconds(value_ms: float, option: str) -> int:
    """Return milliseconds as whole microseconds; refuse what is not a number."""
    if not math.isfinite(value_ms):
        raise click.UsageError(f"{option} must be a finite number of milliseconds; got {value_ms}.")
    return round(1000 * value_ms)
