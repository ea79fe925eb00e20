"""First denoise, then align what is left."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.estimators.alignment import WindowData
from evcrisp.estimators.cmax import Cmax
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.readings import concluded
from evcrisp.estimators.result import Estimate
from evcrisp.filters import Denoiser, Labels, denoiser
from evcrisp.motion import MotionModel
from evcrisp.windows import Window

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential:
    """Label the events with a filter, then align those that it keeps.

    Parameters
    ----------
    filter : str
        One of the keys of ``evcrisp.filters.DENOISERS``.
    filter_options : mapping
        Its parameters, such as ``{"tau_us": 2000}``.
    align : Cmax
        How to align.

    Notes
    -----
    Labels and scores are the filter's. It starts anew with every window, so that the first events
    of a window find no earlier ones to support them.
    """

    name: ClassVar[str] = "sequential"

    filter: str = "baf"
    filter_options: Mapping[str, object] = field(default_factory=dict)
    align: Cmax = field(default_factory=Cmax)

    def __post_init__(self) -> None:
        self._denoiser()

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate labels and motion of one window."""
        events = window.events
        stream = self._denoiser().start(events.resolution)
        labels = Labels.joined([stream.label(events), stream.finish()])
        data = WindowData.of(window, model)
        end = self.align.align(data.subset(labels.signal & ~hot_events(events)), theta0)
        return concluded(self, window, data, end, labels.score, labels.signal)

    def _denoiser(self) -> Denoiser:
        return denoiser(self.filter, params=self.filter_options)


@dataclass(frozen=True, slots=True, kw_only=True)
class BafCmax(Sequential):
    """The paper's sequential baseline: background activity filter, then contrast maximization."""

    name: ClassVar[str] = "baf+cmax"
