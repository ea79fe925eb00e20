"""Torch, loaded on first use: modules that name it can be imported without it."""

from typing import TYPE_CHECKING, Any

from evcrisp.core.registry import require

if TYPE_CHECKING:
    import torch as torch
    from torch import Tensor as Tensor
else:
    Tensor = Any  # annotations are evaluated when a module is imported

    class _LazyTorch:
        """Attributes of torch; the first one loads it."""

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):  # what tools look for in any object
                raise AttributeError(name)
            module = require("torch", extra="torch", purpose="Devices other than 'cpu'")
            value = getattr(module, name)
            setattr(self, name, value)  # the next access takes no call
            return value

    torch = _LazyTorch()
