"""Checked configuration of a simulation; :func:`evcrisp.simulate` documents the fields."""

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.messages import counted
from evcrisp.core.registry import lookup
from evcrisp.core.types import Floats
from evcrisp.core.validation import as_numbers, as_resolution, check_number, check_type
from evcrisp.motion import MOTION_MODELS
from evcrisp.simulation.fields import VelocityField, as_field
from evcrisp.simulation.measured import MeasuredNoise, MeasuredSource, load_measured
from evcrisp.simulation.path import TRAJECTORIES
from evcrisp.simulation.textures import OUTLINES, TEXTURES, load_image

MAX_OBJECTS = 8
MAX_DURATION_US = 600_000_000  # ten minutes: the true motion is kept in memory
MAX_WINDOWS = 100_000
MAX_PIXELS = 1 << 24

#: Default parameters by motion model: about 300 px/s on a sensor of 346 x 260 px.
DEFAULT_THETA: dict[str, tuple[float, ...]] = {
    "zoom": (1.5,),
    "rigid": (200.0, -80.0, 1.0),
    "translation": (300.0, -120.0),
    "rotation": (0.3, -0.9, 0.6),
    "similarity": (150.0, -60.0, 0.8, 0.5),
    "affine": (150.0, -60.0, 0.5, -0.6, 0.9, 0.3),
    "homography": (0.4, -0.7, 0.8, 0.8, 0.3, -0.4, 0.25, -0.15),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorConfig:
    """Conversion of brightness to events in a pixel."""

    c_on: float = 0.2
    c_off: float = 0.2
    mismatch: float = 0.1
    refractory_us: float = 100.0

    def __post_init__(self) -> None:
        check_number("c_on", self.c_on, 0.005, 10.0)
        check_number("c_off", self.c_off, 0.005, 10.0)
        check_number("mismatch", self.mismatch, 0.0, 1.0)
        check_number("refractory_us", self.refractory_us, 0.0, 1e6)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseConfig:
    """Noise events; each kind has its own random numbers.

    ``uniform_hz`` and ``uniform_share`` are the settings ``noise_hz`` and ``noise_share``.
    """

    uniform_hz: float = 0.0
    uniform_share: float = 0.0
    leak_hz: float = 0.0
    leak_jitter: float = 0.1
    shot_hz: float = 0.0
    dark_ratio: float = 4.0
    spread_decades: float = 0.1
    hot_pixels: int = 0
    hot_share: float = 0.0
    hot_hz: float = 1000.0
    measured: MeasuredNoise | MeasuredSource | None = dataclasses.field(
        default=None, compare=False, repr=False
    )
    measured_lux: str | float | None = None
    measured_digest: str | None = dataclasses.field(default=None, init=False)  # compared instead

    def __post_init__(self) -> None:
        for name in ("uniform_hz", "leak_hz", "shot_hz"):
            check_number(name, getattr(self, name), 0.0, 1e4)
        check_number("uniform_share", self.uniform_share, 0.0, 1e3)
        check_number("leak_jitter", self.leak_jitter, 0.0, 1.0)
        check_number("dark_ratio", self.dark_ratio, 1.0, 1e3)
        check_number("spread_decades", self.spread_decades, 0.0, 2.0)
        check_number("hot_pixels", self.hot_pixels, 0, whole=True)
        check_number("hot_share", self.hot_share, 0.0, 1.0)
        check_number("hot_hz", self.hot_hz, 0.0, 1e5)
        if self.measured is not None:
            measured = load_measured(self.measured, self.measured_lux)
            object.__setattr__(self, "measured", measured)
            object.__setattr__(self, "measured_digest", measured.digest)


#: Noise presets by name: no noise, a sensor in good light, a sensor in the dark.
NOISE_PRESETS: dict[str, NoiseConfig] = {
    "none": NoiseConfig(),
    "light": NoiseConfig(leak_hz=0.1, shot_hz=0.3, hot_share=2e-5, hot_hz=200.0),
    "dark": NoiseConfig(leak_hz=0.1, shot_hz=5.0, hot_share=1e-4, hot_hz=200.0, spread_decades=0.3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectConfig:
    """A textured object with its own motion, in front of the layers before it.

    It moves by ``theta``, in the motion model ``motion``, or by a velocity field. With a model or a
    pivot of its own it turns and grows about the pivot, which moves with it.

    >>> ObjectConfig(motion="similarity", theta=(100, 0, 2, 0.5), center=(0.3, 0.4)).start_pivot
    (0.3, 0.4)
    """

    theta: tuple[float, ...] | None = None  # parameters of the motion model
    motion: str | None = None  # motion model; None: that of the background, about its center
    pivot: tuple[float, float] | None = None  # center of the motion at the start; None: `center`
    field: VelocityField | str | None = None  # velocity field, instead of `theta`
    texture: str = "rocks"
    outline: str = "ellipse"  # or "rectangle", "patches"
    center: tuple[float, float] = (0.5, 0.5)  # position at the start, as shares of the view
    size: tuple[float, float] = (0.4, 0.5)  # full width and height, as shares of the view

    def __post_init__(self) -> None:
        if (self.theta is None) == (self.field is None):
            raise ConfigError("An object must have `theta` or a velocity `field`, not both.")
        if self.theta is not None:
            object.__setattr__(self, "theta", as_numbers("theta", self.theta))
        if self.field is not None:
            object.__setattr__(self, "field", as_field(self.field))
        if self.motion is not None:
            lookup(MOTION_MODELS, self.motion, "motion model")
        lookup(TEXTURES, self.texture, "texture")
        lookup(OUTLINES, self.outline, "outline")
        for name, low in (("center", -1.0), ("size", 0.01), ("pivot", -1.0)):
            if name == "pivot" and self.pivot is None:
                continue
            wanted = f"two shares of the view, {low} to 2"
            pair = as_numbers(name, getattr(self, name), 2, wanted)
            if not all(low <= value <= 2.0 for value in pair):
                raise ConfigError(f"must be {wanted}", parameter=name, value=pair)
            object.__setattr__(self, name, pair)

    @property
    def start_pivot(self) -> tuple[float, float] | None:
        """Pivot at the start, as shares of the view; None for the center of the background."""
        return self.center if self.pivot is None and self.motion is not None else self.pivot

    @property
    def is_single(self) -> bool:
        """Whether it is there once; others repeat with the tile of the texture."""
        own_motion = self.start_pivot is not None or self.field is not None
        return own_motion and self.outline != "patches"


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneConfig:
    """Textures of the background and of objects in front of it."""

    texture: str = "shapes"
    image: Floats | str | Path | None = dataclasses.field(default=None, compare=False, repr=False)
    image_digest: str | None = dataclasses.field(
        default=None, init=False
    )  # compared instead of `image`
    contrast: float = 5.0
    feature_px: float = 32.0
    blur_px: float = 0.6
    objects: tuple[ObjectConfig, ...] = ()

    def __post_init__(self) -> None:
        lookup(TEXTURES, self.texture, "texture")
        check_number("contrast", self.contrast, 1.01, 1e4)
        check_number("feature_px", self.feature_px, 4.0, 1e3)
        check_number("blur_px", self.blur_px, 0.0, 20.0)
        try:
            objects = tuple(self.objects)
        except TypeError:
            objects = (None,)
        if not all(isinstance(item, ObjectConfig) for item in objects):
            problem = "must be ObjectConfigs"
            raise ConfigError(problem, parameter="objects", value=self.objects)
        if len(objects) > MAX_OBJECTS:
            problem = f"must hold at most {MAX_OBJECTS} objects"
            raise ConfigError(problem, parameter="objects", value=len(objects))
        object.__setattr__(self, "objects", objects)
        if self.image is not None:
            image = load_image(self.image)
            digest = hashlib.sha256(image.tobytes() + repr(image.shape).encode()).hexdigest()
            object.__setattr__(self, "image", image)
            object.__setattr__(self, "image_digest", digest[:16])


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationConfig:
    """Complete configuration of a simulation; equal configs give equal recordings."""

    resolution: tuple[int, int] = (346, 260)
    duration_us: int = 100_000
    t_start_us: int = 0
    seed: int = 0
    motion: str = "translation"
    theta: tuple[float, ...] | None = None
    field: VelocityField | str | None = None
    trajectory: str | tuple[tuple[float, ...], ...] = "constant"
    period_us: int = 400_000
    camera: Camera | None = None
    window_us: int = 50_000
    step_px: float = 0.5
    gyro_noise_rad_s: float = 0.0
    gyro_bias_rad_s: tuple[float, ...] = (0.0, 0.0, 0.0)
    scene: SceneConfig = dataclasses.field(default_factory=SceneConfig)
    sensor: SensorConfig = dataclasses.field(default_factory=SensorConfig)
    noise: NoiseConfig = dataclasses.field(default_factory=NoiseConfig)

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", as_resolution(self.resolution))
        width, height = self.resolution
        if width * height > MAX_PIXELS:
            problem = f"may have up to {MAX_PIXELS:,} px in total"
            raise ConfigError(problem, parameter="resolution", value=self.resolution)
        check_number("duration_us", self.duration_us, 1, MAX_DURATION_US, whole=True)
        check_number("t_start_us", self.t_start_us, 0, 2**60, whole=True)
        check_number("seed", self.seed, 0, whole=True)
        check_number("period_us", self.period_us, 1000, whole=True)
        shortest = max(100, self.duration_us // MAX_WINDOWS)
        check_number("window_us", self.window_us, shortest, whole=True)
        check_number("step_px", self.step_px, 0.01, 2.0)
        check_number("gyro_noise_rad_s", self.gyro_noise_rad_s, 0.0, 100.0)
        for name, kind in CONFIG_PARTS.items():
            check_type(name, getattr(self, name), kind)
        model = lookup(MOTION_MODELS, self.motion, "motion model")
        if self.camera is not None:
            check_type("camera", self.camera, Camera, "Read a file with `Camera.from_file`.")
            if self.camera.is_distorted and not model.uses_rays:
                raise ConfigError(
                    "`camera` may be distorted for motion 'rotation' only, which works on rays; "
                    f"got motion {self.motion!r}."
                )
        if self.field is None:
            theta = DEFAULT_THETA[self.motion] if self.theta is None else self.theta
            object.__setattr__(self, "theta", _checked_theta("theta", theta, self.motion))
        else:
            self._check_field()
        for number, item in enumerate(self.scene.objects):
            self._check_object(item, number + 1)
        bias = as_numbers("gyro_bias_rad_s", self.gyro_bias_rad_s, 3, "three numbers")
        object.__setattr__(self, "gyro_bias_rad_s", bias)
        trajectory = _as_trajectory(self.trajectory, len(model.param_names))
        object.__setattr__(self, "trajectory", trajectory)

    def _check_field(self) -> None:
        object.__setattr__(self, "field", as_field(self.field))
        if self.theta is not None:
            raise ConfigError("`theta` and `field` are two motions of the background. Give one.")
        if self.trajectory != "constant":
            problem = "must be 'constant' for a velocity `field`"
            raise ConfigError(problem, parameter="trajectory", value=self.trajectory)
        if MOTION_MODELS[self.motion].uses_rays:
            raise ConfigError(
                f"`field` moves the plane of the image. Leave `motion` {self.motion!r} out."
            )

    def _check_object(self, item: ObjectConfig, number: int) -> None:
        motion = item.motion or self.motion
        if item.theta is not None:
            _checked_theta("object_theta", item.theta, motion, number if item.motion else None)
        turns = MOTION_MODELS[motion].uses_rays and item.field is None
        scene_turns = MOTION_MODELS[self.motion].uses_rays
        if turns and (not scene_turns or item.pivot is not None):
            raise ConfigError(
                f"An object can have motion {motion!r}, without `pivot`, if the background has it."
            )
        if not turns and scene_turns and self.camera is not None and self.camera.is_distorted:
            raise ConfigError(
                "`camera` may be distorted if all objects have the motion of the background."
            )


def _checked_theta(
    name: str, theta: Sequence[float], motion: str, number: int | None = None
) -> tuple[float, ...]:
    """Return as many numbers as a motion model has; ``number``: of the object, for the message."""
    values = as_numbers(name, theta)
    names = MOTION_MODELS[motion].param_names
    if len(values) != len(names):
        problem = (
            f"of motion {motion!r} must be {counted(len(names), 'number')} "
            f"({', '.join(names)}); got {len(values)}: {values}"
        )
        if number is not None:
            raise ConfigError(f"`theta` of object {number} {problem}.")
        raise ConfigError(problem, parameter=name)
    return values


#: Parts of a config by field.
CONFIG_PARTS = {"scene": SceneConfig, "sensor": SensorConfig, "noise": NoiseConfig}


def _as_trajectory(
    trajectory: str | ArrayLike, n_params: int
) -> str | tuple[tuple[float, ...], ...]:
    if isinstance(trajectory, str):
        lookup(TRAJECTORIES, trajectory, "trajectory")
        return trajectory
    try:
        knots = np.asarray(trajectory, np.float64)
    except (TypeError, ValueError):
        knots = np.empty((0, 0))
    if knots.ndim != 2 or knots.shape[1] != 1 + n_params or not len(knots):
        raise ConfigError(
            f"`trajectory` must be a name or knots of shape (n, {1 + n_params}): "
            f"t_us and {n_params} parameters; got shape {np.shape(knots)}."
        )
    if not np.isfinite(knots).all() or (np.diff(knots[:, 0]) <= 0).any():
        raise ConfigError("`trajectory` must be finite, and its times must increase.")
    return tuple(tuple(row) for row in knots.tolist())
