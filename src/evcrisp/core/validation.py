"""Validate parameters: numbers, choices, types and resolutions."""

import math
import numbers
import operator
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError, EventDataError, Setting


def check_number(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    whole: bool = False,
    remedy: str | Setting | None = None,
) -> None:
    """Raise unless a parameter is a finite number in ``low`` to ``high``, both included.

    ``open_low`` excludes ``low``; ``whole`` requires an integer.

    >>> check_number("k", 9, 1, 6, whole=True)
    Traceback (most recent call last):
    evcrisp.core.errors.ConfigError: `k` must be a whole number in 1..6; got 9.
    """
    kind = numbers.Integral if whole else numbers.Real
    fits = isinstance(value, kind) and not isinstance(value, bool)
    # Integers beyond the range of floats have no `isfinite`.
    fits = fits and (isinstance(value, numbers.Integral) or math.isfinite(value))
    if fits and low <= value <= high and not (open_low and value == low):
        return
    noun = "a whole number" if whole else "a number"
    bounds = [f"{b:g}" if math.isinf(b) or not whole else f"{b}" for b in (low, high)]
    if math.isinf(low) and math.isinf(high):
        wanted = noun if whole else "a finite number"
    elif math.isinf(high):
        positive = (open_low and low == 0) or (whole and low == 1)
        wanted = f"a positive {noun[2:]}" if positive else f"{noun}, {bounds[0]} or more"
    elif open_low:
        wanted = f"{noun} above {bounds[0]} and at most {bounds[1]}"
    else:
        wanted = f"{noun} in {bounds[0]}..{bounds[1]}"
    raise ConfigError(f"must be {wanted}", parameter=name, value=value, remedy=remedy)


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise unless ``value`` is one of the choices.

    >>> check_choice("start", "zero", ("search", "zero"))
    """
    choices = tuple(choices)
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise ConfigError(f"must be one of {known}", parameter=name, value=value)


def check_type(name: str, value: Any, kind: type, remedy: str | Setting | None = None) -> None:
    """Raise unless ``value`` is an instance of ``kind``.

    >>> check_type("scale", 2.0, float)
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIO" else "a"
        problem = f"must be {article} {kind.__name__}"
        raise ConfigError(problem, parameter=name, value=value, remedy=remedy)


def as_path(name: str, value: Any, remedy: str | None = None) -> Path:
    """Return a path; raise if a value is none, such as events instead of their file.

    >>> as_path("path", 5)
    Traceback (most recent call last):
    evcrisp.core.errors.ConfigError: `path` must be the name of a file or folder, a string or `pathlib.Path`; got 5.
    """
    try:
        return Path(value)
    except TypeError:
        problem = "must be the name of a file or folder, a string or `pathlib.Path`"
        raise ConfigError(problem, parameter=name, value=value, remedy=remedy) from None


def as_numbers(
    name: str, values: ArrayLike, count: int | None = None, wanted: str = ""
) -> tuple[float, ...]:
    """Return one finite number, or a sequence of ``count``, as a tuple of floats.

    ``wanted`` describes the values in the message, such as "three numbers".

    >>> as_numbers("theta", [300, -120])
    (300.0, -120.0)
    """
    try:
        found = tuple(float(value) for value in np.atleast_1d(np.asarray(values, np.float64)))
    except (TypeError, ValueError):
        found = ()
    if (count is None and found) or len(found) == count:
        if all(map(math.isfinite, found)):
            return found
        raise ConfigError("must be finite", parameter=name, value=values)
    wanted = wanted or ("a number" if count == 1 else "numbers")
    raise ConfigError(f"must be {wanted}", parameter=name, value=values)


def as_resolution(resolution: Sequence[int]) -> tuple[int, int]:
    """Return ``(width, height)`` as two integers in 1..65536."""
    try:
        width, height = (operator.index(side) for side in resolution)
    except (TypeError, ValueError):
        problem = "must be (width, height), two whole numbers of px"
        raise EventDataError(problem, parameter="resolution", value=resolution) from None
    if not (0 < width <= 65_536 and 0 < height <= 65_536):
        problem = "must be (width, height), each 1 to 65536 px"
        raise EventDataError(problem, parameter="resolution", value=(width, height))
    return width, height
