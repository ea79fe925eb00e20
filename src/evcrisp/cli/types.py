"""Types of option values."""

import math
import os
from pathlib import Path
from typing import Any

import click

#: Longest time, us: 30 years, more than any camera clock counts.
LONGEST_US = 10**15


class ResolutionType(click.ParamType):
    """``WIDTHxHEIGHT``, px."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Parse ``346x260``."""
        if isinstance(value, tuple):
            return value
        width, separator, height = str(value).lower().partition("x")
        if not (
            separator
            and all(side.isdecimal() and 0 < int(side) <= 65_536 for side in (width, height))
        ):
            self.fail(
                f"expected WIDTHxHEIGHT in px, such as 346x260, up to 65536 a side; got {value!r}.",
                param,
                ctx,
            )
        return int(width), int(height)


class Number(click.FloatRange):
    """A finite number in a range; click itself accepts NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Parse a number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"expected a finite number; got {value}.", param, ctx)
        return number


class Milliseconds(click.ParamType):
    """A time in milliseconds, converted to whole microseconds."""

    name = "ms"

    def __init__(self, least_us: int = -LONGEST_US, most_us: int = LONGEST_US) -> None:
        self.least_us, self.most_us = least_us, most_us

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse ``30`` or ``0.5``."""
        try:
            ms = float(value)
        except ValueError:
            ms = math.nan
        if not math.isfinite(ms):
            self.fail(f"expected a finite number of milliseconds; got {value}.", param, ctx)
        if not self.least_us <= 1000 * ms <= self.most_us:
            limits = f"{self.least_us / 1000:g} to {self.most_us / 1000:g} ms"
            self.fail(f"expected {limits}; got {ms:g}.", param, ctx)
        return round(1000 * ms)


class OutputFile(click.Path):
    """An output file whose name must have one of the suffixes."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the suffix."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix.lower() not in self.suffixes:
            wanted = " or ".join(self.suffixes)
            self.fail(f"expected a name that ends in {wanted}; got {path}.", param, ctx)
        return path


class NumbersType(click.ParamType):
    """Numbers separated by commas."""

    name = "NUMBERS"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Parse ``300,-120``."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(float(part) for part in str(value).split(","))
        except ValueError:
            numbers = (math.nan,)
        if not all(math.isfinite(number) for number in numbers):
            self.fail(f"expected finite numbers separated by commas; got {value!r}.", param, ctx)
        return numbers
