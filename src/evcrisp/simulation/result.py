"""Result of a simulation: events with labels, true motion and IMU."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import Imu
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.core.windows import US_PER_S
from evcrisp.motion import MotionModel
from evcrisp.motion.matrix import Points, apply
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.field_path import FieldPath
from evcrisp.simulation.fields import VelocityField
from evcrisp.simulation.path import Path, view_grid

#: Events for which velocities are computed at once, to bound the memory of their matrices.
_BATCH = 1 << 16

#: Object index of noise events.
NO_OBJECT = 255


class Origin(IntEnum):
    """Origin of an event."""

    SIGNAL = 0
    LEAK = 1
    SHOT = 2
    HOT = 3
    UNIFORM = 4
    MEASURED = 5


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MotionTruth:
    """True motion parameters per window."""

    t_start: NDArray[np.int64]  # (n,) us
    t_end: NDArray[np.int64]  # (n,) us, not included
    #: (n_layers, n, m); the background first, then the objects. NaN for a velocity field, and after
    #: the parameters of a layer with fewer of them.
    theta: NDArray[np.float64]

    def __len__(self) -> int:
        return self.t_start.size


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Truth:
    """True motion, IMU and settings of a simulation."""

    motion: MotionModel  # of the background
    motion_truth: MotionTruth  # parameters in windows of `config.window_us`
    imu: Imu  # gyroscope and accelerometer at 1 kHz, in the axes of the camera
    config: SimulationConfig  # settings

    def as_dict(self) -> dict[str, Any]:
        """Return windows, parameters with units, gyroscope and settings as JSON types."""
        from evcrisp.simulation.truth_file import truth_as_dict

        return truth_as_dict(self)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulation(Truth):
    """Events of a simulated scene, with labels and true motion; see also :class:`Truth`."""

    events: Events  # sorted by time; `signal` is True for events of moving edges
    origin: NDArray[np.uint8]  # (n,) `Origin` of each event
    object: NDArray[np.uint8]  # (n,) 0 = background, 1 = first object, ...; 255 = noise
    paths: Sequence[Path | FieldPath]  # motion of each layer over time; the background first

    def __repr__(self) -> str:
        field, n_objects = self.config.field, len(self.paths) - 1
        motion = field.name if isinstance(field, VelocityField) else self.config.motion
        return f"Simulation({self.events!r}, motion={motion!r}, objects={n_objects})"

    def theta(self, t_start: int, t_end: int, layer: int = 0) -> NDArray[np.float64]:
        """Return the mean parameters in a window of the recording, shape (m,).

        ``t_start`` and ``t_end`` are in the time of the events, us; layer 0 is the background.
        """
        return self._path(layer).mean_theta(*self._inside(t_start, t_end))

    def layer_motion(self, t_start: int, t_end: int, layer: int = 0) -> MotionModel:
        """Return the motion model of a layer, with its center in the middle of a window.

        Together with :meth:`theta` it warps the events of the layer to the middle of the window.
        """
        path, (first, last) = self._path(layer), self._inside(t_start, t_end)
        if isinstance(path, FieldPath):
            raise ConfigError(
                f"Layer {layer} moves by the velocity field {path.field.name!r}, which is no motion "
                "model. Use `aligned`."
            )
        return path.model_at(np.floor((first + last) / 2))

    @property
    def velocity(self) -> NDArray[np.float64]:
        """True velocity of every event at its place and time, (n, 2), px/s; NaN for noise.

        It is computed anew at every access.
        """
        found = np.full((len(self.events), 2), np.nan)
        for layer, path in enumerate(self.paths):
            for index in self._batches(layer):
                x, y, t_us = self._points(index)
                found[index] = np.stack(path.velocity(x, y, t_us), axis=1)
        return found

    def aligned(self, t_ref: int) -> Points:
        """Return where the scene points of all events are at ``t_ref``, px; NaN for noise.

        Every event is moved by the true motion of its own layer, exactly, whatever the time between.
        """
        since_start = float(self._time(t_ref))
        found = np.full((2, len(self.events)), np.nan)
        for layer, path in enumerate(self.paths):
            for index in self._batches(layer):
                x, y, t_us = self._points(index)
                found[:, index] = path.move(x, y, t_us, np.full(t_us.size, since_start))
        return found[0], found[1]

    def layers(self, t: int) -> NDArray[np.uint8]:
        """Return the visible layer of every pixel at a time, (h, w); 0 is the background."""
        from evcrisp.kernels.simulation.sensor import front_layers
        from evcrisp.simulation.scene import build_view
        from evcrisp.simulation.slabs import slab_motions

        times = np.array([float(self._time(t))])
        view = build_view(self.config, self.motion)
        front = np.empty(len(view.base), np.uint8)
        front_layers(view.base, slab_motions(self.paths, times, view.base), view.scene, front)
        width, height = self.config.resolution
        return front.reshape(height, width)

    def flow(self, t: int) -> NDArray[np.float64]:
        """Return the true velocity of the visible layer at every pixel, (h, w, 2), px/s."""
        front = self.layers(t)
        found = np.empty((*front.shape, 2))
        since_start = float(self._time(t))
        for layer, path in enumerate(self.paths):
            y, x = np.nonzero(front == layer)
            t_us = np.full(x.size, since_start)
            velocity = path.velocity(x.astype(np.float64), y.astype(np.float64), t_us)
            found[y, x] = np.stack(velocity, axis=1)
        return found

    def warp_error_px(self, theta: ArrayLike, t_start: int, t_end: int, layer: int = 0) -> float:
        """Return the error of warping with ``theta``, px, root mean square over view and window.

        Pixels are warped from 33 times to the middle of the window, and compared with the true
        positions. The true parameters of a window of ``motion_truth`` give 0 if motion is constant.
        """
        first, last = self._inside(t_start, t_end)
        middle = np.floor((first + last) / 2)
        t_us = np.linspace(first, last, 33)
        model = self.layer_motion(t_start, t_end, layer)
        path = self.paths[layer]
        assert isinstance(path, Path)
        x, y = view_grid(self.config.resolution)
        true = np.linalg.inv(path.matrices(np.array([middle]))) @ path.matrices(t_us)
        true_x, true_y = apply(true[:, None], x, y)
        matrix = model.matrix(theta, (t_us - middle) / US_PER_S)
        warped_x, warped_y = apply(matrix[:, None], x, y)
        return float(np.sqrt(np.mean((warped_x - true_x) ** 2 + (warped_y - true_y) ** 2)))

    def _path(self, layer: int) -> Path | FieldPath:
        check_number("layer", layer, 0, len(self.paths) - 1, whole=True)
        return self.paths[layer]

    def _batches(self, layer: int) -> Iterator[NDArray[np.intp]]:
        """Yield the events of a layer, by index, in batches."""
        index = np.flatnonzero(self.object == layer)
        for first in range(0, index.size, _BATCH):
            yield index[first : first + _BATCH]

    def _points(self, index: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        """Return positions and times since the start of events, px and us."""
        events = self.events
        # Timestamps are rounded down; the middle of the microsecond is nearer to the crossing.
        t_us = (events.t[index] - self.config.t_start_us) + 0.5
        return events.x[index].astype(np.float64), events.y[index].astype(np.float64), t_us

    def _time(self, t: int) -> int:
        """Return a time of the recording since its start, us."""
        first, last = self.config.t_start_us, self.config.t_start_us + self.config.duration_us
        check_number("t", t, first, last, whole=True)
        return t - first

    def _inside(self, t_start: int, t_end: int) -> tuple[float, float]:
        first, last = self.config.t_start_us, self.config.t_start_us + self.config.duration_us
        if not first <= t_start < t_end <= last:
            raise ConfigError(
                f"A window must lie in the recording, {first}..{last} us; "
                f"got {t_start}..{t_end} us."
            )
        return float(t_start - first), float(t_end - first)
