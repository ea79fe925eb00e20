"""Sharp and clean events: align and denoise the recordings of event cameras.

``import evcrisp`` loads numpy and nothing heavier; the rest is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from evcrisp.core.errors import (
    ConfigError,
    EventDataError,
    EvError,
    FormatError,
    MissingExtraError,
    OutputError,
    UnknownNameError,
)
from evcrisp.core.events import Events
from evcrisp.core.windows import Window, by_count, by_time

if TYPE_CHECKING:
    from evcrisp.core.camera import Camera
    from evcrisp.estimators.estimate import estimate
    from evcrisp.estimators.joint.pareto import pareto_front
    from evcrisp.estimators.result import Estimate
    from evcrisp.filters import denoise
    from evcrisp.io.reading import open_recording, read
    from evcrisp.io.recording import Recording
    from evcrisp.io.writing import write
    from evcrisp.pipeline.tracking import Windows, track
    from evcrisp.simulation.config import SimulationConfig
    from evcrisp.simulation.generate import simulate, simulate_chunks
    from evcrisp.simulation.result import Simulation

    open = open_recording  # as in every imaging library

__version__ = "0.1.0"

# Without `open`, which `from evcrisp import *` would put in the place of Python's own.
__all__ = [
    "Camera",
    "ConfigError",
    "Estimate",
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
    "Windows",
    "__version__",
    "by_count",
    "by_time",
    "denoise",
    "estimate",
    "pareto_front",
    "read",
    "simulate",
    "simulate_chunks",
    "track",
    "write",
]

_LAZY = {
    "Camera": ("evcrisp.core.camera", "Camera"),
    "Estimate": ("evcrisp.estimators.result", "Estimate"),
    "Recording": ("evcrisp.io.recording", "Recording"),
    "SimulationConfig": ("evcrisp.simulation.config", "SimulationConfig"),
    "Simulation": ("evcrisp.simulation.result", "Simulation"),
    "Windows": ("evcrisp.pipeline.tracking", "Windows"),
    "denoise": ("evcrisp.filters", "denoise"),
    "estimate": ("evcrisp.estimators.estimate", "estimate"),
    "open": ("evcrisp.io.reading", "open_recording"),
    "pareto_front": ("evcrisp.estimators.joint.pareto", "pareto_front"),
    "read": ("evcrisp.io.reading", "read"),
    "simulate": ("evcrisp.simulation.generate", "simulate"),
    "simulate_chunks": ("evcrisp.simulation.generate", "simulate_chunks"),
    "track": ("evcrisp.pipeline.tracking", "track"),
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
    return sorted({*__all__, *_LAZY})
