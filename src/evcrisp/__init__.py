"""Sharp and clean events: align and denoise the recordings of event cameras.

``import evcrisp`` loads numpy and nothing heavier; the rest is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from evcrisp.errors import (
    ConfigError,
    EventDataError,
    EvError,
    FormatError,
    MissingExtraError,
    OutputError,
    UnknownNameError,
)
from evcrisp.events import Events
from evcrisp.windows import Window, by_count, by_time

if TYPE_CHECKING:
    from evcrisp.camera import Camera
    from evcrisp.filters import denoise
    from evcrisp.io.reading import open_recording as open
    from evcrisp.io.reading import read
    from evcrisp.io.recording import Recording
    from evcrisp.io.writing import write
    from evcrisp.simulation.config import SimulationConfig
    from evcrisp.simulation.generate import simulate, simulate_chunks
    from evcrisp.simulation.result import Simulation

__version__ = "0.1.0"

__all__ = [
    "Camera",
    "ConfigError",
    "EvError",
    "EventDataError",
    "Events",
    "FormatError",
    "MissingExtraError",
    "OutputError",
    "Recording",
    "Simulation",
    "SimulationConfig",
    "UnknownNameError",
    "Window",
    "__version__",
    "by_count",
    "by_time",
    "denoise",
    "open",
    "read",
    "simulate",
    "simulate_chunks",
    "write",
]

_LAZY = {
    "Camera": ("evcrisp.camera", "Camera"),
    "Recording": ("evcrisp.io.recording", "Recording"),
    "SimulationConfig": ("evcrisp.simulation.config", "SimulationConfig"),
    "Simulation": ("evcrisp.simulation.result", "Simulation"),
    "denoise": ("evcrisp.filters", "denoise"),
    "open": ("evcrisp.io.reading", "open_recording"),
    "read": ("evcrisp.io.reading", "read"),
    "simulate": ("evcrisp.simulation.generate", "simulate"),
    "simulate_chunks": ("evcrisp.simulation.generate", "simulate_chunks"),
    "write": ("evcrisp.io.writing", "write"),
}


def __getattr__(name: str) -> Any:
    try:
        module, attribute = _LAZY[name]
    except KeyError:
        raise AttributeError(f"module 'evcrisp' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
