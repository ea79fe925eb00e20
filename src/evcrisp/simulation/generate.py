"""Simulate an event camera: events with labels, true motion, and frames."""

from collections.abc import Iterator
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.sensor_data import STANDARD_GRAVITY_M_S2, Frame, Imu
from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.motion import MotionModel, motion_model
from evcrisp.motion.protocol import camera_of
from evcrisp.simulation.config import ObjectConfig, SimulationConfig
from evcrisp.simulation.field_path import FieldPath
from evcrisp.simulation.fields import as_field
from evcrisp.simulation.path import TRAJECTORIES, Constant, Knots, Path, Trajectory
from evcrisp.simulation.result import MotionTruth, Simulation, Truth
from evcrisp.simulation.scene import build_view
from evcrisp.simulation.seeds import Stream, generator
from evcrisp.simulation.settings import Settings, build_config, with_settings
from evcrisp.simulation.slabs import AnyPath, simulate_slabs, slab_motions

_IMU_PERIOD_US = 1000  # 1 kHz, as in common event cameras


@with_settings
def simulate(config: SimulationConfig | None = None, **settings: Unpack[Settings]) -> Simulation:
    """Simulate an event camera and a moving scene, with true motion and labels.

    The log intensity of pixel x at time t is ``texture(T(x, t; theta))`` with the warp T of the
    motion model. Warping the signal events with the true ``theta`` therefore aligns all events of
    one point of the scene. The result has events with labels, origins, objects, true motion and
    IMU samples. For long recordings use :func:`simulate_chunks`, in bounded memory.

    Parameters
    ----------
    config : SimulationConfig, optional
        Base of the simulation; ``settings`` replace its values. Default: the values below.
    rng, seed : int, numpy.random.Generator or numpy.random.SeedSequence, optional
        Give one. Equal seeds give equal bytes; generators advance. Default: seed of ``config``, 0.
    resolution : (int, int), px
        ``(width, height)`` of the sensor. Default: (346, 260).
    duration_us, t_start_us : int, us
        Length of the recording (100 000), and its first timestamp (0).
    motion : str
        Name of the motion model. Default: "translation".
    theta : sequence of float, optional
        Parameters of the motion, in the units of the model. Default: about 300 px/s.
    field : str or VelocityField, optional
        Stationary velocity field of the background instead of ``theta``: "forward", "parallax",
        "shear", "vortex", or an object such as ``Vortex(peak_px_s=300)``.
    trajectory : str or array_like, shape (n, 1 + m)
        Change of ``theta`` with time: "constant" (default); "sine" or "random", which oscillate around
        zero with amplitude ``theta``; or knots ``(t_us, theta...)`` joined by lines.
    period_us : int, us
        Period of "sine"; shortest period of "random". Default: 400 000.
    camera : Camera, optional
        Camera for rotation. Default: ideal, field of view of 60 degrees.
    window_us : int, us
        Windows of the true motion (50 000); warping to their middle is exact if it is constant.
    step_px : float, px
        Maximum displacement between two samples of the scene. Default: 0.5.
    texture : str, path or array_like
        Name of the background's texture ("shapes"), or an image as in ``image``.
    image : array_like, shape (h, w), or path, optional
        Texture, one pixel per sensor pixel, mirrored at borders. PGM, NPY; others with pillow.
    contrast : float
        Ratio of the brightest to the darkest intensity. Default: 5.
    feature_px, blur_px : float, px
        Size of the features of a procedural texture (32); sigma of the lens blur (0.6).
    objects : sequence of ObjectConfig
        Objects in front of the background, the farthest first. Default: no objects.
    object_theta : sequence of float, optional
        Motion of one object with default texture and shape.
    c_on, c_off, mismatch : float
        Changes of log intensity per event (0.2); sigma of their log-normal spread (0.1).
    refractory_us : float, us
        Time after an event during which the pixel is held in reset. Default: 100.
    noise : str or NoiseConfig
        Preset: "none" (default), "light" or "dark".
    noise_hz, noise_share : float
        Uniform noise: rate per pixel, Hz (0), and number relative to the signal events (0). Also
        called ``uniform_hz`` and ``uniform_share``.
    leak_hz, leak_jitter : float
        Leak noise, ON and nearly periodic: rate per pixel, Hz (0), and relative jitter (0.1).
    shot_hz, dark_ratio : float
        Shot noise: mean rate per pixel, Hz (0), and rate at the darkest point over the brightest (4).
    spread_decades : float
        Spread of leak and shot rates between pixels, sigma in powers of ten. Default: 0.1.
    hot_pixels, hot_share, hot_hz : int, float, float
        Hot pixels: their number (0), plus their share of all pixels (0), and their rate, Hz (1000).
    measured, measured_lux : path or (path, path), str or float
        Noise of a real sensor: folder with ``noise_pos_<lux>.npy`` and ``noise_neg_<lux>.npy``, or
        these two files; illumination, if the folder has several. Default: none.
    gyro_noise_rad_s, gyro_bias_rad_s : float, (float, float, float)
        Noise (sigma) and bias of the gyroscope, rad/s. Default: 0.
    scene, sensor : SceneConfig, SensorConfig
        All settings of the scene or of the sensor at once.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value is not possible, or a setting, texture, model, trajectory or preset unknown.

    Examples
    --------
    >>> simulation = simulate(resolution=(64, 48), theta=(200.0, 0.0), duration_us=20_000, noise_hz=5)
    >>> simulation.theta(0, 20_000).tolist()
    [200.0, 0.0]
    >>> bool((simulation.events.signal == (simulation.origin == 0)).all())
    True
    """
    config = build_config(config, settings)
    model, paths = build_paths(config)
    parts = list(simulate_slabs(config, model, paths))
    return Simulation(
        events=Events.concatenate([part.events for part in parts]),
        origin=np.concatenate([part.origin for part in parts]),
        object=np.concatenate([part.object for part in parts]),
        motion=model,
        motion_truth=motion_truth(config, paths),
        imu=_imu(config, paths[0]),
        config=config,
        paths=paths,
    )


@with_settings
def simulate_chunks(
    config: SimulationConfig | None = None,
    *,
    max_events: int = 1 << 20,
    **settings: Unpack[Settings],
) -> Iterator[Events]:
    """Yield the events of :func:`simulate` in chunks, in bounded memory.

    Parameters
    ----------
    config, max_events, **settings
        Maximum number of events in a chunk; the others as for :func:`simulate`.
    """
    check_number("max_events", max_events, 1, whole=True)
    config = build_config(config, settings)
    model, paths = build_paths(config)
    # A simulation without events is a recording too.
    yield Events.empty(config.resolution).with_signal([])
    for part in simulate_slabs(config, model, paths):
        for first in range(0, len(part.events), max_events):
            yield part.events[first : first + max_events]


@with_settings
def simulate_truth(config: SimulationConfig | None = None, **settings: Unpack[Settings]) -> Truth:
    """Return the truth of the recording of :func:`simulate_chunks`; arguments as there.

    >>> truth = simulate_truth(theta=(200.0, 0.0), duration_us=100_000)
    >>> truth.as_dict()["windows"][0]
    {'t_start_us': 0, 't_end_us': 50000, 'theta': [[200.0, 0.0]]}
    """
    config = build_config(config, settings)
    model, paths = build_paths(config)
    return Truth(
        motion=model,
        motion_truth=motion_truth(config, paths),
        imu=_imu(config, paths[0]),
        config=config,
    )


@with_settings
def simulate_frames(
    config: SimulationConfig | None = None,
    *,
    frame_period_us: int = 40_000,
    **settings: Unpack[Settings],
) -> Iterator[Frame]:
    """Yield gray images of the scene of :func:`evcrisp.simulate`, without motion blur.

    Parameters
    ----------
    config, **settings
        As for :func:`evcrisp.simulate`.
    frame_period_us : int, us
        Time between frames; the first frame is at the start.
    """
    from evcrisp.kernels.simulation.sensor import log_intensity_at

    check_number("frame_period_us", frame_period_us, 1, whole=True)
    config = build_config(config, settings)
    model, paths = build_paths(config)
    view = build_view(config, model)
    pixel = np.arange(len(view.base))
    level = np.empty(pixel.size)
    width, height = config.resolution
    for t in range(0, config.duration_us, frame_period_us):
        motions = slab_motions(paths, np.array([float(t)]), view.base)
        log_intensity_at(pixel, np.zeros_like(pixel), view.base, motions, view.scene, level)
        # The brightest point of any texture has intensity 1, log intensity 0.
        image = np.clip(np.rint(255.0 * np.exp(level)), 0, 255).astype(np.uint8)
        yield Frame(t=config.t_start_us + t, image=image.reshape(height, width))


def build_paths(config: SimulationConfig) -> tuple[MotionModel, list[AnyPath]]:
    """Return the motion model of the background, and the path of each layer."""
    model = motion_model(config.motion, config.resolution, config.camera)
    paths: list[AnyPath] = []
    for layer, item in enumerate((config, *config.scene.objects)):
        path = _field_path(config, item) if item.field else _model_path(config, model, item, layer)
        # The cube around a turning camera has no end.
        if isinstance(path, FieldPath) or not path.model.uses_rays:
            path.check_view(config.resolution)
        paths.append(path)
    return model, paths


def _field_path(config: SimulationConfig, item: SimulationConfig | ObjectConfig) -> FieldPath:
    return FieldPath.build(as_field(item.field), config.resolution, config.duration_us)


def _model_path(
    config: SimulationConfig,
    background: MotionModel,
    item: SimulationConfig | ObjectConfig,
    layer: int,
) -> Path:
    model, pivot, outline = background, None, None
    if isinstance(item, ObjectConfig):
        width, height = config.resolution
        if item.motion is not None:
            model = motion_model(item.motion, config.resolution, config.camera)
        if item.start_pivot is not None:
            pivot = (item.start_pivot[0] * width, item.start_pivot[1] * height)
        if item.is_single and not model.uses_rays:
            outline = _outline_points(item, config.resolution)
    trajectory = _trajectory(config, np.array(item.theta), layer)
    return Path.build(model, trajectory, config.duration_us, config.window_us, pivot, outline)


def _outline_points(item: ObjectConfig, resolution: tuple[int, int]) -> Floats:
    """Return 5 x 5 points over the box around an object at the start, px, shape (25, 2)."""
    offset = np.linspace(-0.5, 0.5, 5)
    x = (item.center[0] + item.size[0] * offset) * resolution[0]
    y = (item.center[1] + item.size[1] * offset) * resolution[1]
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def _trajectory(config: SimulationConfig, theta: Floats, layer: int) -> Trajectory:
    if isinstance(config.trajectory, str):
        rng = generator(config.seed, Stream.TRAJECTORY, layer)
        return TRAJECTORIES[config.trajectory](theta, config.period_us, rng)
    if layer > 0:
        return Constant(theta)
    knots = np.array(config.trajectory)
    return Knots(knots[:, 0], knots[:, 1:])


def motion_truth(config: SimulationConfig, paths: list[AnyPath]) -> MotionTruth:
    """Return the mean parameters of each layer in windows of ``config.window_us``."""
    t_start = np.arange(0, config.duration_us, config.window_us, dtype=np.int64)
    t_end = np.minimum(t_start + config.window_us, config.duration_us)
    spans = list(zip(t_start.tolist(), t_end.tolist(), strict=True))
    n_params = max((p.thetas.shape[1] for p in paths if isinstance(p, Path)), default=0)
    theta = np.full((len(paths), len(spans), n_params), np.nan)
    for layer, path in enumerate(paths):
        if isinstance(path, Path):
            theta[layer, :, : path.thetas.shape[1]] = [path.mean_theta(*span) for span in spans]
    return MotionTruth(
        t_start=config.t_start_us + t_start, t_end=config.t_start_us + t_end, theta=theta
    )


def _imu(config: SimulationConfig, path: AnyPath) -> Imu:
    """Sample angular velocity and acceleration at 1 kHz, with noise and bias of the gyroscope.

    The accelerometer of a level camera at rest measures the reaction to gravity, which points up:
    ``(0, -g, 0)``, since y points down.
    """
    since_start = np.arange(0, config.duration_us, _IMU_PERIOD_US, dtype=np.int64)
    gyro = np.zeros((since_start.size, 3))
    accel = np.tile((0.0, -STANDARD_GRAVITY_M_S2, 0.0), (since_start.size, 1))
    velocity = camera = None
    if isinstance(path, Path):
        theta = path.trajectory.theta(since_start.astype(np.float64))
        velocity, camera = path.model.angular_velocity(theta.T), camera_of(path.model)
    if velocity is not None:
        gyro = np.ascontiguousarray(velocity.T)
    if camera is not None and isinstance(path, Path):
        accel = _in_camera_axes(accel, path, camera, since_start)
    elif velocity is not None:
        roll = np.concatenate(([0.0], np.cumsum(gyro[:-1, 2] + gyro[1:, 2]) * _IMU_PERIOD_US / 2e6))
        accel[:, 0] = -STANDARD_GRAVITY_M_S2 * np.sin(roll)
        accel[:, 1] = -STANDARD_GRAVITY_M_S2 * np.cos(roll)
    rng = generator(config.seed, Stream.GYRO)
    noise = config.gyro_noise_rad_s * rng.standard_normal(gyro.shape)
    return Imu(
        t=config.t_start_us + since_start,
        gyro_rad_s=gyro + noise + np.asarray(config.gyro_bias_rad_s),
        accel_m_s2=accel,
    )


def _in_camera_axes(
    world: Floats, path: Path, camera: Camera, since_start: NDArray[np.int64]
) -> Floats:
    """Rotate vectors from world axes to the axes of the camera at each time."""
    k = camera.matrix
    to_world = np.linalg.inv(k) @ path.matrices(since_start.astype(np.float64)) @ k
    return np.einsum("nji,nj->ni", to_world, world)
