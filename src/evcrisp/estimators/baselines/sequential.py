"""Denoise with a filter, then align the signal events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.protocol import IndependentWindows, Session
from evcrisp.estimators.result import Estimate, estimate_from_solver
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.filters import Filter, Labels, build_filter
from evcrisp.filters.protocol import Stream, is_causal
from evcrisp.motion import MotionModel
from evcrisp.search.window_data import WindowData


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential:
    """Label the events with a filter, then align its signal events.

    Labels and scores are those of the filter. For a single window the filter starts without a
    state, so that the first events have no support. In :func:`evcrisp.track` a causal filter keeps
    its state from window to window.

    Parameters
    ----------
    filter : str, type or Filter
        One of the keys of ``evcrisp.filters.FILTERS``, a class, or an object.
    filter_options : mapping
        Parameters of the filter, such as ``{"tau_us": 2000}``; none for an object.
    align : Cmax
        Parameters of the alignment.
    """

    name: ClassVar[str] = "sequential"

    filter: str | type[Filter] | Filter = "baf"
    filter_options: Mapping[str, Any] = field(default_factory=dict)
    align: Cmax = field(default_factory=Cmax)

    def __post_init__(self) -> None:
        self._filter()

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate labels and motion of one window."""
        stream = self._filter().start(window.events.resolution)
        labels = Labels.concatenate([stream.label(window.events), stream.finish()])
        return self.align_labeled(window, model, theta0, labels)

    def align_labeled(
        self, window: Window, model: MotionModel, theta0: Floats | None, labels: Labels
    ) -> Estimate:
        """Estimate the motion of a window with given labels."""
        data = WindowData.of(window, model)
        end = self.align.align(data.subset(labels.signal & ~hot_events(window.events)), theta0)
        return estimate_from_solver(self, window, data, end, labels.score, labels.signal)

    def start_session(self, resolution: tuple[int, int]) -> Session:
        """Begin a recording; a causal filter keeps its state from window to window."""
        config = self._filter()
        if is_causal(config):
            return FilterSession(self, config.start(resolution))
        return IndependentWindows(self)

    def _filter(self) -> Filter:
        return build_filter(self.filter, **self.filter_options)


@dataclass(frozen=True, slots=True, kw_only=True)
class BafCmax(Sequential):
    """The paper's sequential baseline: background activity filter, then contrast maximization."""

    name: ClassVar[str] = "baf+cmax"


class FilterSession:
    """Session of a causal filter: its state continues from window to window."""

    def __init__(self, config: Sequential, stream: Stream) -> None:
        self.config, self.stream = config, stream
        self.labels = Labels.empty(0)  # of the events that a window may contain again
        self.first = 0  # number of events of the recording before these

    def run(
        self, window: Window, model: MotionModel, theta0: Floats | None, hot: Bools
    ) -> Estimate:
        """Estimate labels and motion of the next window; hot events, shape (n,), are noise."""
        n_known = max(self.first + len(self.labels) - window.index, 0)
        new = self._label(window.events[n_known:], hot[n_known:])
        both = Labels.concatenate([self.labels, new])
        past = slice(max(window.index - self.first, 0), None)
        self.labels, self.first = Labels(both.signal[past], both.score[past]), window.index
        lowest = min(float(self.labels.score.min(initial=0.0)), 0.0)
        score = np.where(hot, lowest, self.labels.score)
        labels = Labels(self.labels.signal & ~hot, score)
        return self.config.align_labeled(window, model, theta0, labels)

    def _label(self, events: Events, hot: Bools) -> Labels:
        """Label new events; events of hot pixels support no others."""
        labels = Labels(np.zeros(hot.size, np.bool_), np.zeros(hot.size))
        found = self.stream.label(events[~hot])
        labels.signal[~hot], labels.score[~hot] = found.signal, found.score
        return labels
