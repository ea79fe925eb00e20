"""Where training gets torch from."""

from typing import Any

from evcrisp.core.registry import require


def import_torch() -> Any:
    """Return the package torch, or say how to install it."""
    return require("torch", extra="torch", purpose="Training runs")
