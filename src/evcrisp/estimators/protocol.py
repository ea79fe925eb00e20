"""Protocol of estimators: one window alone, or the windows of a recording in order."""

from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate
from evcrisp.motion.protocol import MotionModel
from evcrisp.search.window_data import WindowData


class Estimator(Protocol):
    """A method with its parameters; a frozen dataclass.

    An estimator may also have ``start_session(resolution)``, which returns a :class:`Session` with a state
    over a recording. Without it, windows are independent. ``start_session_without_map`` is the same for
    estimates that need neither ``w_map`` nor ``regret``.
    """

    name: ClassVar[str]

    def run(self, window: Window, model: MotionModel, theta0: Floats | None = None) -> Estimate:
        """Estimate motion and labels of one window.

        Parameters
        ----------
        window : Window
            Events and their reference time. Any number of events, zero included.
        model : MotionModel
            How the image moves.
        theta0 : ndarray, shape (m,), optional
            Start of the search, such as the previous window's motion. Without it the search is cold.
        """
        ...


class Session(Protocol):
    """An estimator at work on one recording."""

    def run(
        self, window: Window, model: MotionModel, theta0: Floats | None, hot: Bools
    ) -> Estimate:
        """Estimate the next window, which may overlap; events of hot pixels, (n,), are noise."""
        ...


def run_estimator(
    estimator: Estimator, window: Window, model: MotionModel, theta0: Floats | None
) -> Estimate:
    """Run an estimator on one window; raise if it does not return an `Estimate`."""
    result = estimator.run(window, model, theta0)
    if not isinstance(result, Estimate):
        raise ConfigError(
            f"`run` of {type(estimator).__name__} must return an `evcrisp.Estimate`; "
            f"got {type(result).__name__}."
        )
    return result


def session_of(
    estimator: Estimator, resolution: tuple[int, int], *, with_map: bool = True
) -> Session:
    """Begin a recording; estimates need no ``w_map`` and ``regret`` unless ``with_map``."""
    start: Any = getattr(estimator, "start_session", None)
    if not with_map:
        start = getattr(estimator, "start_session_without_map", start)
    return IndependentWindows(estimator) if start is None else start(resolution)


class IndependentWindows:
    """Session of an estimator without a state: each window by itself, without hot pixels."""

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    def run(
        self, window: Window, model: MotionModel, theta0: Floats | None, hot: Bools | None
    ) -> Estimate:
        """Estimate a window; hot events get the lowest score and no confidence."""
        if hot is None or not hot.any():
            return run_estimator(self.estimator, window, model, theta0)
        others = replace(window, events=window.events[~hot])
        return self.with_hot_events(
            run_estimator(self.estimator, others, model, theta0), window, hot
        )

    def with_hot_events(self, result: Estimate, window: Window, hot: Bools) -> Estimate:
        """Add the hot events of a window to an estimate of the others."""
        not_hot = ~hot

        def expand(values: Floats, fill: float) -> Floats:
            out = np.full(hot.size, fill)
            out[not_hot] = values
            return out

        signal = np.zeros(hot.size, np.bool_)
        signal[not_hot] = result.signal
        score = expand(result.score, min(float(result.score.min(initial=0.0)), 0.0))
        x, y = WindowData.of(window, result.motion).warp.warp(result.theta)
        by_motion = result.motion_signal
        if by_motion is not None:
            by_motion = expand(by_motion.astype(np.float64), 0.0) > 0.0
        return replace(
            result, window=window, signal=signal, score=score, motion_signal=by_motion,
            confidence=expand(result.confidence, 0.0), aligned_x=x, aligned_y=y,
        )  # fmt: skip
