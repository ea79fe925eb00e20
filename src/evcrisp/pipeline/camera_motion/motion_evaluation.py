"""Measure the motion of a recording: sharpness of the aligned events, and the gyroscope."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.core.windows import seconds_since
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.result import Estimate
from evcrisp.io.recording import Recording
from evcrisp.metrics import AxisAgreement, axis_agreement, flow_warp_loss
from evcrisp.motion import MotionModel, Rotation
from evcrisp.pipeline.camera_motion.gyroscope import gyroscope_of
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MotionEvaluation:
    """Quality of the motion of a recording, over its windows.

    ``agreement`` and ``reliable_agreement`` compare angular velocities with the gyroscope, rad/s, over
    all windows with a motion and over the reliable ones; None if there is nothing to compare.
    ``statement`` says what was compared.
    """

    n_windows: int
    n_with_motion: int
    n_reliable: int
    doubts: Mapping[str, int]  # number of windows with each doubt, by its code
    fwl: Floats = field(repr=False)  # (n_with_motion,) flow warp loss of each window with a motion
    statement: str
    agreement: AxisAgreement | None = None
    reliable_agreement: AxisAgreement | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON types; NaN for those that are undefined."""
        known = self.fwl[np.isfinite(self.fwl)]
        return {
            "n_windows": self.n_windows,
            "n_with_motion": self.n_with_motion,
            "n_reliable": self.n_reliable,
            "doubts": dict(self.doubts),
            "fwl_mean": float(known.mean()) if known.size else math.nan,
            "fwl_median": float(np.median(known)) if known.size else math.nan,
            "gyroscope": None if self.agreement is None else self.agreement.as_dict(),
            "gyroscope_reliable": _facts(self.reliable_agreement),
            "compared": self.statement,
        }


def _facts(agreement: AxisAgreement | None) -> dict[str, Any] | None:
    return None if agreement is None else agreement.as_dict()


def evaluate_motion(
    recording: Recording,
    method: str | Estimator = "auto",
    motion: str | MotionModel = "rotation",
    camera: Camera | None = None,
    *,
    windowing: Windowing | None = None,
    on_chunk: Callable[[Events], None] | None = None,
    **params: Any,
) -> MotionEvaluation:
    """Estimate the motion of every window, and measure it.

    Parameters
    ----------
    recording : Recording
        Read twice if it has IMU samples.
    method, motion, camera, windowing, **params
        As for :func:`evcrisp.track`. Only "rotation" can be compared with a gyroscope.
    on_chunk : callable, optional
        Called with the events of every window, for progress.

    Examples
    --------
    >>> import evcrisp, tempfile
    >>> scene = evcrisp.simulate(motion="rotation", theta=(0, 0, 2.0), duration_us=90_000, seed=1)
    >>> path = f"{tempfile.mkdtemp()}/scene.aedat4"
    >>> _ = evcrisp.write(path, scene.events, imu=scene.imu)
    >>> with evcrisp.open(path) as opened:
    ...     found = evaluate_motion(opened, "cmax", windowing=Windowing(window_us=30_000))
    >>> found.n_windows, bool((found.fwl > 1.2).all()), bool((found.agreement.rms < 0.1).all())
    (3, True, True)
    """
    gyroscope = gyroscope_of(recording)
    log = _WindowLog()
    lens = camera_for(recording, motion, camera)
    for result in track(recording, method, motion, lens, windowing=windowing, **params):
        log.add(result)
        if on_chunk is not None:
            on_chunk(result.window.events)
    name = motion if isinstance(motion, str) else motion.name
    if name != "rotation" or gyroscope is None:
        return MotionEvaluation(**log.counts(), statement=_not_compared(name))
    if isinstance(motion, Rotation):
        lens = motion.camera
    rates, ours = gyroscope.mean_rates(log.spans), np.array(log.thetas).reshape(-1, 3)
    has_both = np.isfinite(rates).all(axis=1) & np.isfinite(ours).all(axis=1)
    reliable = has_both & np.array(log.is_reliable, np.bool_)
    return MotionEvaluation(
        **log.counts(),
        statement=_compared(gyroscope.statement, lens) if has_both.any() else _NO_SAMPLES,
        agreement=axis_agreement(ours[has_both], rates[has_both]),
        reliable_agreement=axis_agreement(ours[reliable], rates[reliable]),
    )


@dataclass(slots=True)
class _WindowLog:
    """Facts of the windows with a motion, without their events, which would fill the memory."""

    n_windows: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)  # start and end, us
    thetas: list[Floats] = field(default_factory=list)
    is_reliable: list[bool] = field(default_factory=list)
    doubts: Counter[str] = field(default_factory=Counter)
    fwl: list[float] = field(default_factory=list)

    def add(self, result: Estimate) -> None:
        self.n_windows += 1
        self.doubts.update(doubt.code for doubt in result.doubts)
        if not result.status.has_motion:
            return
        self.spans.append((result.window.t_start, result.window.t_end))
        self.thetas.append(result.theta)
        self.is_reliable.append(result.reliable)
        self.fwl.append(window_fwl(result))

    def counts(self) -> dict[str, Any]:
        return {
            "n_windows": self.n_windows,
            "n_with_motion": len(self.fwl),
            "n_reliable": sum(self.is_reliable),
            "doubts": dict(sorted(self.doubts.items())),
            "fwl": np.array(self.fwl),
        }


def window_fwl(result: Estimate) -> float:
    """Return the flow warp loss of a window, without events at hot pixels, which do not move.

    Without motion, pixels are undistorted too.
    """
    events, window = result.window.events, result.window
    x, y = events.x.astype(np.float64), events.y.astype(np.float64)
    if result.motion.uses_rays:
        still = np.zeros_like(result.theta)
        x, y = result.motion.warp(still, x, y, seconds_since(events.t, window.t_ref))
    moving = ~hot_events(events)
    aligned = result.aligned_x[moving], result.aligned_y[moving]
    return flow_warp_loss(x[moving], y[moving], *aligned, events.resolution)


_NO_SAMPLES = "No window with a motion has IMU samples, so that nothing is compared. Are the times of one clock?"


def _not_compared(motion: str) -> str:
    if motion == "rotation":
        return "The recording has no IMU samples, so that the motion is not compared with them."
    return (
        f"The motion {motion!r} has no angular velocity; a rotation is compared with the gyroscope."
    )


def _compared(statement: str, camera: Camera | None) -> str:
    lens = "" if camera is not None else (
        " There is no calibration: the rates about x and y are those of a lens with a field of view of "
        "60 degrees."
    )  # fmt: skip
    return (
        "Estimated angular velocity of each window against the mean of the gyroscope in it, without a "
        f"shift in time. {statement}{lens}"
    )
