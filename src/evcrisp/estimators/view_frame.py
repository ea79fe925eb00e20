"""Estimate a window on the rectangle of its events, whatever the declared sensor.

Lattices, noise samples, cells and bounds of a search are then the same if a sensor is cut elsewhere, or
has empty pixels around its events.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.layer import LayerMap
from evcrisp.estimators.result import Estimate
from evcrisp.motion import MotionModel
from evcrisp.motion.open_motion import is_open


@dataclass(frozen=True, slots=True)
class ViewFrame:
    """Rectangle of the outermost events on a sensor, px."""

    left: int
    top: int
    width: int
    height: int
    resolution: tuple[int, int]  # of the declared sensor

    @classmethod
    def of(cls, events: Events) -> "ViewFrame | None":
        """Return the rectangle of events; None if it is the whole sensor, or there are none."""
        if not len(events):
            return None
        left, top = int(events.x.min()), int(events.y.min())
        size = int(events.x.max()) - left + 1, int(events.y.max()) - top + 1
        whole = tuple(events.resolution)
        return None if size == whole else cls(left, top, *size, whole)

    def window(self, window: Window) -> Window:
        """Return a window with the rectangle as its sensor."""
        events = window.events
        moved = Events.trusted(
            x=events.x - np.uint16(self.left), y=events.y - np.uint16(self.top), t=events.t,
            p=events.p, resolution=(self.width, self.height), signal=events.signal,
        )  # fmt: skip
        return replace(window, events=moved)

    def model(self, model: Any) -> Any:
        """Return a motion model for the rectangle; None if the model cannot be moved."""
        move = getattr(model, "on_region", None)
        return None if move is None else move(self.left, self.top)

    def on_sensor(self, model: MotionModel) -> MotionModel:
        """Return a motion model of the rectangle for the sensor."""
        move: Any = getattr(model, "on_region")  # noqa: B009  (models of plugins may lack it)
        return move(-self.left, -self.top)

    def back(self, result: Estimate, window: Window, model: MotionModel) -> Estimate:
        """Return an estimate on the sensor, for the window from which the events came."""
        parts = tuple(
            replace(part, motion=self.on_sensor(part.motion)) for part in result.layer_motions
        )
        return replace(
            result, window=window, motion=model, aligned_x=result.aligned_x + self.left,
            aligned_y=result.aligned_y + self.top, layer_motions=parts,
            layer_map=self._layer_map(result.layer_map), w_map=self.w_map_on_sensor(result.w_map),
        )  # fmt: skip

    def inside(self, result: Estimate) -> Estimate:
        """Return an estimate with one motion, on the sensor, as that of the rectangle."""
        w_map = result.w_map
        if w_map is not None:
            rows, columns = w_map.shape[0] - self.resolution[1], w_map.shape[1] - self.resolution[0]
            below, right = self.top + rows + self.height, self.left + columns + self.width
            w_map = w_map[self.top : below, self.left : right]
        return replace(
            result, window=self.window(result.window), motion=self.model(result.motion),
            aligned_x=result.aligned_x - self.left, aligned_y=result.aligned_y - self.top, w_map=w_map,
        )  # fmt: skip

    def _layer_map(self, found: LayerMap | None) -> LayerMap | None:
        if found is None:
            return None
        return replace(found, left=found.left + self.left, top=found.top + self.top)

    def w_map_on_sensor(self, w_map: Floats | None) -> Floats | None:
        """Return a map with as much padding on the sensor, 0 where there are no events."""
        if w_map is None:
            return None
        width, height = self.resolution
        rows, columns = w_map.shape
        out = np.zeros((rows + height - self.height, columns + width - self.width))
        out[self.top : self.top + rows, self.left : self.left + columns] = w_map
        return out


def on_view_frame(run: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Run an estimator on the rectangle of the events; a decorator of ``run``.

    Models of other packages that have no ``on_region`` get the window as it is.
    """

    @wraps(run)
    def on_frame(
        self: Any, window: Window, model: MotionModel, theta0: Floats | None = None
    ) -> Estimate:
        frame = ViewFrame.of(window.events)
        # The session of an open motion moves its layers with the view.
        moved = None if frame is None or is_open(model) else frame.model(model)
        if frame is None or moved is None:
            return run(self, window, model, theta0)
        return frame.back(run(self, frame.window(window), moved, theta0), window, model)

    return on_frame
