"""Estimate motion and labels of one window of events, by any method."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera, warn_of_mismatch
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events, not_events
from evcrisp.core.registry import build, lookup
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.devices import assessed, device_method
from evcrisp.estimators.protocol import Estimator, run_estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.reliability.assess import assess
from evcrisp.estimators.result import Estimate
from evcrisp.motion import MotionModel
from evcrisp.motion.open_motion import OPEN_MOTIONS, OpenMotion, is_open
from evcrisp.motion.registry import MOTION_MODELS

_LOG = logging.getLogger(__name__)


def estimate(
    events: Events | Window,
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    *,
    theta0: ArrayLike | None = None,
    device: str | None = None,
    deterministic: bool = False,
    **params: Any,
) -> Estimate:
    """Align and denoise the events of one window.

    Parameters
    ----------
    events : Events or Window
        Events of about 5 to 50 ms, in which motions hardly change.
    method : str or Estimator
        Name, one of ``evcrisp.estimators.ESTIMATORS``, or an object such as
        ``Cmax(objective="entropy")``. "auto" has nothing to tune.
    motion : str or MotionModel
        "auto" finds the simplest motion that explains the events: one motion, or several layers;
        "layers" and "flow" always look for several. Or one motion for the whole window: a name of
        ``evcrisp.motion.MOTION_MODELS``, or an object such as ``Rotation(camera)``. Methods other
        than "auto" take "auto" as "translation".
    camera : Camera, optional
        Calibration for "rotation". Default: an ideal lens with a field of view of 60 degrees.
    theta0 : array_like, shape (m,), optional
        Start of the search, such as the motion of the previous window.
    device : str, optional
        "cpu" (default), "cuda", or "auto": a GPU if there is one. A GPU runs the method "auto", from a
        cold search; see :doc:`/guide/gpu`.
    deterministic : bool
        Same bits from run to run on a GPU, which is slower; the CPU always gives them.
    **params
        Parameters of the method.

    Returns
    -------
    Estimate
        ``theta`` (translation: image velocity in px/s; rotation: rad/s, comparable with a
        gyroscope), ``signal`` (True = keep), ``score`` and more.

    Raises
    ------
    UnknownNameError, ConfigError
        If a name is unknown or a setting is not possible.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, noise_hz=5.0, seed=1)
    >>> result = estimate(scene.events)
    >>> bool(np.abs(result.theta - (300.0, -120.0)).max() < 10.0)
    True
    >>> bool((result.signal == scene.events.signal).mean() > 0.9)
    True
    """
    window = as_window(events)
    estimator = build(ESTIMATORS, method, "method", **params)
    model = model_for(motion, window.events.resolution, camera, estimator)
    on_device = device_method(estimator, model, device, deterministic=deterministic)
    if on_device is not None:
        refuse_start(theta0)
        return assessed(on_device.estimate([window])[0], model)
    return assess(run_estimator(estimator, window, model, checked_theta(theta0, model)), model)


def refuse_start(theta0: ArrayLike | None) -> None:
    """Raise if a start is given for a device, whose windows are searched side by side."""
    if theta0 is not None:
        raise ConfigError(
            "is not for this device, which searches every window from nothing", parameter="theta0",
            value=theta0, remedy="Leave it out, or use the device 'cpu'.",
        )  # fmt: skip


def as_window(events: Events | Window) -> Window:
    """Return a window unchanged, or all events as one window."""
    if isinstance(events, Window):
        return events
    if not isinstance(events, Events):
        raise not_events("events", events, "Events or a Window")
    if not len(events):
        return Window(events, 0, 1)
    return Window(events, int(events.t[0]), int(events.t[-1]) + 1)


def model_for(
    motion: str | MotionModel,
    resolution: Sequence[int],
    camera: Camera | None = None,
    estimator: Estimator | None = None,
) -> MotionModel:
    """Return the motion model for a sensor; check that the camera fits the sensor.

    Open motions are for estimators that find the model; others get a translation.
    """
    if is_open(motion) or (isinstance(motion, str) and motion in OPEN_MOTIONS):
        if getattr(estimator, "finds_motion_model", False):
            if camera is not None:
                _check_camera(camera, resolution)
            return cast(
                MotionModel, OpenMotion(motion, camera) if isinstance(motion, str) else motion
            )
        motion = "translation"
    if not isinstance(motion, str):
        if isinstance(motion, type) or not hasattr(motion, "warp"):
            lookup(MOTION_MODELS, repr(motion), "motion model")
        if camera is not None:
            raise ConfigError(
                f"`motion` is a model already; got a camera too. Give it to `{type(motion).__name__}(...)`."
            )
        return motion
    kind = lookup(MOTION_MODELS, motion, "motion model")
    if camera is None:
        if kind.uses_rays:
            warn_ideal_lens(kind.name)
        return kind.for_sensor(resolution, None)
    _check_camera(camera, resolution)
    if not kind.uses_rays:
        _LOG.warning("The motion %r does not use a camera; 'rotation' does.", motion)
    return kind.for_sensor(resolution, camera)


def _check_camera(camera: Camera, resolution: Sequence[int]) -> None:
    """Raise if a camera is no calibration of the sensor; warn if it may be of another one."""
    if not isinstance(camera, Camera):
        raise ConfigError(
            "must be a Camera", parameter="camera", value=camera,
            remedy="Read a file with `Camera.from_file`.",
        )  # fmt: skip
    width, height = resolution
    is_outside = not (0 <= camera.cx < width and 0 <= camera.cy < height)
    if is_outside and not camera.is_cropped:
        raise ConfigError(
            f"`camera` has its principal point at ({camera.cx:.1f}, {camera.cy:.1f}) px, outside "
            f"the sensor of {width}x{height} px. Is it the calibration of this sensor?"
        )
    warn_of_mismatch(camera, (width, height))


@lru_cache(maxsize=4)
def warn_ideal_lens(motion: str) -> None:
    """Warn once, not for every window."""
    _LOG.warning(
        "The motion %r has no camera: its rad/s hold for an ideal lens with a field of view of "
        "60 degrees. Give the calibration of the camera.",
        motion,
    )


def checked_theta(theta0: ArrayLike | None, model: MotionModel) -> Floats | None:
    """Return the start as numbers; raise if it does not fit the model."""
    if theta0 is None:
        return None
    try:
        theta = np.array(theta0, np.float64)
    except (TypeError, ValueError):
        theta = np.full(1, np.nan)
    names = model.param_names[:2] if is_open(model) else model.param_names
    if theta.shape != (len(names),) or not np.isfinite(theta).all():
        wanted = f"must be {len(names)} finite numbers ({', '.join(names)})"
        problem = f"of motion {model.name!r} {wanted}"
        raise ConfigError(problem, parameter="theta0", value=theta0)
    return theta
