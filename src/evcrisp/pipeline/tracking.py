"""Estimate window after window over a recording of any length, in bounded memory."""

import math
import numbers
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window, by_count, by_time, ending, in_order, past_pause
from evcrisp.estimators.baselines.sequential import OngoingFilter, Sequential
from evcrisp.estimators.estimate import checked_theta, model_for
from evcrisp.estimators.hot_history import HotHistory, run_without
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.result import Estimate, Estimator
from evcrisp.estimators.significance import doubted
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel

DEFAULT_WINDOW_US = 30_000

#: Share of its length that a window needs, when the recording ends within it, for a motion like that of others.
_ENOUGH = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """How a recording is cut: by time, by count, or by how far the image moves.

    Parameters
    ----------
    window_us : int, optional, us
        Length of a window. Default: 30 ms.
    window_events : int, optional
        Number of events of a window, instead.
    displacement_px : float, optional, px
        How far the image shall move within a window, instead; the length follows the motion of the
        window before, within 2 to 100 ms.
    overlap : float
        Share of a window that the next one holds again, 0 to 0.9. Events in several windows get
        the label that most of them give; a tie keeps the event.
    """

    window_us: int | None = None
    window_events: int | None = None
    displacement_px: float | None = None
    overlap: float = 0.0

    def __post_init__(self) -> None:
        given = [
            name
            for name in ("window_us", "window_events", "displacement_px")
            if getattr(self, name) is not None
        ]
        if len(given) > 1:
            raise ConfigError(
                f"Give one of {' and '.join(f'`{name}`' for name in given)}, not both."
            )
        for name in given:
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or not 0.0 < value < math.inf:
                raise ConfigError(f"`{name}` must be a positive number; got {value!r}.")
            if name != "displacement_px":
                if value != int(value):
                    raise ConfigError(f"`{name}` must be a whole number; got {value!r}.")
                object.__setattr__(self, name, int(value))
        if not 0.0 <= self.overlap <= 0.9:
            raise ConfigError(f"`overlap` must lie in 0..0.9; got {self.overlap}.")
        if self.displacement_px is not None and self.overlap:
            raise ConfigError("`overlap` goes with `window_us` or `window_events`.")

    def facts(self) -> dict[str, Any]:
        """Return what decides how a recording is cut.

        Examples
        --------
        >>> Windows().facts()
        {'window_us': 30000, 'overlap': 0.0}
        >>> Windows(displacement_px=6.0).facts()
        {'displacement_px': 6.0}
        """
        if self.displacement_px is not None:
            return {"displacement_px": float(self.displacement_px)}
        if self.window_events is not None:
            return {"window_events": int(self.window_events), "overlap": float(self.overlap)}
        return {
            "window_us": int(self.window_us or DEFAULT_WINDOW_US),
            "overlap": float(self.overlap),
        }

    def cut(self, chunks: Iterable[Events]) -> Iterator[Window]:
        """Cut a stream by time or by count."""
        if self.window_events is not None:
            step = max(1, round(self.window_events * (1.0 - self.overlap)))
            return by_count(chunks, self.window_events, step=step)
        length = self.window_us or DEFAULT_WINDOW_US
        return by_time(chunks, length, step_us=max(1, round(length * (1.0 - self.overlap))))


def track(
    source: Recording | Events | Iterable[Events],
    method: str = "auto",
    motion: str = "translation",
    camera: Camera | None = None,
    *,
    windows: Windows | None = None,
    theta0: Floats | None = None,
    **params: Any,
) -> Iterator[Estimate]:
    """Yield an estimate per window, each started from the motion of the one before.

    Parameters
    ----------
    source : Recording, Events or iterable of Events
        What to track; a recording is streamed.
    method, motion, camera, theta0, **params
        As for :func:`evcrisp.estimate`.
    windows : Windows, optional
        How to cut; 30 ms without overlap by default.

    Yields
    ------
    Estimate
        For every window, also for those in which nothing could be found: see its ``status``.

    Notes
    -----
    Pixels that fire absurdly often, compared with those around them over the last second, are masked
    first: they have no part in anything, and their events are noise.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=90_000, seed=1)
    >>> results = list(track(scene.events, windows=Windows(window_us=30_000)))
    >>> len(results), bool(np.abs(results[-1].theta - (300.0, -120.0)).max() < 10.0)
    (3, True)
    """
    windows = Windows() if windows is None else windows
    if not isinstance(windows, Windows):
        raise ConfigError(
            f"`windows` must be Windows, such as `Windows(window_us=30_000)`; got {windows!r}."
        )
    estimator = build(ESTIMATORS, method, "method", **params)
    chunks, resolution = _opened(source)
    if resolution is None:
        return iter(())
    model = model_for(motion, resolution, camera)
    start = checked_theta(theta0, model)
    if isinstance(estimator, Sequential):
        estimator = estimator.ongoing(resolution) or estimator
    if windows.displacement_px is not None:
        return _follow(chunks, estimator, model, start, windows.displacement_px)
    full_us = windows.facts().get("window_us", 0)
    return _run(windows.cut(chunks), full_us, estimator, model, start)


def _opened(
    source: Recording | Events | Iterable[Events],
) -> tuple[Iterator[Events], tuple[int, int] | None]:
    """Return chunks and the sensor's size; None if there is nothing at all."""
    if isinstance(source, (str, os.PathLike)):
        raise ConfigError(
            f"`source` must be a recording or events; got the name {str(source)!r}. Use `evcrisp.open`."
        )
    if isinstance(source, Recording):
        return source.chunks(), source.resolution
    if isinstance(source, Events):
        return iter((source,)), source.resolution
    if not isinstance(source, Iterable):
        raise ConfigError(
            "`source` must be a recording, events or an iterable of events; got "
            f"{type(source).__name__}. Open a file with `evcrisp.open`."
        )
    chunks = in_order(source)
    first = next(chunks, None)
    if first is None:
        return iter(()), None

    def again() -> Iterator[Events]:
        yield first
        yield from chunks

    return again(), first.resolution


def _run(
    windows: Iterator[Window],
    full_us: int,
    estimator: Estimator | OngoingFilter,
    model: MotionModel,
    theta: Floats | None,
) -> Iterator[Estimate]:
    history: HotHistory | None = None
    for window in windows:
        history = history or HotHistory(window.events.resolution)
        result = _estimated(estimator, window, model, theta, history)
        theta = _next_start(result, theta)
        yield _cut_short(result, full_us)


def _cut_short(result: Estimate, full_us: int) -> Estimate:
    """Return an estimate with a warning if the recording has ended early in its window."""
    length_us = result.window.t_end - result.window.t_start
    is_only_one = result.window.index == 0
    if is_only_one or length_us >= _ENOUGH * full_us or not result.status.is_usable:
        return result
    warning = (
        f"The recording ends {length_us / 1000:.1f} ms after the start of this window of "
        f"{full_us / 1000:.1f} ms: its motion is far less certain than that of others."
    )
    return replace(result, warnings=(*result.warnings, warning))


def _estimated(
    estimator: Estimator | OngoingFilter,
    window: Window,
    model: MotionModel,
    theta: Floats | None,
    history: HotHistory,
) -> Estimate:
    """Return the estimate of a window without its hot pixels; silence has none."""
    hot = history.mark(window) if len(window.events) else np.zeros(0, np.bool_)
    if isinstance(estimator, OngoingFilter):
        return doubted(estimator.run(window, model, theta, hot))
    return doubted(run_without(estimator, window, model, theta, hot))


def _next_start(result: Estimate, theta: Floats | None) -> Floats | None:
    """Return where the next window starts; after one without evidence, the last good motion."""
    # A copy: what a user does with a result must not steer the windows after it.
    return result.theta.copy() if result.status.is_usable else theta


_MIN_WINDOW_US, _MAX_WINDOW_US = 2_000, 100_000


def _follow(
    chunks: Iterator[Events],
    estimator: Estimator | OngoingFilter,
    model: MotionModel,
    theta: Floats | None,
    displacement_px: float,
) -> Iterator[Estimate]:
    """Cut each window so long that the image moves by ``displacement_px`` at the last motion."""
    chunks = in_order(chunks)
    rest = next(chunks, None)
    if rest is None:
        return
    history = HotHistory(rest.resolution)
    length, t_start, index = DEFAULT_WINDOW_US, int(rest.t[0]), 0
    ended = False
    while not ended or len(rest):
        while not ended and (not len(rest) or rest.t[-1] < t_start + length):
            chunk = next(chunks, None)
            ended = chunk is None
            if chunk is not None:
                rest = Events.concatenate((rest, chunk))
                t_start = past_pause(rest, t_start, length, length)
        if not len(rest):
            return
        inside = rest.between(t_start, t_start + length)
        window = Window(inside, t_start, t_start + length, index)
        if ended:
            window = ending(window, int(rest.t[-1]))
        result = _cut_short(_estimated(estimator, window, model, theta, history), length)
        theta = _next_start(result, theta)
        t_start += length
        index += len(inside)
        rest = rest[len(inside) :]
        length = _length_us(model, theta, displacement_px, inside.resolution)
        if len(rest):
            t_start = past_pause(rest, t_start, length, length)
        yield result


def _length_us(
    model: MotionModel, theta: Floats | None, displacement_px: float, resolution: tuple[int, int]
) -> int:
    """Return the time in which the image moves by a distance, within sensible bounds."""
    if theta is None:
        return DEFAULT_WINDOW_US
    width, height = resolution
    x, y = np.meshgrid(np.linspace(0, width - 1, 5), np.linspace(0, height - 1, 5))
    dt = 1e-3
    still_x, still_y = model.warp(np.zeros_like(theta), x, y, dt)
    moved_x, moved_y = model.warp(theta, x, y, dt)
    speed = float(np.median(np.hypot(moved_x - still_x, moved_y - still_y))) / dt
    if not np.isfinite(speed) or speed <= 0.0:
        return _MAX_WINDOW_US
    return int(np.clip(1e6 * displacement_px / speed, _MIN_WINDOW_US, _MAX_WINDOW_US))
