"""Events sorted by source, pixel and polarity, and in the order of time; see `kernels.auto.self_support`.

Links to the event before and after are steps in this order. Noise samples, and neighbors in space and
time, find their place in it by a binary search.
"""

from dataclasses import dataclass

from evcrisp.tensors.cuda.kernels import Kernels, kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import row_keys


@dataclass(frozen=True, slots=True, eq=False)
class SourceGrid:
    """Numbers of the sources of all windows."""

    start: Tensor  # (b,) int64, first source of each window
    width: Tensor  # (b,) int64, px
    height: Tensor
    size: int  # sources of all windows

    @classmethod
    def of(cls, width: Tensor, height: Tensor) -> "SourceGrid":
        """Return the sources of windows of given sizes."""
        n = 2 * width * height
        return cls(torch.cumsum(n, 0) - n, width, height, int(n.sum()))

    def of_pixels(self, row: Tensor, x: Tensor, y: Tensor, p: Tensor) -> Tensor:
        """Return the source of pixels of windows ``row``; -1 outside of the rectangle."""
        width, height = self.width[row], self.height[row]
        source = self.start[row] + (p * height + y) * width + x
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        return torch.where(inside, source, -1)


def sorted_sources(source: Tensor, n_sources: int) -> tuple[Tensor, Tensor]:
    """Return sources in their stable order, and that order, both (n,) int64."""
    # Short numbers take half the passes.
    short = source.to(torch.int32) if n_sources < 2**31 else source
    found, order = torch.sort(short, stable=True)
    return found.to(torch.int64), order


@dataclass(frozen=True, slots=True, eq=False)
class SourceOrder:
    """Events in the order of their source, and then of time; tensors of shape (n,)."""

    order: Tensor  # int64, event at each place
    source: Tensor  # int64, its source
    keys: Tensor  # int64, increasing; of source and time
    number: Tensor  # int64, 0 for the first event of a source, 1 for its second
    count: Tensor  # int64, events of the source

    @classmethod
    def of(cls, source: Tensor, t: Tensor, n_sources: int) -> "SourceOrder":
        """Sort events, given in the order of time within each window; ``t`` has single precision."""
        kernels = kernels_of("labels.cu", source.device)
        if kernels is not None and n_sources < 2**31:
            return cls._by(kernels, source, t)
        source, order = sorted_sources(source, n_sources)
        keys = row_keys(t.index_select(0, order), source)
        at = torch.arange(source.numel(), device=source.device)
        _, group, count = torch.unique_consecutive(source, return_inverse=True, return_counts=True)
        first = torch.cumsum(count, 0) - count
        return cls(order, source, keys, at - first[group], count[group])

    @classmethod
    def _by(cls, kernels: Kernels, source: Tensor, t: Tensor) -> "SourceOrder":
        """Sort events by kernels."""
        n, (short, order) = source.numel(), torch.sort(source.to(torch.int32), stable=True)
        columns = [torch.empty_like(order) for _ in range(4)]
        source, keys, number, count = columns
        kernels.launch_each("source_keys", n, short, order, t.contiguous(), n, source, keys)
        kernels.launch_each("link_sources", n, source, n, number, count)
        return cls(order, source, keys, number, count)

    @property
    def most(self) -> int:
        """Events of the largest source."""
        return int(self.count.max()) if self.count.numel() else 0

    def after(self, source: Tensor, t: Tensor) -> Tensor:
        """Return the first place behind source and time, both (k,); events of that time are before."""
        return torch.searchsorted(self.keys, row_keys(t, source), right=True)

    def is_of(self, place: Tensor, source: Tensor) -> Tensor:
        """Return whether there is an event of a source at a place, which may be outside."""
        n = self.source.numel()
        if not n:
            return torch.zeros_like(place, dtype=torch.bool)
        known = self.source.index_select(0, place.clamp(0, n - 1))
        return (place >= 0) & (place < n) & (known == source)
