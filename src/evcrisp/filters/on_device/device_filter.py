"""A filter that labels on a device."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.filters.neighborhood.ebf import Ebf
from evcrisp.filters.neighborhood.recent_neighbors import NeighborFilter
from evcrisp.filters.on_device.bilateral import BilateralScores
from evcrisp.filters.on_device.last_events import Chunk, LastEvents
from evcrisp.filters.on_device.recent_neighbors import NeighborScores
from evcrisp.filters.protocol import CausalStream, Filter, Labels
from evcrisp.tensors.devices import torch_device
from evcrisp.tensors.lazy import Tensor

#: Filters with an exact parallel form.
SUPPORTED = ("activity", "baf", "ebf", "padala", "stcf", "ynoise")

#: Events that are labeled at a time: the memory is bounded, whatever the length of chunks.
_BLOCK = 1 << 22


class Scores(Protocol):
    """Labels the events of a chunk in parallel."""

    def state(self, resolution: tuple[int, int], device: Any) -> LastEvents:
        """Return the state before a recording."""
        ...

    def label(self, chunk: Chunk) -> tuple[Tensor, Tensor]:
        """Return signal and score, (n,)."""
        ...


@dataclass(frozen=True, slots=True)
class DeviceFilter(Filter):
    """A filter with its parameters, and the device that labels; made by ``device=`` of `denoise`."""

    config: Any  # a filter with a parallel form
    device: str

    name: ClassVar[str] = "on_device"
    is_causal: ClassVar[bool] = True

    def start(self, resolution: tuple[int, int]) -> "DeviceStream":
        """Start a recording."""
        scores = _scores(self.config, self.device)
        return DeviceStream(resolution, scores, scores.state(resolution, torch_device(self.device)))


@dataclass(eq=False)
class DeviceStream(CausalStream):
    """State of a filter on a device."""

    scores: Scores
    state: LastEvents

    def fill(self, events: Events, labels: Labels) -> None:
        """Label a chunk."""
        for first in range(0, len(events), _BLOCK):
            part = slice(first, first + _BLOCK)
            signal, score = self.scores.label(self.state.chunk(events[part]))
            labels.signal[part], labels.score[part] = signal.cpu().numpy(), score.cpu().numpy()


def on_device(config: Filter, device: str) -> Filter:
    """Return a filter that labels on a device; the same filter for the compiled kernels.

    >>> from evcrisp.filters import Baf
    >>> on_device(Baf(), "cpu")
    Baf(tau_us=5000, radius=1, same_polarity=False, include_self=False, cross=False, drop_first=False, zero_start=False)
    """
    if torch_device(device) is None:
        return config
    _scores(config, device)
    return DeviceFilter(config, device)


def has_parallel_form(config: Any) -> bool:
    """Return whether a filter can label on a device."""
    return isinstance(config, (NeighborFilter, Ebf))


def _scores(config: Any, device: str) -> Scores:
    if isinstance(config, NeighborFilter):
        return NeighborScores(config.rule())
    if isinstance(config, Ebf):
        return BilateralScores(config)
    name = getattr(config, "name", type(config).__name__)
    raise ConfigError(
        f"has no parallel form for the device {device!r}; there are {', '.join(SUPPORTED)}",
        parameter="method", value=name, remedy="Use the device 'cpu'.",
    )  # fmt: skip
