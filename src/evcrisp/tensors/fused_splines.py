"""Votes and slopes of splines as one Triton kernel each, instead of torch operations per pixel.

The twin is :mod:`evcrisp.tensors.spline`: same numbers, up to the order of additions. Triton comes with
the CUDA builds of torch; its interpreter runs these kernels on the CPU, for tests.
"""

from importlib import import_module
from typing import Any

from evcrisp.core.registry import require
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.spline import Places

#: Events per program.
_BLOCK = 256


def accumulate(places: Places, size: int, weight: Tensor | None = None) -> Tensor:
    """Return the flat maps of all footprints; see `spline.accumulate`."""
    out = torch.zeros(size, dtype=places.a.dtype, device=places.a.device)
    factor = places.inside.to(places.a.dtype)
    factor = factor if weight is None else factor * weight
    n = places.cell.numel()
    if n:
        columns = places.cell, places.width, places.a, places.b, factor.contiguous()
        _kernels().vote[(-(-n // _BLOCK),)](*columns, out, n, block=_BLOCK)
    return out


def slopes(flat: Tensor, places: Places) -> tuple[Tensor, Tensor]:
    """Return the slopes of the maps along both axes at every event; see `spline.slopes`."""
    n = places.cell.numel()
    along_x, along_y = torch.empty_like(places.a), torch.empty_like(places.a)
    if n:
        columns = places.cell, places.width, places.a, places.b, places.inside
        _kernels().slope[(-(-n // _BLOCK),)](
            *columns, flat.contiguous(), along_x, along_y, n, block=_BLOCK
        )
    return along_x, along_y


def _kernels() -> Any:
    """Return the module of the kernels; Triton is imported on first use."""
    require("triton", extra="torch", purpose="Fused kernels")
    return import_module("evcrisp.tensors.triton_kernels")
