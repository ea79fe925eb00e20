"""Background activity filter and contrast maximization of eventcv."""

import importlib.metadata
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.registry import require
from evcrisp.core.status import Status
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.baselines.cmax import Cmax, leave_one_out_contrast
from evcrisp.estimators.result import Estimate, estimate_from_solver
from evcrisp.experiments.bench.competitors.live import LiveFilter, kept_of
from evcrisp.motion import MotionModel
from evcrisp.motion.translation import Translation
from evcrisp.optimize import SolverResult
from evcrisp.search.window_data import WindowData


@dataclass(frozen=True, slots=True, kw_only=True)
class EventcvBaf(LiveFilter):
    """`background_activity_filter` of eventcv; it has no default time, and that of evcrisp is used."""

    name: ClassVar[str] = "eventcv-baf"
    title: ClassVar[str] = "BAF of eventcv"
    module: ClassVar[str] = "eventcv"
    distribution: ClassVar[str] = "eventcv"
    tau_us: int = 2000
    neighbourhood: str = "block"

    def signal_of(self, events: Events) -> Bools:
        """Return which events of a whole recording are kept."""
        stream = events.with_signal(None).to_eventcv()
        kept = stream.background_activity_filter(self.tau_us, neighbourhood=self.neighbourhood)
        return kept_of(events, Events.from_eventcv(kept, events.resolution))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventcvCmax:
    """`contrast_maximise` of eventcv with its defaults: one translation per window, no labels.

    The score of an event is its leave-one-out contrast, as for `cmax`.
    """

    name: ClassVar[str] = "eventcv-cmax"
    title: ClassVar[str] = "CMax of eventcv"
    package: str = field(init=False, default="")

    def __post_init__(self) -> None:
        require("eventcv", extra=None, purpose="Runs of 'eventcv-cmax'")
        object.__setattr__(self, "package", f"eventcv {importlib.metadata.version('eventcv')}")

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate the translation of one window; the model and the start are not used."""
        data = WindowData.of(window, Translation())
        n = len(window.events)
        end = SolverResult(theta=np.zeros(2), value=0.0, status=Status.TOO_FEW_EVENTS, n_eval=0)
        if n > 1 and window.events.duration_us:
            found = window.events.with_signal(None).to_eventcv().contrast_maximise()
            theta = np.array(found["params"], np.float64)
            end = SolverResult(theta=theta, value=0.0, status=Status.CONVERGED, n_eval=0)
        score = leave_one_out_contrast(data, end.theta, Cmax().contrast)
        return estimate_from_solver(self, window, data, end, score)
