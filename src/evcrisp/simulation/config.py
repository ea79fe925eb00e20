"""Everything that decides a simulation, checked when it is built."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.messages import counted
from evcrisp.core.registry import lookup
from evcrisp.core.validation import as_resolution
from evcrisp.motion import MOTION_MODELS
from evcrisp.simulation.checks import as_numbers, check_range, check_whole
from evcrisp.simulation.images import load_image
from evcrisp.simulation.textures import OUTLINES, TEXTURES
from evcrisp.simulation.trajectories import TRAJECTORIES

MAX_OBJECTS = 8

#: Ten minutes: the truth about a recording is kept in memory.
MAX_DURATION_US = 600_000_000
MAX_WINDOWS = 100_000
MAX_PIXELS = 1 << 24

#: What moves when nobody says how: about 300 px/s on a sensor of 346 x 260.
DEFAULT_THETA: dict[str, tuple[float, ...]] = {
    "zoom": (1.5,),
    "translation": (300.0, -120.0),
    "rotation": (0.3, -0.9, 0.6),
    "similarity": (150.0, -60.0, 0.8, 0.5),
    "affine": (150.0, -60.0, 0.5, -0.6, 0.9, 0.3),
    "homography": (0.4, -0.7, 0.8, 0.8, 0.3, -0.4, 0.25, -0.15),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorConfig:
    """How a pixel turns brightness into events.

    Parameters
    ----------
    c_on, c_off : float
        Contrast thresholds: the change of log intensity that makes one event.
    mismatch : float
        Relative spread of the thresholds from pixel to pixel (sigma of a log-normal factor).
    refractory_us : float, us
        Time after an event during which the pixel is held in reset and sees nothing.
    """

    c_on: float = 0.2
    c_off: float = 0.2
    mismatch: float = 0.1
    refractory_us: float = 100.0

    def __post_init__(self) -> None:
        check_range("c_on", self.c_on, 0.005, 10.0)
        check_range("c_off", self.c_off, 0.005, 10.0)
        check_range("mismatch", self.mismatch, 0.0, 1.0)
        check_range("refractory_us", self.refractory_us, 0.0, 1e6)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseConfig:
    """Events that no moving edge caused; each kind has its own random numbers.

    Parameters
    ----------
    uniform_hz : float, Hz per pixel
        Even in space, time and polarity. In :func:`evcrisp.simulate` also called ``noise_hz``.
    uniform_share : float
        The same, but as a share of the number of signal events (0.1 = one to ten), in step with
        their rate. Also called ``noise_share``.
    leak_hz : float, Hz per pixel
        Leak of the reset switch: ON events, nearly periodic in each pixel.
    leak_jitter : float
        Relative spread of the time from one leak event to the next.
    shot_hz : float, Hz per pixel
        Photon noise, ON and OFF; the mean over the texture, more where it is dark.
    dark_ratio : float
        How many times more shot noise the darkest point has than the brightest.
    spread_decades : float
        Spread of leak and shot rates from pixel to pixel (sigma, in powers of ten).
    hot_pixels : int
        Number of pixels that fire all the time with one polarity.
    hot_share : float
        The same as a share of all pixels; added to ``hot_pixels``.
    hot_hz : float, Hz
        Rate of each hot pixel.
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

    def __post_init__(self) -> None:
        for name in ("uniform_hz", "leak_hz", "shot_hz"):
            check_range(name, getattr(self, name), 0.0, 1e4)
        check_range("uniform_share", self.uniform_share, 0.0, 1e3)
        check_range("leak_jitter", self.leak_jitter, 0.0, 1.0)
        check_range("dark_ratio", self.dark_ratio, 1.0, 1e3)
        check_range("spread_decades", self.spread_decades, 0.0, 2.0)
        check_whole("hot_pixels", self.hot_pixels, 0)
        check_range("hot_share", self.hot_share, 0.0, 1.0)
        check_range("hot_hz", self.hot_hz, 0.0, 1e5)


#: Noise by a name: none; a sensor in good light; and one in the dark.
NOISE_PRESETS: dict[str, NoiseConfig] = {
    "none": NoiseConfig(),
    "light": NoiseConfig(leak_hz=0.1, shot_hz=0.3, hot_share=2e-5, hot_hz=200.0),
    "dark": NoiseConfig(leak_hz=0.1, shot_hz=5.0, hot_share=1e-4, hot_hz=200.0, spread_decades=0.3),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectConfig:
    """A textured object that moves in its own way in front of everything before it.

    Parameters
    ----------
    theta : sequence of float
        Its motion, of the same model as the background's.
    texture : str
        Name of its texture.
    outline : {"ellipse", "rectangle"}
        Its form.
    center, size : (float, float)
        Where it starts and its full width and height, as shares of the view.
    """

    theta: tuple[float, ...]
    texture: str = "rocks"
    outline: str = "ellipse"
    center: tuple[float, float] = (0.5, 0.5)
    size: tuple[float, float] = (0.4, 0.5)

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", as_numbers("theta", self.theta))
        lookup(TEXTURES, self.texture, "texture")
        lookup(OUTLINES, self.outline, "outline")
        for name in ("center", "size"):
            pair = as_numbers(name, getattr(self, name))
            low = 0.01 if name == "size" else -1.0
            if len(pair) != 2 or not all(low <= value <= 2.0 for value in pair):
                raise ConfigError(
                    f"`{name}` must be two shares of the view, {low} to 2; got {pair}."
                )
            object.__setattr__(self, name, pair)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneConfig:
    """What there is to see.

    Parameters
    ----------
    texture : str
        Name of the background's texture.
    image : array_like, shape (h, w), or path, optional
        The user's own texture instead, one pixel of it for one of the sensor, mirrored at its
        borders; PGM and NPY files, and others where pillow is installed.
    contrast : float
        Brightest over darkest intensity.
    feature_px : float, px
        Typical size of what a procedural texture shows.
    blur_px : float, px
        Blur of the lens (sigma of a Gaussian).
    objects : sequence of ObjectConfig
        Things in front of the background, the hindmost first.
    """

    texture: str = "shapes"
    image: NDArray[np.float64] | str | Path | None = field(default=None, compare=False, repr=False)
    image_digest: str | None = field(default=None, init=False)  # stands for `image` in comparisons
    contrast: float = 5.0
    feature_px: float = 32.0
    blur_px: float = 0.6
    objects: tuple[ObjectConfig, ...] = ()

    def __post_init__(self) -> None:
        lookup(TEXTURES, self.texture, "texture")
        check_range("contrast", self.contrast, 1.01, 1e4)
        check_range("feature_px", self.feature_px, 4.0, 1e3)
        check_range("blur_px", self.blur_px, 0.0, 20.0)
        try:
            objects = tuple(self.objects)
        except TypeError:
            objects = (None,)
        if not all(isinstance(item, ObjectConfig) for item in objects):
            raise ConfigError(f"`objects` must be ObjectConfigs; got {self.objects!r}.")
        object.__setattr__(self, "objects", objects)
        if len(self.objects) > MAX_OBJECTS:
            raise ConfigError(f"`objects` may be up to {MAX_OBJECTS}; got {len(self.objects)}.")
        if self.image is not None:
            image = load_image(self.image)
            digest = hashlib.sha256(image.tobytes() + repr(image.shape).encode()).hexdigest()
            object.__setattr__(self, "image", image)
            object.__setattr__(self, "image_digest", digest[:16])


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationConfig:
    """Everything that decides a simulation, and nothing else.

    Parameters
    ----------
    resolution : (int, int), px
        ``(width, height)`` of the sensor.
    duration_us, t_start_us : int, us
        Length of the recording, and its first time stamp.
    seed : int
        Same seed, same bytes.
    motion : str
        Name of the motion model.
    theta : sequence of float, optional
        Its parameters; a moderate motion where not given.
    trajectory : str or array_like, shape (n, 1 + m)
        "constant"; "sine" and "random" for a motion that swings around zero with the size of
        ``theta``; or knots ``(t_us, theta...)``, joined by straight lines.
    period_us : int, us
        Period of "sine"; shortest period of "random".
    camera : Camera, optional
        For rotation; an ideal camera of 60 degrees where not given.
    window_us : int, us
        Length of the windows of the true motion. Within each, warping to its middle is exact.
    step_px : float, px
        Nothing moves further than this between two looks at the scene.
    gyro_noise_rad_s : float
        Noise of each sample of the gyroscope (sigma).
    gyro_bias_rad_s : (float, float, float)
        Its bias.
    scene, sensor, noise : SceneConfig, SensorConfig, NoiseConfig
        The rest, by topic.
    """

    resolution: tuple[int, int] = (346, 260)
    duration_us: int = 100_000
    t_start_us: int = 0
    seed: int = 0
    motion: str = "translation"
    theta: tuple[float, ...] | None = None
    trajectory: str | tuple[tuple[float, ...], ...] = "constant"
    period_us: int = 400_000
    camera: Camera | None = None
    window_us: int = 50_000
    step_px: float = 0.5
    gyro_noise_rad_s: float = 0.0
    gyro_bias_rad_s: tuple[float, ...] = (0.0, 0.0, 0.0)
    scene: SceneConfig = field(default_factory=SceneConfig)
    sensor: SensorConfig = field(default_factory=SensorConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolution", as_resolution(self.resolution))
        width, height = self.resolution
        if width * height > MAX_PIXELS:
            problem = f"may have up to {MAX_PIXELS:,} px in all"
            raise ConfigError(problem, parameter="resolution", value=self.resolution)
        check_whole("duration_us", self.duration_us, 1, MAX_DURATION_US)
        check_whole("t_start_us", self.t_start_us, 0, 2**60)
        check_whole("seed", self.seed, 0)
        check_whole("period_us", self.period_us, 1000)
        check_whole("window_us", self.window_us, max(100, self.duration_us // MAX_WINDOWS))
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                value = getattr(self, name)
                raise ConfigError(f"must be a {kind.__name__}", parameter=name, value=value)
        if self.camera is not None and not isinstance(self.camera, Camera):
            raise ConfigError("must be a Camera", parameter="camera", value=self.camera)
        check_range("step_px", self.step_px, 0.01, 2.0)
        check_range("gyro_noise_rad_s", self.gyro_noise_rad_s, 0.0, 100.0)
        n_params = len(lookup(MOTION_MODELS, self.motion, "motion model").param_names)
        theta = DEFAULT_THETA[self.motion] if self.theta is None else self.theta
        object.__setattr__(self, "theta", self._checked_theta("theta", theta))
        for item in self.scene.objects:
            self._checked_theta("object_theta", item.theta)
        if self.camera is not None and self.camera.is_distorted and self.motion != "rotation":
            raise ConfigError(
                "`camera` may be distorted for motion 'rotation' only, which works on rays; "
                f"got motion {self.motion!r}."
            )
        bias = as_numbers("gyro_bias_rad_s", self.gyro_bias_rad_s)
        if len(bias) != 3:
            raise ConfigError(f"`gyro_bias_rad_s` must be three numbers; got {bias}.")
        object.__setattr__(self, "gyro_bias_rad_s", bias)
        object.__setattr__(self, "trajectory", _as_trajectory(self.trajectory, n_params))

    def _checked_theta(self, name: str, theta: Sequence[float]) -> tuple[float, ...]:
        values = as_numbers(name, theta)
        names = MOTION_MODELS[self.motion].param_names
        if len(values) != len(names):
            raise ConfigError(
                f"of motion {self.motion!r} must be {counted(len(names), 'number')} "
                f"({', '.join(names)}); got {len(values)}: {values}",
                parameter=name,
            )
        return values


_KINDS = {"scene": SceneConfig, "sensor": SensorConfig, "noise": NoiseConfig}


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
