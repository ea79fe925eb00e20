"""What the page may ask for, checked when it comes in."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import FILTERS
from evcrisp.motion import MOTION_MODELS

MIN_LENGTH_US, MAX_LENGTH_US = 10, 10_000_000
MAX_START_US = 1 << 52
MIN_POINTS, MAX_POINTS = 3, 41

#: What can be computed, and whether it takes one window or the whole recording.
KINDS = {
    "estimate": "window",
    "filter": "window",
    "front": "window",
    "point": "window",
    "track": "recording",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One computation.

    Parameters
    ----------
    kind : str
        "estimate" (motion and labels), "filter" (labels of a filter), "front" (the trade-off),
        "point" (motion and labels of one of its points) or "track" (motion over the recording).
    start_us, length_us : int
        The window, from the first event of the recording.
    method, motion, filter : str
        Names.
    points, index : int
        How many points the front has, and which one is meant.
    """

    kind: str
    start_us: int = 0
    length_us: int = 30_000
    method: str = "auto"
    motion: str = "translation"
    filter: str = "baf"
    points: int = 13
    index: int = 0

    def __post_init__(self) -> None:
        lookup(KINDS, self.kind, "computation")
        lookup(ESTIMATORS, self.method, "method")
        lookup(MOTION_MODELS, self.motion, "motion model")
        lookup(FILTERS, self.filter, "filter")
        check_window(self.start_us, self.length_us)
        _check_range("points", self.points, MIN_POINTS, MAX_POINTS)
        _check_range("index", self.index, 0, MAX_POINTS)

    @classmethod
    def of(cls, fields: Any) -> "Request":
        """Return a request from what JSON gave."""
        if not isinstance(fields, Mapping) or not isinstance(fields.get("kind"), str):
            raise ConfigError("A computation is asked for by an object with the key 'kind'.")
        unknown = sorted(set(fields) - set(cls.__dataclass_fields__))
        if unknown:
            raise ConfigError(f"Unknown key {str(unknown[0])[:40]!r}.")
        for name, value in fields.items():
            is_text = cls.__dataclass_fields__[name].type is str
            if type(value) is not (str if is_text else int):
                raise ConfigError(f"{name!r} must be {'a text' if is_text else 'a whole number'}.")
        return cls(**fields)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)

    @property
    def lane(self) -> str:
        """Which queue it waits in."""
        return KINDS[self.kind]


def check_window(start_us: int, length_us: int) -> None:
    """Raise if a window cannot be."""
    _check_range("start_us", start_us, -MAX_START_US, MAX_START_US)
    _check_range("length_us", length_us, MIN_LENGTH_US, MAX_LENGTH_US)


def whole_number(text: str | None, name: str) -> int:
    """Return a number of a query."""
    if text is None or not text.lstrip("-").isdecimal() or len(text) > 20:
        raise ConfigError(f"{name!r} must be a whole number.")
    return int(text)


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ConfigError(f"{name!r} must lie in {low}..{high}; got {value}.")
