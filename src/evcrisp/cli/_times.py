"""Times that users give in milliseconds."""

import math

import click

#: Thirty years, a time that any clock of a camera stays below.
LONGEST_MS = 1e12


def microseconds(value_ms: float, option: str) -> int:
    """Return milliseconds as whole microseconds; refuse what is not a number."""
    if not math.isfinite(value_ms):
        raise click.UsageError(f"{option} must be a finite number of milliseconds; got {value_ms}.")
    if abs(value_ms) > LONGEST_MS:
        raise click.UsageError(f"{option} must be at most {LONGEST_MS:g} ms; got {value_ms:g}.")
    return round(1000 * value_ms)
