"""State of `auto` over a recording: the motions of the window before."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.protocol import IndependentWindows
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.view_frame import on_view_frame
from evcrisp.motion import MotionModel
from evcrisp.motion.open_motion import OpenMotion, is_open

if TYPE_CHECKING:
    from evcrisp.estimators.auto.auto import AutoRegret


@dataclass(frozen=True, slots=True)
class _WithoutMap:
    """`auto` without the confidence map and the joint objectives, for models that are given."""

    method: "AutoRegret"
    name: ClassVar[str] = "auto"

    @on_view_frame
    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window."""
        return self.method.run_both(window, model, theta0, with_map=False).final


class AutoSession:
    """Session of `auto`: a given model from window to window, or the search for models."""

    def __init__(self, method: "AutoRegret", *, with_map: bool = True) -> None:
        self._method = method
        self._run_both = partial(method.run_both, with_map=with_map)
        self._windows = IndependentWindows(method if with_map else _WithoutMap(method))
        self._finder: Any = None  # made when a motion is open

    def run(
        self,
        window: Window,
        model: MotionModel,
        theta0: Floats | None = None,
        hot: Bools | None = None,
    ) -> Estimate:
        """Estimate the next window; events of hot pixels, (n,), are noise."""
        if not is_open(model):
            return self._windows.run(window, model, theta0, hot)
        from evcrisp.estimators.layers.motion_finder import MotionFinder, with_hot_events

        if self._finder is None:
            self._finder = MotionFinder(self._run_both, self._method.false_alarm)
        wanted = cast(OpenMotion, model)
        if hot is None or not hot.any():
            return self._configured(self._finder.run(window, wanted, theta0))
        others = replace(window, events=window.events[~hot])
        result = self._configured(self._finder.run(others, wanted, theta0))
        if result.layer_map is None:
            return self._windows.with_hot_events(result, window, hot)
        return with_hot_events(result, window, hot)

    def _configured(self, result: Estimate) -> Estimate:
        """Return an estimate with its method; that of layers has none, that of one motion has it."""
        return result if result.config is self._method else replace(result, config=self._method)
