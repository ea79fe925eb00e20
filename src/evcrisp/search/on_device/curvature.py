"""Curvature of the contrast at its maximum, of many windows; see `search.curvature`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evcrisp.search.curvature import (
    ISOLATED_ENERGY,
    ISOLATED_SHARE,
    MIN_RELATIVE,
    MIN_TYPICAL,
    SLOPE_FACTOR,
    TILE_PX,
    TYPICAL_CURVATURE,
)
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.rows import Rows

if TYPE_CHECKING:
    from evcrisp.search.on_device.level import Level


def inverse_from_tensors(
    tensor: Tensor, energy: Tensor, square: Tensor, n_events: Tensor, scale: Tensor, least: Tensor
) -> Tensor:
    """Return the inverse of minus the second derivatives, (b, m, m), from structure tensors."""
    isolated = (2.0 * ISOLATED_ENERGY * n_events.double() / energy.clamp(min=1e-30)).clamp(max=1.0)
    factor = SLOPE_FACTOR * (1.0 - ISOLATED_SHARE * isolated)
    area = scale * scale
    tensor = tensor * (factor / (6.0 * area * square.clamp(min=1e-30)))[:, None, None]
    values, axes = torch.linalg.eigh(tensor)
    floor = least.clamp(min=MIN_TYPICAL) * TYPICAL_CURVATURE / area
    floor = torch.maximum(floor, MIN_RELATIVE * values[:, -1])
    values = torch.maximum(values, floor[:, None])
    return (axes / values[:, None]) @ axes.transpose(1, 2)


def structure_tensors(level: "Level") -> tuple[Tensor, Tensor, Tensor]:
    """Return structure tensors, (b, m, m), sums of squared differences and of squared pixels, (b,)."""
    layout, problem = level.layout, level.problem
    pixels = layout.pixels()
    at = pixels.position()
    width = pixels.spread(layout.width)
    row = at // width
    column = at - row * width
    inner = (column < width - 1) & (row < pixels.spread(layout.height) - 1)
    across, both, down, square = _products(level, inner, width)
    energy, squares = pixels.sum(across + down), pixels.sum(square)
    if problem.model.is_uniform:
        sums = [pixels.sum(part) for part in (across, both, down)]
        along = problem.frames.inverse_rates
        return _projected(sums, along[:, 0], along[:, 1]), energy, squares
    tiles = tiles_of(level)
    tile_column = (column + pixels.spread(tiles.lead[0])) // pixels.spread(tiles.side)
    tile_row = (row + pixels.spread(tiles.lead[1])) // pixels.spread(tiles.side)
    grid = tiles.layout
    index = tile_row * pixels.spread(grid.width) + tile_column + pixels.spread(grid.starts)
    sums = [level.scatter.sums(index, part, grid.size) for part in (across, both, down)]
    rows = grid.pixels()
    each = _projected(sums, tiles.along_x, tiles.along_y)
    m = each.shape[-1]
    total = [rows.sum(each[:, i, j]) for i in range(m) for j in range(m)]
    return torch.stack(total, 1).reshape(-1, m, m), energy, squares


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Tiles of maps in which the displacement per parameter counts as constant."""

    side: Tensor  # (b,) int64, px of the map
    lead: tuple[
        Tensor, Tensor
    ]  # (b,) int64, columns and rows of the first tile that lie off the map
    layout: MapLayout  # a pixel per tile
    along_x: Tensor  # (tiles, m) displacement per scaled parameter, px
    along_y: Tensor


def tiles_of(level: "Level") -> Tiles:
    """Return the tiles of the maps of a level; one tile per map if all points move alike."""
    layout, problem = level.layout, level.problem
    if problem.model.is_uniform:
        one, zero = torch.ones_like(layout.width), torch.zeros_like(layout.width)
        along = problem.frames.inverse_rates
        side = torch.maximum(layout.width, layout.height)
        return Tiles(side, (zero, zero), MapLayout.of(one, one), along[:, 0], along[:, 1])
    side = (TILE_PX // level.scale).clamp(min=1)
    left, above = (-before % side for before in level.before)
    n_before = [-(-before // side) for before in level.before]
    counts = [
        n - (before - size) // side
        for n, before, size in zip(
            n_before, level.before, (layout.width, layout.height), strict=True
        )
    ]
    tiles = MapLayout.of(counts[0], counts[1])
    along = _displacements(level, tiles, tiles.pixels(), side, n_before)
    return Tiles(side, (left, above), tiles, *along)


def _products(level: "Level", inner: Tensor, width: Tensor) -> tuple[Tensor, ...]:
    """Return the products of differences at every pixel between four; 0 in the last row and column."""
    image = level.image
    assert image is not None
    last = image.numel() - 1
    here = torch.arange(image.numel(), device=image.device)
    corner = image.index_select(0, (here + 1).clamp(max=last))
    below = image.index_select(0, (here + width).clamp(max=last))
    beyond = image.index_select(0, (here + width + 1).clamp(max=last))
    upper, lower = corner - image, beyond - below
    left, right = below - image, beyond - corner
    # Both differences of each direction: a mirrored image has the same products.
    products = (
        0.5 * (upper * upper + lower * lower),
        0.25 * (upper + lower) * (left + right),
        0.5 * (left * left + right * right),
        image * image,
    )
    return tuple(torch.where(inner, part, 0.0) for part in products)


def _projected(sums: list[Tensor], along_x: Tensor, along_y: Tensor) -> Tensor:
    """Return the tensors of displacements along_x, along_y, both (k, m), shape (k, m, m)."""
    across, both, down = (part[:, None] for part in sums)
    to_x, to_y = across * along_x + both * along_y, both * along_x + down * along_y
    return to_x[:, :, None] * along_x[:, None] + to_y[:, :, None] * along_y[:, None]


def _displacements(
    level: "Level", tiles: MapLayout, rows: Rows, tile: Tensor, n_before: list[Tensor]
) -> tuple[Tensor, Tensor]:
    """Return displacements of tile centers per scaled parameter, (tiles, m) along x and y, px."""
    problem = level.problem
    at, across = rows.position(), rows.spread(tiles.width)
    tile_px = rows.spread(tile * level.scale)
    number = at % across, at // across
    center = (
        rows.spread(middle) + tile_px * (n - rows.spread(before) + 0.5)
        for middle, n, before in zip(problem.center, number, n_before, strict=True)
    )
    x, y = center
    of_tiles = problem.model.taken(rows.row)
    along = of_tiles.velocities(x[:, None], y[:, None], problem.frames.rates.shape[1])
    inverse = rows.spread(problem.frames.inverse_rates)
    along_x, along_y = ((part @ inverse)[:, 0] for part in along)
    return along_x, along_y
