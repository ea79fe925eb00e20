"""Rows of different length, one after the other in flat tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch

#: Kernels by the name of a reduction, with the sign of the values.
_REDUCTIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "sum": ("row_sums", ()), "min": ("row_ends", (1.0,)), "max": ("row_ends", (-1.0,)),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Where the rows of a flat tensor begin; a row is a window, a map or a tile."""

    counts: Tensor  # (b,) int64, elements of each row
    starts: Tensor  # (b,) int64, first element of each row
    row: Tensor  # (n,) int64, row of each element

    @classmethod
    def of_counts(cls, counts: Tensor, size: int | None = None) -> "Rows":
        """Return rows of given lengths; without their sum ``size`` the device is read."""
        size = int(counts.sum()) if size is None else size
        number = torch.arange(counts.numel(), device=counts.device)
        row = torch.repeat_interleave(number, counts, output_size=size)
        return cls(counts, torch.cumsum(counts, 0) - counts, row)

    @classmethod
    def of_lengths(cls, lengths: Sequence[int], device: Any) -> "Rows":
        """Return rows of given lengths."""
        counts = torch.tensor(lengths, dtype=torch.int64, device=device)
        return cls.of_counts(counts, sum(lengths))

    def __len__(self) -> int:
        return self.counts.numel()

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.row.numel()

    def spread(self, values: Tensor) -> Tensor:
        """Return the value of its row, shape (b, ...), for every element, (n, ...)."""
        return values.index_select(0, self.row)

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum over each row of values, shape (n,), in double precision.

        Every row is summed by itself in a fixed order: the result does not change from run to run.
        """
        return self._reduced(values, "sum", 0.0)

    def min(self, values: Tensor) -> Tensor:
        """Return the least value of each row, infinity of an empty one, in double precision."""
        return self._reduced(values, "min", float("inf"))

    def max(self, values: Tensor) -> Tensor:
        """Return the largest value of each row, minus infinity of an empty one, likewise."""
        return self._reduced(values, "max", -float("inf"))

    def first(self, values: Tensor) -> Tensor:
        """Return the first value of each row; arbitrary for an empty one."""
        return _at(values, self.starts)

    def last(self, values: Tensor) -> Tensor:
        """Return the last value of each row; arbitrary for an empty one."""
        return _at(values, self.starts + self.counts - 1)

    def position(self) -> Tensor:
        """Return the number of every element within its row, (n,)."""
        return torch.arange(self.size, device=self.row.device) - self.spread(self.starts)

    def _reduced(self, values: Tensor, how: str, initial: float) -> Tensor:
        counts = self.counts
        if not values.numel():
            return torch.full((counts.numel(),), initial, dtype=torch.float64, device=counts.device)
        kernels = kernels_of("rows.cu", values.device, VALUE=_c_type(values.dtype))
        if kernels is None:
            reduce: Any = getattr(torch, "segment_reduce")  # noqa: B009  (torch has no type for it)
            return reduce(
                values.to(torch.float64), how, lengths=counts, initial=initial, unsafe=True
            )
        out = torch.empty(len(self), dtype=torch.float64, device=counts.device)
        name, sign = _REDUCTIONS[how]
        columns = values.contiguous(), self.starts, counts, *sign
        kernels.launch(name, len(self), 256, 0, *columns, out)
        return out

    def repeated(self, n: int) -> "Rows":
        """Return the rows ``n`` times, one copy after the other."""
        copy = torch.arange(n, device=self.counts.device)[:, None]
        starts = (self.starts + self.size * copy).reshape(-1)
        return Rows(self.counts.repeat(n), starts, (self.row + len(self) * copy).reshape(-1))

    def kept(self, mask: Tensor) -> tuple["Rows", Tensor]:
        """Return the rows of the marked elements, (n,) bool, and their indices."""
        counts = self.sum(mask).to(torch.int64)
        index = torch.nonzero(mask).reshape(-1)
        starts = torch.cumsum(counts, 0) - counts
        return Rows(counts, starts, self.row.index_select(0, index)), index

    def taken(self, chosen: Tensor) -> tuple["Rows", Tensor]:
        """Return some of the rows, by number, and the indices of their elements."""
        rows = Rows.of_counts(self.counts.index_select(0, chosen))
        shift = self.starts.index_select(0, chosen) - rows.starts
        index = torch.arange(rows.size, device=chosen.device) + rows.spread(shift)
        return rows, index


def _c_type(kind: "torch.dtype") -> str:
    """Return the type of values in CUDA C, one word."""
    names = {
        torch.bool: "bool", torch.uint8: "uint8", torch.int16: "int16", torch.int32: "int32",
        torch.int64: "int64", torch.float32: "float", torch.float64: "double",
    }  # fmt: skip
    return names[kind]


def n_before(values: Tensor, rows: Rows, end: float) -> Tensor:
    """Return how many single-precision values of each row, increasing, are below an end, (b,) int64."""
    kernels = kernels_of("labels.cu", values.device)
    if kernels is None:
        return rows.sum(values < end).to(torch.int64)
    out = torch.empty_like(rows.counts)
    kernels.launch_each(
        "n_before", len(rows), values, rows.starts, rows.counts, len(rows), end, out
    )
    return out


def _at(values: Tensor, index: Tensor) -> Tensor:
    if not values.numel():
        return torch.zeros(index.numel(), dtype=values.dtype, device=values.device)
    return values.index_select(0, index.clamp(0, values.numel() - 1))


def sorted_rows(values: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
    """Return the stable order, (n,) int64, of single-precision values within rows, and sorted keys.

    ``row``, (n,) int64 below 2^31, may be a window, or any group of elements. See `row_keys`.
    """
    keys, order = torch.sort(row_keys(values, row), stable=True)
    return order, keys


def row_keys(values: Tensor, row: Tensor) -> Tensor:
    """Return 64-bit integers that order elements by row, and then by single-precision value."""
    bits = (values.to(torch.float32) + 0.0).view(torch.int32)  # + 0.0: of minus zero too
    # Bits of negative numbers count backwards.
    ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(torch.int64) + (1 << 31)
    return (row << 32) + ordered
