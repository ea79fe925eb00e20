"""Motion of a layer by a stationary velocity field.

A point that is at x at time t was at ``phi(x, -t)`` at the start, where its texel is; phi is the flow
of the field. The field does not change, hence ``phi(x, -t - dt) = phi(phi(x, -t), -dt)``: the texel of
every pixel takes one step backward through the field per step in time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evcrisp.core.errors import ConfigError, Setting
from evcrisp.core.types import Floats
from evcrisp.core.windows import US_PER_S
from evcrisp.motion.matrix import Points
from evcrisp.simulation.fields import VelocityField
from evcrisp.simulation.path import MAX_ZOOM, view_grid

_MAX_STEP_PX = 1.0  # displacement per step of integration; the error is then far below 1e-3 px
_MAX_SPEED_PX_S = 2e4  # more would need gigabytes for the texels of a slab
_GRID = 65  # points per side of the view where the speed is taken
_BLOCK = 4096  # pixels that move together: their arrays stay in the cache
_NEAR_PX = 0.5  # distance of points for derivatives
_MAX_CHECK_STEPS = 1000  # of a check that needs no precision


@dataclass(frozen=True, slots=True, eq=False)
class FieldPath:
    """Motion of one layer over the recording; times in us since the start."""

    field: VelocityField
    resolution: tuple[int, int]
    duration_us: int
    peak_px_s: float  # maximum speed in the view

    @classmethod
    def build(
        cls, field: VelocityField, resolution: tuple[int, int], duration_us: int
    ) -> "FieldPath":
        """Measure the speed of a field over the view."""
        width, height = resolution
        x, y = np.meshgrid(np.linspace(0, width - 1, _GRID), np.linspace(0, height - 1, _GRID))
        speed = np.hypot(*field.velocity(x, y, resolution))
        if np.shape(speed) != x.shape or not np.isfinite(speed).all():
            problem = f"{field.name!r} must have finite velocities, of the shape of `x`"
            raise ConfigError(problem, parameter="field")
        peak = float(speed.max())
        if peak > _MAX_SPEED_PX_S:
            problem = f"{field.name!r} moves the image by {peak:.3g} px/s; the maximum is"
            raise ConfigError(f"{problem} {_MAX_SPEED_PX_S:g} px/s", parameter="field")
        # 5 % covers the points between those of the grid.
        return cls(field, resolution, duration_us, 1.05 * peak)

    def speed_px_s(self, resolution: Sequence[int], t_start: Floats, t_end: Floats) -> float:
        """Return the maximum speed in the image, px/s; the same at all times."""
        return self.peak_px_s

    def velocity(self, x: Floats, y: Floats, t_us: Floats) -> Points:
        """Return the velocity of points, px/s; the same at all times."""
        return self.field.velocity(x, y, self.resolution)

    def move(self, x: Floats, y: Floats, t_from: Floats | float, t_to: Floats | float) -> Points:
        """Return where points at ``t_from`` are at ``t_to``, px; times in us, (n,) or one."""
        seconds = (np.asarray(t_to, np.float64) - np.asarray(t_from)) / US_PER_S
        longest = float(np.abs(seconds).max(initial=0.0))
        return self._integrate(x, y, seconds, np.ceil(longest * self.peak_px_s / _MAX_STEP_PX))

    def _integrate(self, x: Floats, y: Floats, seconds: Floats, wanted_steps: float) -> Points:
        n_steps = max(1, int(wanted_steps))
        for _ in range(n_steps):
            x, y = self._step(x, y, seconds / n_steps)
        return x, y

    def fill_texels(self, start: Floats, times: Floats, out: Floats) -> None:
        """Fill ``out``, (n_pixels, n_times, 2), with the texels of pixels; ``start``: the first."""
        for first in range(0, len(start), _BLOCK):
            block = out[first : first + _BLOCK]
            x, y = np.ascontiguousarray(start[first : first + _BLOCK].T)
            block[:, 0, 0], block[:, 0, 1] = x, y
            for i, seconds in enumerate(np.diff(times) / US_PER_S):
                x, y = self._step(x, y, -seconds)
                block[:, i + 1, 0], block[:, i + 1, 1] = x, y

    def texels_at(self, base: Floats, t_us: float) -> Floats:
        """Return the texels of pixels at one time, (n_pixels, 2)."""
        return np.stack(self.move(*base.T, t_us, 0.0), axis=1)

    def _step(self, x: Floats, y: Floats, seconds: Floats | float) -> Points:
        """Take one step of the classical Runge-Kutta method of order four."""
        velocity, size = self.field.velocity, self.resolution
        half = 0.5 * np.asarray(seconds)
        ax, ay = velocity(x, y, size)
        bx, by = velocity(x + half * ax, y + half * ay, size)
        cx, cy = velocity(x + half * bx, y + half * by, size)
        dx, dy = velocity(x + 2 * half * cx, y + 2 * half * cy, size)
        sixth = np.asarray(seconds) / 6.0
        return x + sixth * (ax + 2 * (bx + cx) + dx), y + sixth * (ay + 2 * (by + cy) + dy)

    def check_view(self, resolution: Sequence[int]) -> None:
        """Raise if the texture is stretched by more than `MAX_ZOOM` at the end."""
        x, y = view_grid(resolution)
        columns = []
        for dx, dy in ((_NEAR_PX, 0.0), (0.0, _NEAR_PX)):
            ahead = self._origin(x + dx, y + dy)
            behind = self._origin(x - dx, y - dy)
            columns.append((ahead - behind) / (2 * _NEAR_PX))
        stretch = np.linalg.svd(np.stack(columns, axis=-1), compute_uv=False)
        if not ((stretch > 1 / MAX_ZOOM) & (stretch < MAX_ZOOM)).all():
            raise ConfigError(
                f"{self.field.name!r} is too fast for {self.duration_us / US_PER_S:g} s: "
                f"the texture is stretched by more than {MAX_ZOOM:g}",
                parameter="field",
                remedy=Setting("Shorten the recording", "duration_us"),
            )

    def _origin(self, x: Floats, y: Floats) -> Floats:
        """Return roughly the texels at the end of points, (n, 2), in bounded time."""
        seconds = np.array(-self.duration_us / US_PER_S)
        wanted_steps = -seconds * self.peak_px_s / _MAX_STEP_PX
        with np.errstate(over="ignore", invalid="ignore"):
            ends = self._integrate(x, y, seconds, min(float(wanted_steps), _MAX_CHECK_STEPS))
        return np.nan_to_num(np.stack(ends, axis=-1))

    def matrices(self, t_us: Floats) -> Floats:
        """Raise: a field is no homography."""
        raise self._no_model("homography")

    def mean_theta(self, t_start: float, t_end: float) -> Floats:
        """Raise: a field has no parameters of a motion model."""
        raise self._no_model("theta")

    def _no_model(self, what: str) -> ConfigError:
        return ConfigError(
            f"A layer with the velocity field {self.field.name!r} has no {what}. "
            "Use `flow`, `velocity` or `aligned` of the simulation."
        )
