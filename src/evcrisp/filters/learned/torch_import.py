"""Import of torch, which is optional."""

from typing import Any

from evcrisp.core.registry import require


def import_torch() -> Any:
    """Return the package torch; raise an error with the extra to install if it is missing."""
    return require("torch", extra="torch", purpose="Training and 'edncnn'")
