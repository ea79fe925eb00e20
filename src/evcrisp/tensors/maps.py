"""Maps of different size, one after the other in a flat tensor."""

from dataclasses import dataclass

from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows


@dataclass(frozen=True, slots=True, eq=False)
class MapLayout:
    """Sizes and places of maps, one for each window."""

    width: Tensor  # (b,) int64, px
    height: Tensor  # (b,) int64, px
    starts: Tensor  # (b,) int64, first pixel of each map
    size: int  # pixels of all maps

    @classmethod
    def of(cls, width: Tensor, height: Tensor, planes: int = 1) -> "MapLayout":
        """Return the layout of maps of given sizes; a map has ``planes`` one behind the other."""
        pixels = width * height * planes
        return cls(width, height, torch.cumsum(pixels, 0) - pixels, int(pixels.sum()))

    def pixels(self, planes: int = 1) -> Rows:
        """Return the pixels as rows, one for each map."""
        return Rows.of_counts(self.width * self.height * planes, self.size)

    def taken(self, chosen: Tensor) -> "MapLayout":
        """Return the layout of some of the maps, by number."""
        return MapLayout.of(self.width.index_select(0, chosen), self.height.index_select(0, chosen))


def parts_that_fit(sizes: list[int], most: int) -> list[tuple[int, int]]:
    """Divide maps into groups of at most so many pixels; a map is never divided.

    >>> parts_that_fit([3, 4, 9, 1], 8)
    [(0, 2), (2, 3), (3, 4)]
    """
    parts, first, total = [], 0, 0
    for k, size in enumerate(sizes):
        if k > first and total + size > most:
            parts.append((first, k))
            first, total = k, 0
        total += size
    return [*parts, (first, len(sizes))] if sizes else []
