"""Sums by index: in any order, or in fixed point, which no order changes."""

from dataclasses import dataclass
from typing import Any

from evcrisp.tensors.lazy import Tensor, torch

#: Weights of at most 1 in fixed point: 8 million of them fit in 63 bits, each to 1e-12.
WEIGHT_SCALE = 2.0**40

#: Bits of a sum in fixed point.
_BITS = 61


@dataclass(frozen=True, slots=True)
class Scatter:
    """How values are added by index.

    Additions of floating-point numbers in parallel come in any order, and round differently from run to
    run. Integers do not: ``deterministic`` adds 64-bit integers, at twice the memory traffic of single
    precision.
    """

    deterministic: bool = False

    def weights(self, size: int, like: Tensor) -> "Accumulator":
        """Return an empty map of ``size`` numbers, for weights of magnitude at most 1."""
        kind = torch.int64 if self.deterministic else like.dtype
        return Accumulator(torch.zeros(size, dtype=kind, device=like.device), like.dtype)

    def sums(self, index: Tensor, values: Tensor, size: int) -> Tensor:
        """Return the sums of values, shape (n,), by index, in double precision, shape (size,)."""
        values = values.to(torch.float64)
        out = torch.zeros(size, dtype=torch.float64, device=values.device)
        if not self.deterministic or not values.numel():
            return out.index_add_(0, index, values)
        # A power of two, so that scaling does not round; from the values alone.
        largest = values.abs().max().clamp(min=1e-300)
        room = _BITS - (values.numel() - 1).bit_length()
        scale = torch.exp2(room - torch.ceil(torch.log2(largest)))
        whole = torch.round(values * scale).to(torch.int64)
        return out.to(torch.int64).index_add_(0, index, whole).to(torch.float64) / scale


@dataclass(slots=True, eq=False)
class Accumulator:
    """A flat map to which weights are added."""

    flat: Tensor
    dtype: Any  # of the result

    def add(self, index: Tensor, weight: Tensor) -> None:
        """Add weights at indices, both (n,)."""
        if self.flat.dtype == torch.int64:
            weight = torch.round(weight.to(torch.float64) * WEIGHT_SCALE).to(torch.int64)
        self.flat.index_add_(0, index, weight)

    def map(self) -> Tensor:
        """Return the map."""
        if self.flat.dtype == torch.int64:
            return (self.flat.to(torch.float64) / WEIGHT_SCALE).to(self.dtype)
        return self.flat
