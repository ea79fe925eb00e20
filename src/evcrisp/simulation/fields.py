"""Stationary velocity fields: the velocity of a point depends on its place in the view only.

A field has one method, ``velocity(x, y, resolution)``. Positions of its own are shares of the view,
so that one field fits every sensor.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_numbers, check_number
from evcrisp.motion.matrix import Points

Pair = tuple[float, float]

#: Focal length over width for a horizontal field of view of 60 degrees, as of `Camera.ideal`.
_FOCAL = 0.5 / math.tan(math.radians(30.0))


@runtime_checkable
class VelocityField(Protocol):
    """Velocity of the image, the same at all times; a frozen dataclass.

    It is read up to half a view outside of the sensor too, where points come from.
    """

    name: ClassVar[str]

    def velocity(self, x: Floats, y: Floats, resolution: tuple[int, int]) -> Points:
        """Return ``(vx, vy)``, px/s, at positions in px; arrays of the shape of ``x``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """A camera that drives along a corridor, or over a ground plane without walls and ceiling.

    ``v = (x - foe) speed / Z`` with the depth Z of the nearest surface on the ray. The camera looks
    along the corridor, with a horizontal field of view of 60 degrees. A negative speed is backward.

    >>> ground = Forward(wall_m=None, ceiling_m=None)
    >>> vx, vy = ground.velocity(np.array([320.0]), np.array([479.0]), (640, 480))
    >>> bool(vy[0] > 100.0)
    True
    """

    speed_m_s: float = 10.0
    wall_m: float | None = 3.0  # distance of both walls from the axis; None without walls
    floor_m: float | None = 1.5
    ceiling_m: float | None = 2.5
    end_m: float = 100.0  # maximum depth
    foe: Pair = (0.5, 0.5)  # focus of expansion, as shares of the view

    name: ClassVar[str] = "forward"

    def __post_init__(self) -> None:
        check_number("speed_m_s", self.speed_m_s, -1e3, 1e3)
        for name in ("wall_m", "floor_m", "ceiling_m"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0.01, 1e6)
        check_number("end_m", self.end_m, 0.01, 1e6)
        object.__setattr__(self, "foe", _as_place("foe", self.foe))

    def velocity(self, x: Floats, y: Floats, resolution: tuple[int, int]) -> Points:
        """Return ``(vx, vy)``, px/s."""
        foe_x, foe_y = _pixel(self.foe, resolution)
        focal_px = resolution[0] * _FOCAL
        dx, dy = x - foe_x, y - foe_y
        inverse_depth = np.full(np.shape(dx), 1.0 / self.end_m)
        surfaces = ((self.wall_m, np.abs(dx)), (self.floor_m, dy), (self.ceiling_m, -dy))
        for distance_m, offset in surfaces:
            if distance_m is not None:
                inverse_depth = np.maximum(inverse_depth, offset / (focal_px * distance_m))
        return dx * self.speed_m_s * inverse_depth, dy * self.speed_m_s * inverse_depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallax:
    """A camera that moves sideways along a ridge: near in the middle of the view, far at its sides.

    Depth varies across the motion only, so that the field is the same at all times.
    """

    velocity_px_s: Pair = (500.0, 0.0)  # of the nearest point
    depth_ratio: float = 5.0  # farthest depth over nearest
    n_ridges: float = 1.0  # number of ridges over the view

    name: ClassVar[str] = "parallax"

    def __post_init__(self) -> None:
        pair = as_numbers("velocity_px_s", self.velocity_px_s, 2, "two numbers, px/s")
        object.__setattr__(self, "velocity_px_s", pair)
        check_number("depth_ratio", self.depth_ratio, 1.0, 1e3)
        check_number("n_ridges", self.n_ridges, 0.1, 20.0)

    def velocity(self, x: Floats, y: Floats, resolution: tuple[int, int]) -> Points:
        """Return ``(vx, vy)``, px/s."""
        vx, vy = self.velocity_px_s
        angle = np.arctan2(vy, vx)
        across = _across(x, y, float(angle), resolution)
        extent = abs(resolution[0] * np.sin(angle)) + abs(resolution[1] * np.cos(angle))
        nearness = np.cos(np.pi * self.n_ridges * across / extent) ** 2
        speed = (1.0 + (self.depth_ratio - 1.0) * nearness) / self.depth_ratio
        return vx * speed, vy * speed


@dataclass(frozen=True, slots=True, kw_only=True)
class Vortex:
    """Turn about a point, fastest at a radius, and at rest far away: a whirl in a fluid.

    The tangential speed is ``peak (r / R) exp((1 - (r / R)^2) / 2)``.
    """

    peak_px_s: float = 400.0  # speed at the radius; positive turns from x towards y
    radius: float = 0.35  # share of the smaller side of the view
    center: Pair = (0.5, 0.5)  # as shares of the view

    name: ClassVar[str] = "vortex"

    def __post_init__(self) -> None:
        check_number("peak_px_s", self.peak_px_s, -1e6, 1e6)
        check_number("radius", self.radius, 0.01, 10.0)
        object.__setattr__(self, "center", _as_place("center", self.center))

    def velocity(self, x: Floats, y: Floats, resolution: tuple[int, int]) -> Points:
        """Return ``(vx, vy)``, px/s."""
        center_x, center_y = _pixel(self.center, resolution)
        radius_px = self.radius * min(resolution)
        a, b = (x - center_x) / radius_px, (y - center_y) / radius_px
        speed = self.peak_px_s * np.exp(0.5 * (1.0 - a * a - b * b))
        return -speed * b, speed * a


@dataclass(frozen=True, slots=True, kw_only=True)
class Shear:
    """Opposite motion of both sides of the view, linear between them."""

    rate_per_s: float = 4.0  # change of velocity across the motion, px/s per px
    angle_rad: float = 0.0  # direction of the motion, from x towards y
    drift_px_s: float = 0.0  # velocity at the middle of the view

    name: ClassVar[str] = "shear"

    def __post_init__(self) -> None:
        check_number("rate_per_s", self.rate_per_s, -1e4, 1e4)
        check_number("angle_rad", self.angle_rad, -100.0, 100.0)
        check_number("drift_px_s", self.drift_px_s, -1e6, 1e6)

    def velocity(self, x: Floats, y: Floats, resolution: tuple[int, int]) -> Points:
        """Return ``(vx, vy)``, px/s."""
        speed = self.drift_px_s + self.rate_per_s * _across(x, y, self.angle_rad, resolution)
        return speed * np.cos(self.angle_rad), speed * np.sin(self.angle_rad)


#: Velocity fields by name; each has defaults of a few hundred px/s on a sensor of 346 x 260 px.
FIELDS: dict[str, type[Any]] = {field.name: field for field in (Forward, Parallax, Shear, Vortex)}


def as_field(field: Any) -> VelocityField:
    """Return a field, given itself or its name.

    >>> as_field("vortex")
    Vortex(peak_px_s=400.0, radius=0.35, center=(0.5, 0.5))
    """
    if isinstance(field, str):
        named: VelocityField = lookup(FIELDS, field, "velocity field")()
        return named
    if isinstance(field, VelocityField) and not isinstance(field, type):
        return field
    known = ", ".join(FIELDS)
    problem = f"must be {known}, or an object with `name` and `velocity(x, y, resolution)`"
    raise ConfigError(problem, parameter="field", value=field)


def _as_place(name: str, pair: Any) -> Pair:
    wanted = "two shares of the view, -1 to 2"
    x, y = as_numbers(name, pair, 2, wanted)
    if not (-1.0 <= x <= 2.0 and -1.0 <= y <= 2.0):
        raise ConfigError(f"must be {wanted}", parameter=name, value=pair)
    return x, y


def _pixel(place: Pair, resolution: tuple[int, int]) -> Pair:
    """Return a position in px; 0.5 is the middle of the sensor."""
    return place[0] * resolution[0] - 0.5, place[1] * resolution[1] - 0.5


def _across(x: Floats, y: Floats, angle_rad: float, resolution: tuple[int, int]) -> Floats:
    """Return the distance from the middle of the view across a direction, px."""
    middle_x, middle_y = _pixel((0.5, 0.5), resolution)
    return (y - middle_y) * np.cos(angle_rad) - (x - middle_x) * np.sin(angle_rad)
