"""Estimate motion and labels of one window of events, by any method."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.camera import Camera, tell_doubt
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.core.windows import Window
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate, Estimator
from evcrisp.estimators.significance import doubted
from evcrisp.motion import MotionModel, motion_model

_LOG = logging.getLogger(__name__)


def estimate(
    events: Events | Window,
    method: str = "auto",
    motion: str = "translation",
    camera: Camera | None = None,
    *,
    theta0: ArrayLike | None = None,
    **params: Any,
) -> Estimate:
    """Align and denoise the events of one window.

    Parameters
    ----------
    events : Events or Window
        Events of a short time, in which one motion of the model holds: about 5 to 50 ms.
    method : str
        One of the keys of ``evcrisp.estimators.ESTIMATORS``; "auto" has nothing to tune.
    motion : str
        Motion model; one of the keys of ``evcrisp.motion.MOTION_MODELS``.
    camera : Camera, optional
        Needed for "rotation" if the result shall be true rad/s; an ideal lens of 60 degrees
        otherwise.
    theta0 : array_like, shape (m,), optional
        Where to start, such as the motion of the previous window.
    **params
        Parameters of the method.

    Returns
    -------
    Estimate
        ``theta`` (translation: velocity of the image in px/s; rotation: rad/s comparable with a
        gyroscope), ``signal`` (True = keep), ``score`` and more.

    Raises
    ------
    UnknownNameError, ConfigError
        If a name is unknown or a setting cannot be.

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
    model = model_for(motion, window.events.resolution, camera)
    return doubted(estimator.run(window, model, checked_theta(theta0, model)))


def as_window(events: Events | Window) -> Window:
    """Return a window as it is, or all events as one."""
    if isinstance(events, Window):
        return events
    if not isinstance(events, Events):
        raise ConfigError(
            f"`events` must be Events or a Window; got {type(events).__name__}. "
            "Read a file with `evcrisp.read`; build `Events(x=..., y=..., t=..., p=..., resolution=...)`."
        )
    return whole_window(events)


def whole_window(events: Events) -> Window:
    """Return all events as one window."""
    if not len(events):
        return Window(events, 0, 1)
    return Window(events, int(events.t[0]), int(events.t[-1]) + 1)


def model_for(motion: str, resolution: Sequence[int], camera: Camera | None) -> MotionModel:
    """Return the motion model, after a look at whether the camera fits the sensor."""
    if camera is not None:
        if not isinstance(camera, Camera):
            raise ConfigError(
                f"`camera` must be a Camera; got {camera!r}. Read a file with `Camera.from_file`."
            )
        if motion != "rotation":
            _LOG.warning("Only the motion 'rotation' uses a camera; %r does not.", motion)
        width, height = resolution
        if not (0 <= camera.cx < width and 0 <= camera.cy < height):
            raise ConfigError(
                f"`camera` has its principal point at ({camera.cx:.1f}, {camera.cy:.1f}) px, outside "
                f"the sensor of {width}x{height} px. Is it the calibration of this sensor?"
            )
        tell_doubt(camera, (width, height))
    elif motion == "rotation":
        _tell_ideal_lens()
    return motion_model(motion, resolution, camera)


@lru_cache(maxsize=1)
def _tell_ideal_lens() -> None:
    """Warn that turns are guesses; once, not for every window."""
    _LOG.warning(
        "The motion 'rotation' has no camera: its rad/s are those of a lens that sees 60 degrees from "
        "left to right. Give the calibration of the camera."
    )


def checked_theta(theta0: ArrayLike | None, model: MotionModel) -> NDArray[np.float64] | None:
    """Return the start as numbers, or raise if it cannot be one."""
    if theta0 is None:
        return None
    try:
        theta = np.array(theta0, np.float64)
    except (TypeError, ValueError):
        theta = np.full(1, np.nan)
    if theta.shape != (len(model.param_names),) or not np.isfinite(theta).all():
        raise ConfigError(
            f"`theta0` of motion {model.name!r} must be {len(model.param_names)} finite numbers "
            f"({', '.join(model.param_names)}); got {theta0!r}."
        )
    return theta


__all__ = ["Estimator", "estimate"]
