"""What ``evcrisp plot`` computes from a recording for each kind of figure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.windows import Window, window_at
from evcrisp.io.recording import Recording

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.estimators.joint.pareto import ParetoFront
    from evcrisp.estimators.result import Estimate

#: Figures that compare several methods.
COMPARING = ("scatter", "outcomes", "roc")

#: Filters see this much before the window, so that their state is not that of a start.
LEAD_US = 200_000


def refuse_nothing(window: Window, start_us: int, window_us: int) -> None:
    """Raise if the window that was asked for is empty."""
    if not len(window.events):
        raise EventDataError(
            f"There are no events from {start_us / 1000:g} ms to "
            f"{(start_us + window_us) / 1000:g} ms after the first one."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSource:
    """The options of the command."""

    names: tuple[str, ...]
    motion: str
    camera: "Camera | None"
    params: dict[str, Any]
    start_us: int
    window_us: int
    n_points: int

    def data(self, kind: str, recording: Recording) -> dict[str, Any]:
        """Return what a figure needs, by name."""
        if kind == "motion":
            return {"estimates": self._track(recording), "imu": recording.imu()}
        lead, window = self._window(recording)
        if kind in ("pareto", "tradeoff"):
            return {"front": self._front(window)}
        if kind in COMPARING:
            return self._comparison(kind, lead, window)
        if kind == "xyt":
            signal, _ = self._labels(lead, window, self.names[0])
            return {"events": window.events, "signal": signal}
        return {"estimate": self._estimate(window, self.names[0])}

    def _window(self, recording: Recording) -> tuple[Events, Window]:
        """Return the window that was asked for, and the events before it."""
        lead_us = min(max(self.start_us, 0), LEAD_US)
        whole = window_at(recording.chunks(), self.start_us - lead_us, self.window_us + lead_us)
        t_start = whole.t_start + lead_us
        n_lead = int(np.searchsorted(whole.events.t, t_start))
        t_end = max(whole.t_end, t_start + 1)
        window = Window(whole.events[n_lead:], t_start, t_end, whole.index + n_lead)
        refuse_nothing(window, self.start_us, self.window_us)
        return whole.events[:n_lead], window

    def _estimate(self, window: Window, name: str) -> "Estimate":
        from evcrisp.estimators.estimate import estimate

        return estimate(window, name, self.motion, camera=self.camera, **self.params)

    def _labels(
        self, lead: Events, window: Window, name: str
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return labels and scores of a window, by a method or by a filter."""
        from evcrisp.core.registry import lookup
        from evcrisp.estimators.registry import ESTIMATORS
        from evcrisp.filters import FILTERS, denoise

        lookup({**ESTIMATORS, **FILTERS}, name, "method or filter")
        if name in ESTIMATORS:
            result = self._estimate(window, name)
            return result.signal, result.score
        labels = denoise(Events.concatenate((lead, window.events)), name, **self.params)
        return labels.signal[len(lead) :], labels.score[len(lead) :]

    def _track(self, recording: Recording) -> "list[Estimate]":
        from evcrisp.pipeline.tracking import track
        from evcrisp.pipeline.windowing import Windowing

        results = track(
            recording,
            self.names[0],
            self.motion,
            camera=self.camera,
            windowing=Windowing(window_us=self.window_us),
            **self.params,
        )
        estimates = list(results)
        if not estimates:
            raise EventDataError("There are no events, and so no motion to draw.")
        return estimates

    def _front(self, window: Window) -> "ParetoFront":
        from evcrisp.core.registry import build
        from evcrisp.estimators.estimate import model_for
        from evcrisp.estimators.joint.exact import ExactRegret
        from evcrisp.estimators.joint.pareto import pareto_front

        config = build({"exact": ExactRegret}, "exact", "method", **self.params)
        model = model_for(self.motion, window.events.resolution, self.camera)
        return pareto_front(window, model, config, n_points=self.n_points)

    def _comparison(self, kind: str, lead: Events, window: Window) -> dict[str, Any]:
        from evcrisp.metrics import confusion, roc_curve

        events, truth = window.events, window.events.signal
        if kind != "scatter" and truth is None:
            raise EventDataError(
                f"The figure {kind!r} needs the truth, and this recording has no labels. "
                "Simulated recordings in .npz files have them."
            )
        found = {name: self._labels(lead, window, name) for name in self.names}
        if kind != "roc" or truth is None:
            labels = {name: signal for name, (signal, _) in found.items()}
            return {"events": events, "labels": labels}
        counts = {name: confusion(signal, truth) for name, (signal, _) in found.items()}
        return {
            "curves": {name: roc_curve(score, truth) for name, (_, score) in found.items()},
            "points": {name: (1.0 - c.specificity, c.sensitivity) for name, c in counts.items()},
        }
