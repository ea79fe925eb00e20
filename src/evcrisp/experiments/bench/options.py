"""Options of a bench, and its rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from evcrisp.core.registry import build, lookup
from evcrisp.core.validation import check_number
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.experiments.bench.competitors import BY_PATH, COMPETITORS
from evcrisp.experiments.methods import Method, method_for
from evcrisp.filters import FILTERS
from evcrisp.motion.open_motion import OPEN_MOTIONS
from evcrisp.motion.registry import MOTION_MODELS

#: Rows by default: a control, fast methods, the usual filters, and competitors that are installed.
DEFAULT_METHODS = (
    "raw", "auto", "exact", "cmax", "eja", "entropy", "baf+cmax", "baf", "stcf", "dwf", "knoise",
    "ynoise", "ts", "ebf", "pfd", "mlpf", *COMPETITORS,
)  # fmt: skip

#: Word for every registered method and filter, and every competitor that is installed.
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """Options of a bench.

    Parameters
    ----------
    max_events, max_us : int, optional
        Bounds of the part of a recording that is used, from its start or that of its truth on. None:
        no bound. The slow bars of DVSFLOW16 use up to 10 s.
    noise_hz : float
        Noise that is added to recordings without labels, Hz per pixel; at most as many events as the
        recording has.
    slice_events : int
        Number of events of a slice of the ESR.
    motion : str
        Motion of the estimators: "auto", or the name of a model.
    measures_aocc : bool
        Whether to measure the contrast curve, which takes most of the time of fast filters.
    seed : int
        Seed of noise, random controls and bootstrap.
    device : str, optional
        Where methods with a parallel form run, such as "cuda"; the others use the compiled kernels.
    """

    max_events: int | None = 100_000
    max_us: int | None = 2_000_000
    noise_hz: float = 5.0
    slice_events: int = 30_000
    motion: str = "auto"
    measures_aocc: bool = True
    seed: int = 0
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_events", "max_us", "slice_events"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 1, whole=True)
        check_number("noise_hz", self.noise_hz, 0, 10_000, open_low=True)
        lookup({**dict.fromkeys(OPEN_MOTIONS), **MOTION_MODELS}, self.motion, "motion")

    def settings(self) -> dict[str, Any]:
        """Return the options as JSON types; part of the key of a result.

        The device is that of the method: see `Method.on`.
        """
        return {name: value for name, value in asdict(self).items() if name != "device"}


def bench_methods(words: Sequence[Any] | None) -> tuple[tuple[Method, ...], tuple[str, ...]]:
    """Return the rows, and a note for each that cannot run here.

    ``words`` are names of estimators, filters and competitors, ``NAME:PATH`` for networks with public
    weights, "all", classes, or objects. The control "raw" is always the first row. A named method that
    cannot run raises; of the default rows it is left out with a note.
    """
    chosen = DEFAULT_METHODS if words is None else tuple(words)
    if ALL in chosen:
        every = (*ESTIMATORS, *FILTERS, *COMPETITORS)
        chosen = (*every, *(word for word in chosen if word != ALL))
    rows: list[Method] = []
    notes: list[str] = []
    named = () if words is None else tuple(words)
    for word in ("raw", *chosen):
        if isinstance(word, str) and any(row.key == word for row in rows):
            continue
        try:
            row = _row(word)
        except ImportError as error:
            if word in named:
                raise
            notes.append(f"{word} was left out: {error}")
            continue
        rows.append(_with_free_key(row, rows))
    return tuple(rows), tuple(notes)


def _row(word: Any) -> Method:
    """Return the row of a method; parts are objects, so that their own defaults apply."""
    if not isinstance(word, str):
        return method_for(word)
    name, has_path, path = word.partition(":")
    if has_path and name in BY_PATH:
        return _method(word, BY_PATH[name](path), "competitors")
    if word in COMPETITORS:
        return _method(word, COMPETITORS[word](), "competitors")
    if word in ESTIMATORS:
        return _method(word, build(ESTIMATORS, word, "method"), "estimators")
    if word in FILTERS:
        return _method(word, build(FILTERS, word, "filter"), "filters")
    known: dict[str, Any] = dict.fromkeys(
        (*ESTIMATORS, *FILTERS, *COMPETITORS, *(f"{n}:PATH" for n in BY_PATH))
    )
    return lookup(known, word, "method")  # raises, with the names that exist


def _method(key: str, part: Any, family: str) -> Method:
    family = "controls" if key == "raw" else family
    label = getattr(part, "title", key)
    kind = "estimator" if hasattr(part, "run") else "filter"
    return Method(key=key, label=label, family=family, kind=kind, name=key, part=part)


def _with_free_key(row: Method, rows: Sequence[Method]) -> Method:
    """Return a row with another key if an object of the same name has it already."""
    keys, number = {other.key for other in rows}, 2
    key = row.key
    while key in keys:
        key, number = f"{row.key}-{number}", number + 1
    return row if key == row.key else replace(row, key=key, label=key)
