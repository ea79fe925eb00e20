"""Motion parameters as functions of time, integrated to the texel of every pixel.

A trajectory has one method, ``theta(t_us)``: parameters, shape (n, m), at times (n,) since the start.

Time is cut into segments of constant theta. In segment k with middle m_k, pixel x at time t maps to
``A_k T(x, t - m_k; theta_k)`` in the texture, with the warp T of the model. The matrices A_k join the
segments continuously. The true theta therefore warps all events of one texture point onto one point.

The center of an object with a pivot moves with it: T of segment k has the center where the pivot is
at m_k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.core.windows import US_PER_S
from evcrisp.motion import MotionModel
from evcrisp.motion.matrix import Points, apply, apply_inverse
from evcrisp.motion.protocol import CenteredMotion, camera_of

_SEGMENT_US = 1000  # length of a segment with varying theta
_MAX_SEGMENTS = 1 << 20
MAX_ZOOM = 16.0  # scale of the texture, or its inverse
_VELOCITY_STEP_S = 1e-5  # step of differences: rounding and curvature stay below 1e-4 px/s


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """The same parameters at all times."""

    value: Floats  # (m,)

    def theta(self, t_us: Floats) -> Floats:
        """Return the parameters at times, (n, m)."""
        return np.broadcast_to(self.value, (t_us.size, self.value.size)).copy()


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """A sum of cosines around zero; all arrays have shape (n_waves, m)."""

    amplitude: Floats
    frequency_hz: Floats
    phase_rad: Floats

    def theta(self, t_us: Floats) -> Floats:
        """Return the parameters at times, (n, m)."""
        angle = 2e-6 * np.pi * t_us[:, None, None] * self.frequency_hz + self.phase_rad
        return (self.amplitude * np.cos(angle)).sum(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Knots:
    """Linear interpolation between knots; constant before the first and after the last."""

    t_us: Floats  # (n_knots,)
    values: Floats  # (n_knots, m)

    def theta(self, t_us: Floats) -> Floats:
        """Return the parameters at times, (n, m)."""
        return np.stack([np.interp(t_us, self.t_us, column) for column in self.values.T], axis=1)


Trajectory = Constant | Waves | Knots


def sine(theta: Floats, period_us: float, rng: np.random.Generator) -> Waves:
    """Oscillate every parameter around zero with its own phase."""
    m = theta.size
    phase = np.pi * np.arange(m) / m
    return Waves(theta[None, :], np.full((1, m), 1e6 / period_us), phase[None, :])


def random(theta: Floats, period_us: float, rng: np.random.Generator) -> Waves:
    """Vary smoothly around zero; the root mean square of every parameter is ``theta``."""
    n_waves, m = 4, theta.size
    amplitude = np.broadcast_to(theta * np.sqrt(2.0 / n_waves), (n_waves, m))
    frequency = rng.uniform(0.2, 1.0, (n_waves, m)) * 1e6 / period_us
    return Waves(amplitude, frequency, rng.uniform(0, 2 * np.pi, (n_waves, m)))


#: Trajectories by name.
TRAJECTORIES: dict[str, Callable[[Floats, float, np.random.Generator], Trajectory]] = {
    "constant": lambda theta, period_us, rng: Constant(theta),
    "random": random,
    "sine": sine,
}


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Motion of one layer over the recording; times in us since the start."""

    model: MotionModel
    trajectory: Trajectory
    edges: Floats  # (n + 1,) us
    thetas: Floats  # (n, m)
    anchors: Floats  # (n, 3, 3)
    integral: Floats  # (n + 1, m) integral of theta from the start to each edge
    shifts: Floats | None = None  # (n, 2) px, from the center of the model to that of a segment
    outline: Floats | None = None  # (n_points, 2) px, points of the object at the start

    @classmethod
    def build(
        cls,
        model: MotionModel,
        trajectory: Trajectory,
        duration_us: int,
        window_us: int,
        pivot: tuple[float, float] | None = None,
        outline: Floats | None = None,
    ) -> "Path":
        """Integrate a trajectory; ``pivot`` is the center of the motion at the start, px."""
        varying_us = max(_SEGMENT_US, -(-duration_us // _MAX_SEGMENTS))
        step = float(window_us if isinstance(trajectory, Constant) else varying_us)
        edges = np.append(np.arange(0.0, duration_us, step), float(duration_us))
        thetas = trajectory.theta(_middle(edges))
        with np.errstate(over="ignore", invalid="ignore"):
            before = model.matrix(thetas.T, (edges[:-1] - _middle(edges)) / US_PER_S)
            after = model.matrix(thetas.T, (edges[1:] - _middle(edges)) / US_PER_S)
        if not np.isfinite(before).all() or not np.linalg.det(before).all():
            raise ConfigError(
                f"`theta` {tuple(thetas[0].tolist())} is too large for motion {model.name!r}."
            )
        shifts = None
        if pivot is not None and isinstance(model, CenteredMotion):
            shifts = _carried(np.array(pivot), np.array(model.center), before, after)
            before, after = _shifted(before, shifts), _shifted(after, shifts)
        steps = thetas * np.diff(edges)[:, None]
        integral = np.concatenate((np.zeros((1, thetas.shape[1])), np.cumsum(steps, axis=0)))
        anchors = _joined(before, after)
        return cls(model, trajectory, edges, thetas, anchors, integral, shifts, outline)

    def matrices(self, t_us: Floats) -> Floats:
        """Return the homography from pixels to the texture at times (n,); shape (n, 3, 3)."""
        k, dt = self._segment(t_us)
        return self.anchors[k] @ self._warp(k, dt)

    def _segment(self, t_us: Floats) -> tuple[Any, Floats]:
        """Return the segments of times, and the times since their middles, s."""
        k = np.clip(np.searchsorted(self.edges, t_us, side="right") - 1, 0, len(self.thetas) - 1)
        return k, (t_us - np.floor((self.edges[k] + self.edges[k + 1]) / 2)) / US_PER_S

    def _warp(self, k: Any, dt: Floats) -> Floats:
        """Return the warps to the middle of segments ``k`` as homographies."""
        matrices = self.model.matrix(self.thetas[k].T, dt)
        return matrices if self.shifts is None else _shifted(matrices, self.shifts[k])

    def move(self, x: Floats, y: Floats, t_from: Floats, t_to: Floats) -> Points:
        """Return where points at ``t_from`` are at ``t_to``, px; times in us, (n,) each."""
        onward = np.linalg.inv(self.matrices(t_to)) @ self.matrices(t_from)
        return self._distorted(*apply(onward, *self._ideal(x, y)))

    def velocity(self, x: Floats, y: Floats, t_us: Floats) -> Points:
        """Return the velocity of points at times (n,), px/s."""
        k, dt = self._segment(t_us)
        place = apply(self._warp(k, dt), *self._ideal(x, y))
        (x0, y0), (x1, y1) = (
            self._distorted(*apply_inverse(self._warp(k, dt + step), *place))
            for step in (-_VELOCITY_STEP_S, _VELOCITY_STEP_S)
        )
        return (x1 - x0) / (2 * _VELOCITY_STEP_S), (y1 - y0) / (2 * _VELOCITY_STEP_S)

    def _ideal(self, x: Floats, y: Floats) -> Points:
        camera = camera_of(self.model)
        return (x, y) if camera is None else camera.undistort(x, y)

    def _distorted(self, x: Floats, y: Floats) -> Points:
        camera = camera_of(self.model)
        return (x, y) if camera is None else camera.distort(x, y)

    def model_at(self, t_us: float) -> MotionModel:
        """Return the motion model with the center that the layer has at a time."""
        if self.shifts is None or not isinstance(self.model, CenteredMotion):
            return self.model
        k, dt = self._segment(np.array([t_us]))
        middle = self.shifts[k] + self.model.center
        x, y = apply_inverse(self._warp(k, dt), *middle.T)
        return replace(self.model, center=(float(x[0]), float(y[0])))

    def mean_theta(self, t_start: float, t_end: float) -> Floats:
        """Return the mean parameters from ``t_start`` to ``t_end``, shape (m,)."""
        if isinstance(self.trajectory, Constant):
            return self.trajectory.value.copy()
        span = np.array([t_start, t_end])
        totals = [np.diff(np.interp(span, self.edges, column))[0] for column in self.integral.T]
        return np.array(totals) / (t_end - t_start)

    def check_view(self, resolution: Sequence[int]) -> None:
        """Raise if the texture leaves the view, or is scaled by more than `MAX_ZOOM`."""
        t_us = np.linspace(0.0, self.edges[-1], 257)
        x, y = view_grid(resolution)
        m = self.matrices(t_us)[:, None]  # (t, 1, 3, 3)
        depth = m[..., 2, 0] * x + m[..., 2, 1] * y + m[..., 2, 2]
        det = np.linalg.det(m)
        # |det| of the Jacobian of a homography at a point
        with np.errstate(divide="ignore", invalid="ignore"):
            zoom = np.sqrt(np.abs(det / depth**3))
        sane = (depth * np.sign(det) > 0) & (zoom > 1 / MAX_ZOOM) & (zoom < MAX_ZOOM)
        if not sane.all():
            t_bad = t_us[np.argmin(sane.all(axis=1))] / US_PER_S
            raise ConfigError(
                f"`theta` {tuple(self.thetas[0].tolist())} of motion {self.model.name!r} is too large "
                f"for {self.edges[-1] / US_PER_S:g} s: after {t_bad:.3g} s the texture is out of "
                f"view or scaled by more than {MAX_ZOOM:g}. Shorten `duration_us`, or use "
                "`trajectory` 'sine'."
            )

    def speed_px_s(self, resolution: Sequence[int], t_start: Floats, t_end: Floats) -> float:
        """Return the maximum speed in the image over intervals (n,), px/s."""
        start, end = self.matrices(t_start), self.matrices(t_end)
        if self.outline is None:
            x, y = view_grid(resolution)
            x_next, y_next = apply((np.linalg.inv(start) @ end)[:, None], x, y)
        else:  # only points of the object matter, however fast others would turn with it
            x, y = apply_inverse(start[:, None], *self.outline.T)
            x_next, y_next = apply_inverse(end[:, None], *self.outline.T)
        moved = np.hypot(x_next - x, y_next - y).max(axis=1)
        return float((moved / (t_end - t_start)).max()) * US_PER_S


def view_grid(resolution: Sequence[int]) -> tuple[Floats, Floats]:
    """Return x and y of 5 x 5 points over the sensor with its borders, shape (25,)."""
    width, height = resolution
    x, y = np.meshgrid(np.linspace(0, width - 1, 5), np.linspace(0, height - 1, 5))
    return x.ravel(), y.ravel()


def _middle(edges: Floats) -> Floats:
    return np.floor((edges[:-1] + edges[1:]) / 2)


def _carried(pivot: Floats, center: Floats, before: Floats, after: Floats) -> Floats:
    """Return the shift of the center of every segment, (n, 2), so that the pivot moves with it.

    With the center c of the model and no shift, the point that is at c in the middle of segment k
    is at ``b_k`` at its start and at ``a_k`` at its end. A shift moves all three.
    """
    b = np.stack(apply_inverse(before, *center), axis=1)
    a = np.stack(apply_inverse(after, *center), axis=1)
    moved = np.concatenate((np.zeros((1, 2)), np.cumsum(a - b, axis=0)[:-1]))
    return pivot + moved - b


def _shifted(matrices: Floats, shift: Floats) -> Floats:
    """Return homographies about centers that are shifted by (n, 2) px."""
    to_center = np.broadcast_to(np.eye(3), matrices.shape).copy()
    to_center[..., :2, 2] = -shift
    back = np.broadcast_to(np.eye(3), matrices.shape).copy()
    back[..., :2, 2] = shift
    return back @ matrices @ to_center


def _joined(before: Floats, after: Floats) -> Floats:
    """Return the matrices that make the path continuous and start at the identity."""
    first = np.linalg.inv(before)
    steps = after[:-1] @ first[1:]
    anchors = np.empty_like(before)
    anchors[0] = first[0]
    for k, step in enumerate(steps):
        anchors[k + 1] = anchors[k] @ step
    return anchors
