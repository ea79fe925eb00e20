"""Fields of a calibration file, with errors that name them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evcrisp.core.errors import ConfigError

PLUMB_BOB, EQUIDISTANT = "plumb_bob", "equidistant"


class Intrinsics(NamedTuple):
    """Numbers of a camera, as `Camera` takes them."""

    focal: tuple[float, float]  # fx, fy, px
    center: tuple[float, float]  # cx, cy, px
    lens: str
    distortion: tuple[float, ...]
    resolution: tuple[int, int] | None = None  # (width, height), px


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping of a file; ``prefix`` is where it is in the file, such as "cam0."."""

    values: Mapping[str, Any]
    prefix: str = ""

    def find(self, *names: str) -> str | None:
        """Return the first of several names that the mapping has."""
        return next((name for name in names if self.values.get(name) is not None), None)

    def below(self, name: str) -> "Fields":
        """Return a nested mapping."""
        value = self.values.get(name)
        if not isinstance(value, Mapping):
            raise self.error(name, "must be a group of fields")
        return Fields(value, f"{self.prefix}{name}.")

    def error(self, name: str, problem: str) -> ConfigError:
        """Return an error that names a field and shows its value."""
        if name not in self.values:
            return ConfigError(f"the field `{self.prefix}{name}` is missing.")
        shown = repr(self.values[name])
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        return ConfigError(f"`{self.prefix}{name}` {problem}; got {shown}.")

    def word(self, name: str, default: str | None = None) -> str:
        """Return a word, in lower case."""
        value = self.values.get(name, default)
        if not isinstance(value, str):
            raise self.error(name, "must be a word")
        return value.lower()

    def numbers(self, name: str, counts: tuple[int, ...], wanted: str) -> tuple[float, ...]:
        """Return a list of finite numbers whose length is one of ``counts``."""
        values = self.values.get(name)
        is_list = isinstance(values, list) and all(map(_is_number, values))
        if not is_list or len(values) not in counts:
            raise self.error(name, f"must be {wanted}")
        return tuple(map(float, values))

    def size(self, width: str, height: str) -> tuple[int, int] | None:
        """Return (width, height) of two fields; None if the file has neither."""
        if width not in self.values and height not in self.values:
            return None
        for name in (width, height):
            value = self.values.get(name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise self.error(name, "must be a number of pixels")
        sides = self.values[width], self.values[height]
        return None if 0 in sides else sides  # drivers without a calibration write zeros


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
