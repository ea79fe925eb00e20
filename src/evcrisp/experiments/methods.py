"""The methods of the tables: what each is called, how it is run, and how much there is to tune."""

import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, cast

from evcrisp.contrast import ContrastMap
from evcrisp.core.errors import EvError
from evcrisp.core.registry import build, lookup
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import FILTERS, Filter, build_filter
from evcrisp.filters.protocol import presets

Kind = Literal["filter", "estimator", "zero"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A row of a table.

    Parameters
    ----------
    key : str
        What users call it, such as ``"baf"``.
    label : str
        What the table calls it.
    family : str
        Its part of the table.
    kind : {"filter", "estimator", "zero"}
        Event by event, window by window, or an output of zero for comparison.
    name : str
        Name in ``FILTERS`` or ``ESTIMATORS``.
    params : mapping
        Parameters; ``sigma_px`` of an estimator is that of its contrast map.
    n_hyper : int, optional
        Number of hyper-parameters as the paper counts them; None where they are learned, or where
        there are none to count.
    resource : str, optional
        What a worker must have, such as ``"GPU"``.
    slow : bool
        So slow that a twin leaves it out unless it is asked for by name.
    """

    key: str
    label: str
    family: str
    kind: Kind
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    n_hyper: int | None = None
    resource: str | None = None
    slow: bool = False

    def filter(self) -> Filter:
        """Return the filter, with the parameters of E-MLB where it has them."""
        preset = "emlb" if "emlb" in presets(FILTERS[self.name]) else None
        return build_filter(self.name, **{"preset": preset, **self.params})

    def options(self) -> dict[str, Any]:
        """Return the options of the estimator."""
        options = dict(self.params)
        sigma_px = options.pop("sigma_px", None)
        if sigma_px is not None:
            options["contrast"] = ContrastMap(sigma_px=sigma_px)
        return options

    def estimator(self) -> Estimator:
        """Return the estimator."""
        return build(ESTIMATORS, self.name, "method", **self.options())

    def config(self) -> dict[str, Any]:
        """Return everything that decides its results, defaults included, as JSON types."""
        settings: dict[str, Any] = {}
        if self.kind != "zero":
            part = self.filter() if self.kind == "filter" else self.estimator()
            settings = asdict(cast(Any, part))
        plain = json.loads(json.dumps(settings, default=str))
        return {"kind": self.kind, "name": self.name, **plain}

    def missing(self) -> str | None:
        """Say why it cannot run here; None if it can."""
        if self.kind == "filter" and self.name not in FILTERS:
            return f"there is no filter {self.name!r}"
        if self.name == "edncnn" and importlib.util.find_spec("torch") is None:
            return 'it needs torch: pip install "evcrisp[torch]"'
        try:
            self.config()
        except EvError as error:
            return str(error)
        return None

    def tuned(self, label: str, key: str, params: Mapping[str, Any]) -> "Method":
        """Return the same method with other parameters, as a row of its own."""
        return replace(self, label=label, key=key, params={**self.params, **params})


def _filter(key: str, label: str, n_hyper: int | None, family: str = "filters") -> Method:
    return Method(key=key, label=label, family=family, kind="filter", name=key, n_hyper=n_hyper)


def _joint(key: str, label: str, name: str, n_hyper: int | None, family: str = "joint") -> Method:
    return Method(key=key, label=label, family=family, kind="estimator", name=name, n_hyper=n_hyper)


RAW = _filter("raw", "Raw", None)
EJA = _joint("eja", "EJA", "eja", 2)
PROPOSED = _joint("proposed", "Proposed (exact)", "exact", 3)
AUTO = _joint("auto", "auto (ours)", "auto", 0, "ours")
BAF_CMAX = _joint("baf+cmax", "BAF + CMax", "baf+cmax", None, "sequential")
ZERO = Method(key="zero", label="Zero output", family="controls", kind="zero", name="zero")

#: The rows of table 1, in its order; our own last.
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

#: The rows of table 3 that estimate something.
TABLE3 = (BAF_CMAX, EJA, PROPOSED, AUTO)


def chosen(methods: Sequence[Method], keys: Sequence[str]) -> tuple[Method, ...]:
    """Return some of the methods in the order of the table; all if none is named."""
    table = {method.key: method for method in methods}
    wanted = {lookup(table, key, "method of this table").key for key in keys}
    return tuple(method for method in methods if not keys or method.key in wanted)
