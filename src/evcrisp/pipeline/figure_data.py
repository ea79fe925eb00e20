"""Compute the data of a figure from a recording."""

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window, window_at
from evcrisp.io.recording import Recording
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.estimators.joint.pareto import ParetoFront
    from evcrisp.estimators.result import Estimate

logger = logging.getLogger(__name__)

#: Figures that compare several methods.
COMPARISONS = ("scatter", "outcomes", "roc")

#: Filters process this time before the window, us, so that their state does not start empty.
LEAD_US = 200_000


def read_window(
    recording: Recording, start_us: int, window_us: int, *, lead_us: int = 0
) -> tuple[Events, Window]:
    """Return the events up to ``lead_us`` before a window, and the window; raise if it is empty."""
    lead_us = min(max(start_us, 0), lead_us)
    whole = window_at(recording.chunks(), start_us - lead_us, window_us + lead_us)
    t_start = whole.t_start + lead_us
    n_lead = int(np.searchsorted(whole.events.t, t_start)) if lead_us else 0
    t_end = max(whole.t_end, t_start + 1)
    window = Window(whole.events[n_lead:], t_start, t_end, whole.index + n_lead)
    if not len(window.events):
        raise EventDataError(
            f"There are no events from {start_us / 1000:g} ms to "
            f"{(start_us + window_us) / 1000:g} ms after the first one."
        )
    return whole.events[:n_lead], window


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSource:
    """Settings of the figures of a recording.

    >>> import evcrisp, tempfile
    >>> scene = evcrisp.simulate(resolution=(80, 60), noise_hz=5.0, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = evcrisp.write(f"{folder}/a.npz", scene.events)
    ...     with evcrisp.open(f"{folder}/a.npz") as recording:
    ...         data = FigureSource(methods=("baf",)).data("scatter", recording)
    >>> list(data), list(data["labels"])
    (['events', 'labels'], ['baf'])
    """

    methods: tuple[str, ...] = ("auto",)  # or filters; only comparisons use more than the first
    motion: str = "auto"  # or a model for all windows
    camera: "Camera | None" = None
    params: dict[str, Any] = field(default_factory=dict)  # of the method
    start_us: int = 0  # start of the window, us after the first event
    window_us: int = 30_000
    n_points: int = 21  # of a Pareto front

    def data(self, kind: str, recording: Recording) -> dict[str, Any]:
        """Return the keyword arguments of :func:`evcrisp.plots.figure`."""
        camera = camera_for(recording, self.motion, self.camera)
        return replace(self, camera=camera)._data(kind, recording)

    def _data(self, kind: str, recording: Recording) -> dict[str, Any]:
        if kind == "motion":
            return {"estimates": self._track(recording), **_gyroscope(recording, self.motion)}
        lead, window = read_window(recording, self.start_us, self.window_us, lead_us=LEAD_US)
        if kind in ("pareto", "tradeoff"):
            return {"front": self.front(window)}
        if kind in COMPARISONS:
            return self._comparison(kind, lead, window)
        if kind == "xyt":
            signal, _ = self._labels(lead, window, self.methods[0])
            return {"events": window.events, "signal": signal}
        estimate = self._estimate(window, self.methods[0])
        return {"flow": estimate.flow()} if kind == "flow" else {"estimate": estimate}

    def front(self, window: Window, **options: Any) -> "ParetoFront":
        """Return the Pareto front of a window; options as for :func:`evcrisp.pareto_front`."""
        from evcrisp.estimators.estimate import model_for
        from evcrisp.estimators.joint.pareto import front_config, pareto_front

        config = front_config(**self.params)
        model = model_for(self.motion, window.events.resolution, self.camera)
        return pareto_front(window, model, config, n_points=self.n_points, **options)

    def _estimate(self, window: Window, method: str) -> "Estimate":
        from evcrisp.estimators.estimate import estimate

        result = estimate(window, method, self.motion, camera=self.camera, **self.params)
        for text in result.warnings:
            logger.warning("%s: %s", method, text)
        if not result.signal.any():
            logger.warning(
                "%s keeps none of the %s events of this window.", method, f"{len(result):,}"
            )
        return result

    def _labels(self, lead: Events, window: Window, method: str) -> tuple[Bools, Floats]:
        """Return labels and scores of a window, from a method or a filter."""
        from evcrisp.core.registry import lookup
        from evcrisp.estimators.registry import ESTIMATORS
        from evcrisp.filters import FILTERS, denoise

        lookup({**ESTIMATORS, **FILTERS}, method, "method or filter")
        if method in ESTIMATORS:
            result = self._estimate(window, method)
            return result.signal, result.score
        events = Events.concatenate((lead, window.events))
        labels = denoise(events, method, **self.params)
        return labels.signal[len(lead) :], labels.score[len(lead) :]

    def _track(self, recording: Recording) -> "list[Estimate]":
        from evcrisp.pipeline.tracking import track
        from evcrisp.pipeline.windowing import Windowing

        settings: dict[str, Any] = {"windowing": Windowing(window_us=self.window_us), **self.params}
        estimates = list(track(recording, self.methods[0], self.motion, self.camera, **settings))
        if not estimates:
            raise EventDataError("There are no events, and so no motion to draw.")
        return estimates

    def _comparison(self, kind: str, lead: Events, window: Window) -> dict[str, Any]:
        from evcrisp.metrics import confusion, roc_curve

        events, truth = window.events, window.events.signal
        if kind != "scatter" and truth is None:
            raise EventDataError(
                f"The figure {kind!r} needs true labels, and this recording has none. "
                "Simulated recordings in .npz files have them."
            )
        found = {method: self._labels(lead, window, method) for method in self.methods}
        if kind != "roc" or truth is None:
            labels = {method: signal for method, (signal, _) in found.items()}
            return {"events": events, "labels": labels}
        counts = {method: confusion(signal, truth) for method, (signal, _) in found.items()}
        return {
            "curves": {method: roc_curve(score, truth) for method, (_, score) in found.items()},
            "points": {name: (1.0 - c.specificity, c.sensitivity) for name, c in counts.items()},
        }


def _gyroscope(recording: Recording, motion: str) -> dict[str, Any]:
    """Return the gyroscope of a recording for the figure of a rotation, and say its axes."""
    from evcrisp.pipeline.camera_motion.gyroscope import gyroscope_of

    found = gyroscope_of(recording)
    if found is None or motion != "rotation":
        return {"imu": None}
    logger.info("%s", found.statement)
    return {"imu": found.imu, "imu_label": found.axes.label}
