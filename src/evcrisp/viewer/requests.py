"""Requests of the page for computations, with validation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import Registry, lookup
from evcrisp.core.validation import check_number
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import FILTERS
from evcrisp.motion import MOTION_MODELS
from evcrisp.motion.open_motion import OPEN_MOTIONS

MIN_DURATION_US, MAX_DURATION_US = 1, 10_000_000
MAX_START_US = 1 << 52
MIN_POINTS, MAX_POINTS = 3, 41

#: Kinds of computations, and the queue of each: for one window or for the whole recording.
KINDS = {
    **dict.fromkeys(("estimate", "filter", "front", "point"), "window"),
    **dict.fromkeys(("track", "save", "save_filtered"), "recording"),
}

#: Registries of the fields of a request that are names.
REGISTRIES: dict[str, Registry[Any]] = {
    "method": ESTIMATORS,
    "motion": MOTION_MODELS,
    "filter": FILTERS,
}


def known_names(field: str) -> list[str]:
    """Return the names that a field can have, in the order of the menus.

    Open motions come first. Methods that find no motion model take them as a translation.
    """
    return [*(OPEN_MOTIONS if field == "motion" else ()), *REGISTRIES[field]]


#: Types of the fields of a request in JSON, by their annotation, and in words.
_JSON_TYPES: dict[Any, tuple[type, str]] = {
    str: (str, "a text"),
    int: (int, "a whole number"),
    dict[str, Any]: (dict, "an object"),
}

#: Number of parameters in one request, above that of any part.
MAX_OPTIONS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One computation.

    "estimate" gives motion and labels of a window, "filter" the labels of a filter, "front" the
    Pareto front, "point" motion and labels of one of its points, "track" the motion over time. "save" writes
    the events that the method keeps to a file, "save_filtered" those that the filter keeps.
    """

    kind: str
    start_us: int = 0  # start of the window, us after the first event
    duration_us: int = 30_000
    method: str = "auto"  # names in the registries
    motion: str = "auto"  # or an open motion
    filter: str = "baf"
    method_options: dict[str, Any] = field(default_factory=dict)  # parameters by name
    filter_options: dict[str, Any] = field(default_factory=dict)
    windows: str = "fixed"  # "auto": the window is one of those that the events choose
    n_points: int = 13  # of the front
    index: int = 0  # of a point

    def __post_init__(self) -> None:
        lookup(KINDS, self.kind, "computation")
        for name, registry in REGISTRIES.items():
            part = getattr(self, name)
            if not isinstance(part, str):
                raise ConfigError(
                    "must be a name, because the page shows names and another process computes",
                    parameter=name,
                    value=part,
                    remedy="Register the part under a name in an installed package.",
                )
            lookup(dict.fromkeys(known_names(name)), part, registry.kind)
        lookup(dict.fromkeys(("fixed", "auto")), self.windows, "kind of windows")
        check_window(self.start_us, self.duration_us)
        check_number("n_points", self.n_points, MIN_POINTS, MAX_POINTS)
        check_number("index", self.index, 0, MAX_POINTS)

    @classmethod
    def from_json(cls, fields: Any) -> "Request":
        """Return a request from a decoded JSON object."""
        if not isinstance(fields, Mapping) or not isinstance(fields.get("kind"), str):
            raise ConfigError("A request must be an object with the key 'kind'.")
        unknown = sorted(set(fields) - set(cls.__dataclass_fields__))
        if unknown:
            raise ConfigError(f"Unknown key {str(unknown[0])[:40]!r}.")
        for name, value in fields.items():
            kind, what = _JSON_TYPES[cls.__dataclass_fields__[name].type]
            if type(value) is not kind:
                raise ConfigError(f"{name!r} must be {what}.")
            if kind is dict:
                _check_options(name, value)
        return cls(**fields)

    @property
    def queue(self) -> str:
        """Name of the queue: "window" or "recording"."""
        return KINDS[self.kind]


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise unless all parameters are plain values; their part checks names and ranges."""
    if len(options) > MAX_OPTIONS:
        raise ConfigError(f"{name!r} must have at most {MAX_OPTIONS} parameters.")
    for option, value in options.items():
        if not isinstance(value, (bool, int, float, str)):
            raise ConfigError(
                f"{option[:40]!r} in {name!r} must be a number, a text or a truth value."
            )


def check_window(start_us: int, duration_us: int) -> None:
    """Raise unless start and duration of a window are in range."""
    check_number("start_us", start_us, -MAX_START_US, MAX_START_US)
    check_duration("duration_us", duration_us)


def check_duration(name: str, value: int) -> None:
    """Raise unless the duration of a window is in range."""
    check_number(name, value, MIN_DURATION_US, MAX_DURATION_US)


def parse_whole_number(text: str | None, name: str) -> int:
    """Return the whole number in a query parameter."""
    if text is None or not text.lstrip("-").isdecimal() or len(text) > 20:
        raise ConfigError(f"{name!r} must be a whole number.")
    return int(text)
