"""Estimate window after window in bounded memory, for `track`, `run`, `render` and viewer."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.registry import build
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window, by_time, ordered_chunks
from evcrisp.estimators.devices import device_method
from evcrisp.estimators.estimate import checked_theta, model_for, refuse_start
from evcrisp.estimators.hot_pixels import COUNTING_US, HotPixelHistory
from evcrisp.estimators.layers.motion_finder import with_hot_events
from evcrisp.estimators.layers.relabel import relabel
from evcrisp.estimators.protocol import Estimator, IndependentWindows, session_of
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.estimators.reliability.assess import assess
from evcrisp.estimators.result import Estimate
from evcrisp.io.recording import Recording
from evcrisp.motion import MotionModel, Translation
from evcrisp.motion.open_motion import is_open
from evcrisp.pipeline.camera_motion.recorded_camera import camera_for
from evcrisp.pipeline.shared_labels import SharedLabels
from evcrisp.pipeline.windowing import Windowing, checked_windowing

#: Share of its full length that the last window needs for a motion as certain as that of others.
_LEAST_SHARE = 0.5


class Tracker:
    """State of the estimation over a recording: start of the search, hot pixels, filter.

    ``resolution`` is (width, height) of the sensor, px; the first search starts at ``theta0``. Estimates need no
    ``w_map`` and ``regret`` unless ``with_map``.
    """

    def __init__(
        self,
        estimator: Estimator,
        model: MotionModel,
        resolution: tuple[int, int],
        theta0: Floats | None = None,
        *,
        with_map: bool = True,
    ) -> None:
        self.model = model
        self._found = model  # of the last window with a usable motion
        self.resolution = resolution
        self.theta = theta0  # of the last window with a usable motion
        self._has_run = False
        self._before: Estimate | None = None  # the last window, if its motion is reliable
        self._last: Estimate | None = None  # the last window with a usable motion
        self._estimator = estimator
        self._session = session_of(estimator, resolution, with_map=with_map)
        self._hot_pixels = HotPixelHistory(resolution)
        self._shared = SharedLabels()

    def estimate(self, window: Window, full_us: int = 0, part: str = "recording") -> Estimate:
        """Return the estimate of the next window; windows come in order and may overlap.

        ``full_us`` is the length that it would have if the recording, or another ``part``, did not
        end; 0 if unknown.
        """
        hot = self._hot_pixels.mark(window)
        # An open motion continues by itself, from model to model.
        start = None if is_open(self.model) and self._has_run else self.theta
        result = self._session.run(window, self.model, start, hot)
        self._has_run = True
        return self.finished(assess(result, self.model, self._before), full_us, part)

    def estimates(
        self, windows: Iterable[tuple[Window, int]], part: Callable[[], str] = lambda: "recording"
    ) -> Iterator[Estimate]:
        """Yield the estimates of windows in order, each with its full length; see `estimate`."""
        for window, full_us in windows:
            yield self.estimate(window, full_us, part())

    def finished(self, result: Estimate, full_us: int = 0, part: str = "recording") -> Estimate:
        """Return an assessed estimate with what follows from the windows before, and remember it."""
        result = _with_length_warning(result, full_us, part)
        self._before = result if result.reliable else None
        return self._shared.combine(self.remember(result))

    @property
    def before(self) -> Estimate | None:
        """The last window, if its motion is reliable."""
        return self._before

    def relabel(self, window: Window, *, by_one_motion: bool = False) -> Estimate:
        """Return the labels of the next window by the last motions, without a search.

        ``by_one_motion`` takes that with the most events: labels of layers take twice as long.
        """
        hot = self._hot_pixels.mark(window)
        others = replace(window, events=window.events[~hot]) if hot.any() else window
        last = self._last
        if last is not None and by_one_motion:
            last = replace(last, layer_map=None)
        result = relabel(others, last, self._estimator, self.model)
        if others is window:
            return result
        if result.layer_map is None:
            return IndependentWindows(self._estimator).with_hot_events(result, window, hot)
        return with_hot_events(result, window, hot)

    def remember(self, result: Estimate) -> Estimate:
        """Keep a usable motion for the next search, and for `relabel`."""
        if result.status.is_usable:
            self.theta = result.theta.copy()  # users may change the array of the result
            self._found, self._last = result.motion, result
        return result

    def observe(self, window: Window) -> None:
        """Count the events of a window that is not estimated, for hot pixels."""
        self._hot_pixels.mark(window)

    def count_hot_pixels(self, events: Events) -> None:
        """Count events before the first window, whose events are numbered from 0, for hot pixels."""
        for window in by_time(events, COUNTING_US):
            self._hot_pixels.mark(window)
        self._hot_pixels.continue_from_zero()

    def speed_px_s(self) -> float | None:
        """Return the median speed over the sensor at the last motion; None without a motion."""
        if self.theta is None:
            return None
        width, height = self.resolution
        x, y = np.meshgrid(np.linspace(0, width - 1, 5), np.linspace(0, height - 1, 5))
        dt = 1e-3
        model = Translation() if is_open(self._found) else self._found
        still_x, still_y = model.warp(np.zeros_like(self.theta), x, y, dt)
        moved_x, moved_y = model.warp(self.theta, x, y, dt)
        return float(np.median(np.hypot(moved_x - still_x, moved_y - still_y))) / dt


def track(
    source: Recording | Events | Iterable[Events],
    method: str | Estimator = "auto",
    motion: str | MotionModel = "auto",
    camera: Camera | None = None,
    *,
    windowing: Windowing | None = None,
    theta0: ArrayLike | None = None,
    device: str | None = None,
    deterministic: bool = False,
    **params: Any,
) -> Iterator[Estimate]:
    """Yield an estimate per window; each search starts from the motion of the window before.

    Where windows overlap, the label of an event is that of all windows so far: it changes if the mean of
    their confidences is 0.1 beyond 0.5.

    Hot pixels, which fire far more often than their neighbors over the last second, take no part;
    their events are noise.

    Parameters
    ----------
    source : Recording, Events or iterable of Events
        A recording is streamed.
    method, motion, camera, theta0, **params
        As for :func:`evcrisp.estimate`; a rotation without camera uses that of the recording.
    windowing : Windowing, optional
        How to cut the recording. By default the events choose the length of each window.
    device, deterministic
        As for :func:`evcrisp.estimate`. A GPU takes windows in batches, each searched from nothing, so
        that windows cannot follow the motion (``displacement_px``).

    Yields
    ------
    Estimate
        One per window. Windows without a motion are yielded too: see ``status``.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=90_000, seed=1)
    >>> results = list(track(scene.events, windowing=Windowing(window_us=30_000)))
    >>> len(results), bool(np.abs(results[-1].theta - (300.0, -120.0)).max() < 10.0)
    (3, True)
    """
    windowing = checked_windowing(windowing)
    estimator = build(ESTIMATORS, method, "method", **params)
    chunks, resolution = _stream(source)
    if resolution is None:
        return iter(())
    model = model_for(motion, resolution, camera_for(source, motion, camera), estimator)
    on_device = device_method(estimator, model, device, deterministic=deterministic)
    if on_device is not None:
        from evcrisp.pipeline.on_device.device_tracking import device_tracker

        refuse_start(theta0)
        batches = device_tracker(on_device, resolution, windowing)
        return batches.estimates(windowing.cut(chunks, batches.speed_px_s))
    tracker = Tracker(estimator, model, resolution, checked_theta(theta0, model))
    return tracker.estimates(windowing.cut(chunks, tracker.speed_px_s))


def _stream(
    source: Recording | Events | Iterable[Events],
) -> tuple[Iterator[Events], tuple[int, int] | None]:
    """Return the chunks and the sensor size; None for a stream without chunks."""
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
    chunks = ordered_chunks(source)
    first = next(chunks, None)
    if first is None:
        return chunks, None
    return chain((first,), chunks), first.resolution


def _with_length_warning(result: Estimate, full_us: int, part: str) -> Estimate:
    """Add a warning if the recording, or a part of it, ends early in the window."""
    length_us = result.window.t_end - result.window.t_start
    is_only_window = result.window.index == 0
    if is_only_window or length_us >= _LEAST_SHARE * full_us or not result.status.is_usable:
        return result
    warning = (
        f"The {part} ends {length_us / 1000:.1f} ms after the start of this window of "
        f"{full_us / 1000:.1f} ms: its motion is far less certain than that of others."
    )
    return replace(result, warnings=(*result.warnings, warning))
