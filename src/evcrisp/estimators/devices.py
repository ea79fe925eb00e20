"""Windows estimated on a device other than the compiled kernels: what it can do, and in batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evcrisp.core.doubt import Doubt
from evcrisp.core.errors import ConfigError
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.protocol import Estimator
from evcrisp.estimators.result import Estimate
from evcrisp.estimators.significance import MIN_SIGNAL
from evcrisp.motion import MotionModel, Translation
from evcrisp.motion.open_motion import OPEN_MOTIONS, is_open
from evcrisp.search.on_device.model_operations import MODELS
from evcrisp.tensors.devices import say_once, torch_device
from evcrisp.tensors.lazy import torch

if TYPE_CHECKING:
    from evcrisp.estimators.auto.on_device.auto_batch import DeviceOptions

#: Memory of a batch per event, and per pixel of each window, bytes. With torch on the CPU, windows of
#: 346x260 with 30 000 and with 3 000 events took 370 and 83.
_BYTES_PER_EVENT, _BYTES_PER_PIXEL = 500, 120

#: Share of the free memory of a GPU that a batch may take, and bytes of a batch on the CPU.
_MEMORY_SHARE, _BYTES_ON_CPU = 0.5, 1 << 30

#: Sources of a batch, pixels times polarities, have numbers below this.
_MAX_SOURCES = 2**31


@dataclass(frozen=True, slots=True)
class DeviceMethod:
    """Method `auto` on a device of torch, with a given motion; `OpenDeviceMethod` finds it."""

    method: AutoRegret
    model: MotionModel
    device: Any  # of torch
    options: "DeviceOptions | None" = field(default=None)

    def estimate(self, windows: Sequence[Window]) -> list[Estimate]:
        """Return the estimates of windows, in batches that fit in the memory of the device."""
        model = Translation() if is_open(self.model) else self.model
        results: list[Estimate | None] = [
            None if len(w.events) else self.method.without_events(w, model, None) for w in windows
        ]
        filled = [k for k, result in enumerate(results) if result is None]
        for batch in self._batches([windows[k] for k in filled]):
            numbers, filled = filled[: len(batch)], filled[len(batch) :]
            for k, result in zip(numbers, halved_if_needed(self._run, batch), strict=True):
                results[k] = result
        return [result for result in results if result is not None]

    @property
    def budget_bytes(self) -> int:
        """Memory that a batch may take."""
        if self.device.type != "cuda":
            return _BYTES_ON_CPU
        free, _ = torch.cuda.mem_get_info(self.device)
        return int(_MEMORY_SHARE * free)

    @staticmethod
    def cost_bytes(window: Window) -> int:
        """Return about how much memory a window takes."""
        width, height = window.events.resolution
        return _BYTES_PER_EVENT * len(window.events) + _BYTES_PER_PIXEL * width * height

    def _batches(self, windows: list[Window]) -> list[list[Window]]:
        """Divide windows into batches that the budget allows; a window is never divided."""
        batches: list[list[Window]] = []
        budget, n_bytes, n_sources = self.budget_bytes, 0, 0
        for window in windows:
            width, height = window.events.resolution
            cost, sources = self.cost_bytes(window), 2 * width * height
            if not batches or n_bytes + cost > budget or n_sources + sources >= _MAX_SOURCES:
                batches.append([])
                n_bytes = n_sources = 0
            batches[-1].append(window)
            n_bytes, n_sources = n_bytes + cost, n_sources + sources
        return batches

    def _run(self, windows: list[Window]) -> list[Estimate]:
        from evcrisp.estimators.auto.on_device.auto_batch import AutoBatch, DeviceOptions
        from evcrisp.estimators.auto.on_device.estimates import estimates_of
        from evcrisp.estimators.auto.on_device.window_batch import WindowBatch

        options = self.options or DeviceOptions()
        batch = WindowBatch.of(windows, self.model, self.device)
        found = AutoBatch(false_alarm=self.method.false_alarm, options=options).run(batch)
        return estimates_of(windows, found, self.method)


def device_method(
    estimator: Estimator, model: MotionModel, device: str | None, *, deterministic: bool = False
) -> DeviceMethod | None:
    """Return how a device estimates; None for the compiled kernels.

    Raises
    ------
    ConfigError
        If the device cannot run the method, or is not there. With "auto" the CPU is used instead, and a
        message says why.
    """
    if device is None:
        return None
    found = torch_device(device)
    if found is None:
        return None
    problem = _problem(estimator, model)
    if problem is None:
        from evcrisp.estimators.auto.on_device.auto_batch import DeviceOptions

        assert isinstance(estimator, AutoRegret)
        options = DeviceOptions(deterministic=deterministic)
        if not is_open(model):
            return DeviceMethod(estimator, model, found, options)
        from evcrisp.estimators.layers.on_device.open_motion import OpenDeviceMethod

        method = OpenDeviceMethod(estimator, model, found, options)
        method.check()
        return method
    if device == "auto":
        say_once(f"Device 'auto' is the CPU: a GPU runs {_RUNS}.")
        return None
    parameter, value = problem
    raise ConfigError(
        f"cannot run on the device {device!r}, which runs {_RUNS}", parameter=parameter, value=value,
        remedy="Use the device 'cpu', or 'auto', which takes it where a GPU cannot.",
    )  # fmt: skip


def runs_on_device(estimator: Estimator) -> bool:
    """Return whether a device can run a method, with the motions that it knows."""
    return _problem(estimator, Translation()) is None


_RUNS = f"the method 'auto' with the motions {', '.join((*OPEN_MOTIONS, *MODELS))}"


def _problem(estimator: Estimator, model: MotionModel) -> tuple[str, object] | None:
    """Return the parameter that a device cannot take, and its value; None if there is none."""
    if not isinstance(estimator, AutoRegret):
        return "method", getattr(estimator, "name", type(estimator).__name__)
    name = getattr(model, "name", type(model).__name__)
    return None if is_open(model) or name in MODELS else ("motion", name)


def assessed(
    result: Estimate, wanted: MotionModel | None = None, prior: Estimate | None = None
) -> Estimate:
    """Return an estimate with its covariance and its doubts.

    They are computed by compiled kernels. Without numba the covariance is unknown, and a doubt says so.
    """
    from evcrisp.estimators.reliability.assess import assess, with_doubts

    if not result.status.has_evidence or len(result) < MIN_SIGNAL:
        return with_doubts(result, Doubt.CHANCE)
    if not has_compiled_kernels():
        return with_doubts(result, Doubt.NOT_ASSESSED)
    return assess(result, wanted, prior)


def has_compiled_kernels() -> bool:
    """Return whether the compiled kernels can run: whether numba is there."""
    # Threads that import a module at the same time may all succeed, though the import fails.
    return find_spec("numba") is not None


def halved_if_needed(
    run: Callable[[list[Window]], list[Estimate]], windows: list[Window]
) -> list[Estimate]:
    """Run a batch; if the memory of the device is too small, run its halves."""
    try:
        return run(windows)
    except torch.OutOfMemoryError as error:
        if len(windows) == 1:
            n_events = len(windows[0].events)
            raise ConfigError(
                f"The device has too little memory for a window of {n_events:,} events.",
                remedy="Use shorter windows, or the device 'cpu'.",
            ) from error
        say_once(
            f"A batch of {len(windows)} windows does not fit in the memory of the device: it is halved."
        )
    # Outside of the handler, which keeps the tensors of the failed batch.
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    middle = len(windows) // 2
    return halved_if_needed(run, windows[:middle]) + halved_if_needed(run, windows[middle:])
