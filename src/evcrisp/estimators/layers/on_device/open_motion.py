"""Windows with an open motion on a device: one motion there, several by the compiled kernels.

::

    one motion   motions and labels of all windows on the device; do they explain the events?
                 then they are the answer
    layers       the other windows: the rest of `motion_finder`, in threads of the CPU
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import cast

from evcrisp.core.doubt import Doubt
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.both_labels import BothLabels
from evcrisp.estimators.auto.on_device.auto_batch import AutoBatch, DeviceOptions
from evcrisp.estimators.auto.on_device.estimates import estimates_of
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.devices import DeviceMethod, has_compiled_kernels
from evcrisp.estimators.layers.misfit import Misfit
from evcrisp.estimators.layers.motion_finder import (
    InVain,
    MotionFinder,
    OneMotion,
    has_several_times,
)
from evcrisp.estimators.layers.on_device.misfit import misfits_of
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.view_frame import ViewFrame
from evcrisp.motion import MotionModel, Translation
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.tensors.devices import say_once

#: Runs a function on each window, in any order; returns the results in order.
_Mapped = Callable[[Callable[[int], Estimate], Iterable[int]], Iterable[Estimate]]


@dataclass(frozen=True, slots=True)
class OpenDeviceMethod(DeviceMethod):
    """Method `auto` with an open motion, on a device of torch; windows are independent."""

    def check(self) -> None:
        """Raise if windows with several motions are asked for, and cannot be searched."""
        if self._wanted.name != "auto" and not has_compiled_kernels():
            raise ConfigError(
                "looks for several motions in every window, which needs numba, and it is not installed",
                parameter="motion", value=self._wanted.name,
                remedy="Install numba. Or use the motion 'auto', which marks such windows, or a given one.",
            )  # fmt: skip

    @property
    def _wanted(self) -> OpenMotion:
        return cast(OpenMotion, self.model)

    def _run(self, windows: list[Window]) -> list[Estimate]:
        """Return the estimates of a batch; see `MotionFinder.run` with a cold start."""
        is_auto = self._wanted.name == "auto"
        tried = [
            k
            for k, window in enumerate(windows)
            if is_auto or not has_several_times(window.events.t)
        ]
        found = self._with_one_motion([windows[k] for k in tried])
        results: list[Estimate | None] = [None] * len(windows)
        first: dict[int, Estimate] = {}
        for k, (result, misfit) in zip(tried, found, strict=True):
            results[k] = answer_of(result, misfit)
            if results[k] is None:
                first[k] = result
        rest = [k for k, result in enumerate(results) if result is None]
        for k, result in zip(rest, self._with_layers(windows, rest, first), strict=True):
            results[k] = result
        return [replace(result, config=self.method) for result in results if result is not None]

    def _with_one_motion(self, windows: Sequence[Window]) -> list[tuple[Estimate, Misfit]]:
        """Return the estimate of each window with a translation, and what it leaves unexplained."""
        if not windows:
            return []
        options = self.options or DeviceOptions()
        batch = WindowBatch.of(windows, Translation(), self.device)
        found = AutoBatch(false_alarm=self.method.false_alarm, options=options).run(batch)
        misfits = misfits_of(found, options.scatter)
        return list(zip(estimates_of(windows, found, self.method), misfits, strict=True))

    def _with_layers(
        self, windows: Sequence[Window], rest: Sequence[int], first: dict[int, Estimate]
    ) -> list[Estimate]:
        """Return the estimates of windows that one translation does not explain."""
        if not rest:
            return []
        if not has_compiled_kernels():
            say_once(
                "Windows that one translation does not explain need numba, which is not installed: they "
                "keep the translation, with doubts. Install numba."
            )
            return [_doubtful(first[k]) for k in rest]

        def searched(k: int) -> Estimate:
            known = first.get(k)
            one = self.method.run_both if known is None else _Known(self.method.run_both, known)
            return MotionFinder(one, self.method.false_alarm).run(windows[k], self._wanted)

        n_threads = min(len(rest), os.cpu_count() or 1)
        if n_threads == 1:
            return [searched(k) for k in rest]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(searched, rest))


def answer_of(result: Estimate, misfit: Misfit) -> Estimate | None:
    """Return the estimate of a window that a translation explains; None for any other.

    As in `MotionFinder` without a window before.
    """
    if not has_several_times(result.window.events.t) or not result.status.has_evidence:
        return result
    # A motion under which hardly any event stands out: of another kind, or there is noise alone.
    if result.warnings or misfit.is_large():
        return None
    # One that leaves some events unexplained: they are labeled with neighbors, by compiled kernels.
    if misfit.leaves_some:
        if has_compiled_kernels():
            return None
        say_once(
            "Windows that a translation explains, but for a few events, are labeled by that motion alone: "
            "labels by neighbors need numba, which is not installed. Install numba."
        )
    return replace(result, fit=misfit)


def _doubtful(result: Estimate) -> Estimate:
    return replace(result, doubts=(Doubt.POORLY_EXPLAINED,))


@dataclass(slots=True)
class _Known:
    """A method for one motion that knows its first estimate, that of a translation."""

    run: OneMotion
    first: Estimate | None

    def __call__(
        self, window: Window, model: MotionModel, start: Floats | None, *, is_in_vain: InVain = None
    ) -> BothLabels:
        if self.first is None or model.name != Translation.name or start is not None:
            return self.run(window, model, start, is_in_vain=is_in_vain)
        result, self.first = self.first, None
        frame = ViewFrame.of(result.window.events)
        final = result if frame is None else frame.inside(result)
        by_motion: Bools | None = final.motion_signal
        return BothLabels(final, final if by_motion is None else replace(final, signal=by_motion))
