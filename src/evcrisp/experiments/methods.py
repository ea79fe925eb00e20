"""Methods of the tables: labels, parameters, and how each is built."""

import hashlib
import importlib.util
import itertools
import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, Literal

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.errors import ConfigError, EvError
from evcrisp.core.registry import build, lookup
from evcrisp.estimators.baselines.sequential import Sequential
from evcrisp.estimators.devices import runs_on_device
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.experiments.code_digest import attributes_of, code_digest
from evcrisp.filters import FILTERS, Filter
from evcrisp.filters.on_device.device_filter import has_parallel_form, on_device
from evcrisp.tensors.devices import torch_device

Kind = Literal["filter", "estimator", "zero"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A row of a table."""

    key: str  # name on the command line, such as "baf"
    label: str  # name in the table
    family: str  # group of rows in the table
    kind: Kind  # labels event by event, estimates window by window, or outputs zero as a control
    name: str  # in `FILTERS` or `ESTIMATORS`
    part: Any = None  # class or object of a method that is not built in; replaces `name`
    #: `sigma_px` is that of the contrast map.
    params: Mapping[str, Any] = field(default_factory=dict)
    n_hyper: int | None = None  # hyper-parameters in the paper; None if learned or unknown
    resource: str | None = None  # resource that a worker needs, such as "GPU"
    slow: bool = False  # left out of simulated data sets unless it is named
    device: str | None = None  # where it runs; None: the compiled kernels

    def filter(self) -> Filter:
        """Return the filter, with the parameters of E-MLB if it has that preset."""
        part = lookup(FILTERS, self.name, "filter") if self.part is None else self.part
        preset = getattr(part, "presets", {}).get("emlb", {}) if isinstance(part, type) else {}
        found = build(FILTERS, part, "filter", **{**preset, **self.params})
        return found if self.device is None else on_device(found, self.device)

    def estimator(self) -> Estimator:
        """Return the estimator."""
        options = dict(self.params)
        sigma_px = options.pop("sigma_px", None)
        if sigma_px is not None:
            options["contrast"] = ContrastMap(sigma_px=sigma_px)
        part = self.name if self.part is None else self.part
        return build(ESTIMATORS, part, "method", **options)

    def configured(self) -> Any:
        """Return the filter or the estimator; None for the control of zero output."""
        if self.kind == "zero":
            return None
        return self.filter() if self.kind == "filter" else self.estimator()

    def config(self) -> dict[str, Any]:
        """Return all parameters that affect the results, defaults included, as JSON types."""
        part = self.configured()
        settings = asdict(part) if is_dataclass(part) else attributes_of(part)
        plain = json.loads(json.dumps(settings, default=_as_json))
        device = {} if self.device is None else {"device": self.device}
        return {"kind": self.kind, "name": self.name, **plain, **device}

    def on(self, device: str | None) -> "Method":
        """Return the method on a device, if it has a parallel form; else the same method."""
        if device is None or self.kind == "zero" or self.missing() is not None:
            return self
        part = self.configured()
        can_run = has_parallel_form(part) if self.kind == "filter" else runs_on_device(part)
        return replace(self, device=device) if can_run else self

    def code(self) -> str | None:
        """Return a digest of its code outside evcrisp; None if it cannot be read."""
        return code_digest(self.configured())

    def missing(self) -> str | None:
        """Return the reason why it cannot run here; None if it can."""
        if self.kind == "filter" and self.part is None and self.name not in FILTERS:
            return f"there is no filter {self.name!r}"
        if self.name == "edncnn" and importlib.util.find_spec("torch") is None:
            return 'it needs torch: pip install "evcrisp[torch]"'
        try:
            self.config()
        except EvError as error:
            return str(error)
        return None

    def tuned(self, label: str, key: str, params: Mapping[str, Any]) -> "Method":
        """Return the same method with other parameters, as a separate row."""
        if is_dataclass(self.part) and not isinstance(self.part, type):
            return replace(self, label=label, key=key, part=replace(self.part, **params))
        return replace(self, label=label, key=key, params={**self.params, **params})

    def check_importable(self) -> None:
        """Raise unless other processes can import the class of the method."""
        kind = self.part if isinstance(self.part, type) else type(self.part)
        is_main = kind.__module__ == "__main__"
        is_interactive = is_main and not hasattr(sys.modules["__main__"], "__file__")
        try:
            pickle.loads(pickle.dumps(self.part))
            reason = "its class belongs to an interactive session" if is_interactive else None
        except Exception as error:
            reason = str(error)
        if reason is not None:
            raise ConfigError(
                f"The method {self.key!r} cannot run in other processes: {reason}. Define its class "
                "at the top level of a module that they can import, or use 0 workers."
            )


def _as_json(value: Any) -> Any:
    if hasattr(value, "__array__"):
        array = np.ascontiguousarray(value)
        return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    return attributes_of(value) or str(value)


def _filter(key: str, label: str, n_hyper: int | None, family: str = "filters") -> Method:
    return Method(key=key, label=label, family=family, kind="filter", name=key, n_hyper=n_hyper)


def _joint(key: str, label: str, name: str, n_hyper: int | None, family: str = "joint") -> Method:
    return Method(key=key, label=label, family=family, kind="estimator", name=name, n_hyper=n_hyper)


RAW = _filter("raw", "Raw", None)
EJA = _joint("eja", "EJA", "eja", 2)
PROPOSED = _joint("proposed", "Proposed (exact)", "exact", 3)
AUTO = _joint("auto", "auto (ours)", "auto", 0, "ours")
BAF_CMAX = _joint("baf+cmax", "BAF + CMax", "baf+cmax", None, "sequential")

#: Controls of table 3.
ZERO = Method(key="zero", label="Zero output", family="controls", kind="zero", name="zero")
GYRO = replace(ZERO, key="gyro", label="Gyroscope, mean of the window", name="gyro")

#: Rows of table 1 in the order of the paper, then ours.
TABLE1 = (
    RAW,
    _filter("baf", "BAF", 2),
    _filter("dwf", "DWF", 3),
    _filter("knoise", "KNoise", 2),
    _filter("ynoise", "YNoise", 3),
    _filter("ts", "TS", 3),
    _filter("evflow", "EVFlow", 3),
    EJA,
    PROPOSED,
    replace(_filter("edncnn", "EDnCNN", None, "learned"), slow=True),
    _filter("mlpf", "MLPF", None, "learned"),
    AUTO,
)

#: Rows of table 3 that estimate a motion.
TABLE3 = (BAF_CMAX, EJA, PROPOSED, AUTO)


def method_for(part: Any, rows: Sequence[Method] = ()) -> Method:
    """Return the row of a method, from its key (first), registered name, class or object."""
    if isinstance(part, Method):
        return part
    if isinstance(part, str):
        for method in (*rows, *TABLE1, *TABLE3):
            if method.key == part:
                return method
        kind: Kind = "estimator" if part in ESTIMATORS else "filter"
        known = dict.fromkeys((*FILTERS, *ESTIMATORS, *(row.key for row in rows)))
        lookup(known, part, "method of this table")
        found = (ESTIMATORS if kind == "estimator" else FILTERS)[part]
        is_built_in = found.__module__.startswith("evcrisp.")
        name, part = part, None if is_built_in else found
    else:
        kind = "estimator" if hasattr(part, "run") else "filter"
        if not hasattr(part, "run" if kind == "estimator" else "start"):
            raise ConfigError(
                "must be a name, an estimator with `run`, or a filter with `start`",
                parameter="methods",
                value=part,
            )
        name = getattr(part, "name", None) or getattr(part, "__name__", type(part).__name__)
    return Method(key=name, label=name, family="others", kind=kind, name=name, part=part)


def device_name(device: str | None) -> str | None:
    """Return the device of tasks on this machine; None for the compiled kernels.

    Raises
    ------
    ConfigError
        If there is no such device.
    """
    found = None if device is None else torch_device(device)
    if found is None:
        return None
    return str(found) if device == "auto" else device


def device_notes(methods: Sequence[Method]) -> tuple[str, ...]:
    """Return a note on the methods that do not run on the compiled kernels."""
    keys = [method.key for method in methods if method.device is not None]
    devices = {method.device for method in methods if method.device is not None}
    return (f"Computed on {', '.join(sorted(devices))}: {', '.join(keys)}.",) if keys else ()


#: Word for all rows of a table, and every other registered method and filter.
ALL = "all"


def with_alignment(method: Method) -> Method:
    """Return a filter followed by contrast maximization, for tables that need a motion."""
    if method.kind != "filter":
        return method
    part = Sequential(filter=method.filter())
    key, label = f"{method.key}+cmax", f"{method.label} + CMax"
    return Method(
        key=key, label=label, family="sequential", kind="estimator", name=key, part=part,
        slow=method.slow,
    )  # fmt: skip


def _fitting(method: Method, rows: Sequence[Method], kinds: Sequence[str]) -> Method:
    """Return a method of a kind that a table measures; a row if one is the same."""
    if method.kind in kinds:
        return method
    aligned = with_alignment(method)
    same = (row for row in rows if row.key == aligned.key and method.part is None)
    return next(same, aligned)


def _without_all(rows: Sequence[Method], chosen: Sequence[Any]) -> Sequence[Any]:
    """Return the chosen methods, with those that the word "all" stands for."""
    if ALL not in [part for part in chosen if isinstance(part, str)]:
        return chosen
    known = {name for row in rows for name in (row.key, row.name)}
    named = [name for name in (*ESTIMATORS, *FILTERS) if name not in known]
    others = [part for part in chosen if not isinstance(part, str) or part not in (ALL, *named)]
    return [*rows, *named, *others]


def select_methods(
    rows: Sequence[Method], chosen: Sequence[Any], kinds: Sequence[str] = ("filter", "estimator")
) -> tuple[Method, ...]:
    """Return chosen rows in the order of the table, then other methods as given.

    All rows are returned if none is chosen. In a table that needs a motion, a filter is followed by
    contrast maximization.
    """
    if not chosen:
        return tuple(rows)
    chosen = _without_all(rows, chosen)
    once = {part if isinstance(part, str) else id(part): part for part in chosen}
    found = [_fitting(method_for(part, rows), rows, kinds) for part in once.values()]
    methods = [row for row in rows if any(method is row for method in found)]
    for method in found:
        if any(method is row for row in rows):
            continue
        keys = {other.key for other in (ZERO, GYRO, *methods)}
        numbered = (f"{method.key}-{n}" for n in itertools.count(2))
        key = next(key for key in itertools.chain([method.key], numbered) if key not in keys)
        label = method.label if key == method.key else key
        methods.append(replace(method, key=key, label=label))
    return tuple(methods)
