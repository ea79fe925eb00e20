"""Estimate the windows of a recording in batches on a device."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.core.windows import Window
from evcrisp.estimators.devices import DeviceMethod, assessed, has_compiled_kernels
from evcrisp.estimators.layers import motion_finder
from evcrisp.estimators.layers.identities import Identities
from evcrisp.estimators.result import Estimate
from evcrisp.pipeline.on_device.ahead import ahead
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing

#: Threads that assess motions; kernels run side by side, Python does not.
_MAX_THREADS = min(os.cpu_count() or 1, 8)

#: Windows and events of a batch: three batches are in memory, one that is read, estimated and written.
_MAX_WINDOWS, _MAX_EVENTS = 4096, 1 << 24


class DeviceTracker:
    """State of the estimation over a recording on a device: hot pixels, labels, numbers of layers.

    The search of a window does not start from the motion before, so that windows can be estimated side
    by side. All else is as in :class:`~evcrisp.pipeline.tracking.Tracker`.
    """

    def __init__(self, method: DeviceMethod, resolution: tuple[int, int]) -> None:
        from evcrisp.estimators.auto.on_device.hot_history import DeviceHotPixels

        self._method = method
        self._after = Tracker(method.method, method.model, resolution)
        self._hot_pixels = DeviceHotPixels(resolution, method.device)
        self._identities = Identities()

    def speed_px_s(self) -> float | None:
        """Return None: windows do not follow the motion."""
        return None

    def count_hot_pixels(self, events: Events) -> None:
        """Count events before the first window, whose events are numbered from 0, for hot pixels."""
        self._hot_pixels.count(events)

    def estimates(
        self, windows: Iterable[tuple[Window, int]], part: Callable[[], str] = lambda: "recording"
    ) -> Iterator[Estimate]:
        """Yield the estimates of windows in order, each with its full length, us.

        One thread reads the next batch, one estimates, and several assess.
        """
        model = self._method.model
        batches = ahead(self._batches(windows))
        found = ahead(
            (batch, self._estimated([window for window, _ in batch])) for batch in batches
        )
        with closing(found), ThreadPoolExecutor(_MAX_THREADS) as pool:
            for batch, results in found:
                results = [self._identities.numbered(result) for result in results]
                judged = pool.map(partial(assessed, wanted=model), results)
                for (_, full_us), result, one in zip(batch, results, judged, strict=True):
                    before = self._after.before
                    if before is not None and not np.array_equal(one.theta, result.theta):
                        one = assessed(result, model, before)  # its unknown part may be known
                    yield self._after.finished(one, full_us, part())

    def _estimated(self, windows: list[Window]) -> list[Estimate]:
        from evcrisp.estimators.auto.on_device.estimates import without_hot_events

        hot = self._hot_pixels.mark(windows)
        others = [without_hot_events(*pair) for pair in zip(windows, hot, strict=True)]
        found = self._method.estimate(others)
        return [_with_hot_events(*one) for one in zip(found, windows, hot, strict=True)]

    def _batches(self, windows: Iterable[tuple[Window, int]]) -> Iterator[list[tuple[Window, int]]]:
        """Collect windows up to the memory that a batch may take."""
        batch: list[tuple[Window, int]] = []
        n_bytes = n_events = 0
        most = self._method.budget_bytes
        for window, full_us in windows:
            batch.append((window, full_us))
            n_bytes += self._method.cost_bytes(window)
            n_events += len(window.events)
            if n_bytes >= most or n_events >= _MAX_EVENTS or len(batch) >= _MAX_WINDOWS:
                yield batch
                batch, n_bytes, n_events = [], 0, 0
        if batch:
            yield batch


def _with_hot_events(result: Estimate, window: Window, hot: Bools) -> Estimate:
    from evcrisp.estimators.auto.on_device.estimates import with_hot_events

    if result.layer_map is not None and hot.any():
        return motion_finder.with_hot_events(result, window, hot)
    return with_hot_events(result, window, hot)


def device_tracker(
    method: DeviceMethod, resolution: tuple[int, int], windowing: Windowing
) -> DeviceTracker:
    """Return the state before a recording; raise if the windows are not for a device.

    They must not follow the motion; and those that the events choose are found by compiled kernels.
    """
    if windowing.is_auto and not has_compiled_kernels():
        raise ConfigError(
            "The windows that the events choose need numba, which is not installed.",
            remedy="Give `Windowing(window_us=...)` or `Windowing(window_events=...)`.",
        )
    if windowing.displacement_px is not None:
        raise ConfigError(
            "needs the motion of the window before, and this device takes windows side by side",
            parameter="displacement_px", value=windowing.displacement_px,
            remedy="Let the events choose the windows, give their length, or use the device 'cpu'.",
        )  # fmt: skip
    return DeviceTracker(method, resolution)
