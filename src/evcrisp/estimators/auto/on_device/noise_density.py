"""Where noise is dense, in many windows; see `estimators.auto.noise_density`."""

from dataclasses import dataclass

from evcrisp.estimators.auto.noise_density import (
    LEAST_NOISE,
    PRIOR,
    TESTS,
    TESTS_OF_QUIET,
    TILE_PX,
    TILE_SAMPLES,
)
from evcrisp.estimators.auto.noise_model import QUIET_SHARE
from evcrisp.estimators.auto.on_device.noise_model import of_polarity
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.rows import Rows, sorted_rows


@dataclass(frozen=True, slots=True, eq=False)
class PointSupport:
    """Support of points at pixels of the rectangles of windows; tensors of shape (n,)."""

    rows: Rows
    x: Tensor  # int64, px
    y: Tensor
    p: Tensor  # int64
    support: Tensor  # float32


@dataclass(frozen=True, slots=True, eq=False)
class NoiseDensities:
    """Rate of noise over live areas, relative to their quiet parts; linear between tile centers."""

    live: Tensor  # (b, 4) left, top, width, height, px
    grid: MapLayout  # of tiles
    tiles: Tensor  # (tiles,) float32

    def at(self, points: PointSupport) -> Tensor:
        """Return the relative rate at points, (n,) float32."""
        rows = points.rows
        left, top, width, height = self.live.unbind(1)
        axes = []
        for place, low, side, n in (
            (points.x, left, width, self.grid.width), (points.y, top, height, self.grid.height),
        ):  # fmt: skip
            # The pixel at `low` reaches from low - 0.5 to low + 0.5.
            at = (place + 0.5 - rows.spread(low)) * rows.spread(n.double() / side) - 0.5
            at = torch.minimum(at.clamp(min=0.0), rows.spread(n) - 1.0)
            first = torch.minimum(at.to(torch.int64), rows.spread((n - 2).clamp(min=0)))
            second = torch.minimum(first + 1, rows.spread(n - 1))
            axes.append((first, second, at - first))
        (i, right, a), (j, below, b) = axes
        start, across = rows.spread(self.grid.starts), rows.spread(self.grid.width)
        tiles = self.tiles.to(torch.float64)

        def line(row: Tensor) -> Tensor:
            at = start + row * across
            return tiles[at + i] * (1.0 - a) + tiles[at + right] * a

        return (line(j) * (1.0 - b) + line(below) * b).to(torch.float32)


def densities_of_noise(
    live: Tensor, events: PointSupport, rank: Tensor, samples: PointSupport, quiet: Tensor
) -> tuple[NoiseDensities, Tensor]:
    """Return where noise is dense, and in which windows that is significant, (b,) bool.

    ``rank``, (n,), chooses events for the tests; ``quiet``, (b, 2), is the support of quiet samples.
    """
    grid = _grid(live, samples.rows.counts)
    sample_tile = _tile(live, grid, samples)
    sample_above = samples.support - of_polarity(quiet, samples.rows.row, samples.p)
    limit = torch.zeros(grid.size, device=live.device)
    window = grid.pixels()
    limits = _limits(sample_tile, sample_above, grid.size)
    expected = _quiet(sample_tile, sample_above, limit)
    local_expected = _quiet(sample_tile, sample_above, limits)
    is_told, is_dense = (torch.maximum(grid.width, grid.height) > 1 for _ in range(2))
    tiles = []
    for tests, differs in ((TESTS, is_told), (TESTS_OF_QUIET, is_dense)):
        for n_events, least in tests:
            chosen = ChosenEvents.of(live, grid, events, rank, quiet, n_events)
            counts = chosen.quiet(limit)
            differs &= ~(_deviation(counts, expected, window, of_all=tests is TESTS) < least)
        ratio = window.sum(counts) / window.sum(expected).clamp(min=1.0)
        local = chosen.quiet(limits)
        tiles.append((local + PRIOR) / (local_expected * window.spread(ratio) + PRIOR))
    mean = window.sum(tiles[1]) / window.counts
    n_noise = -(-events.rows.counts // n_events) * ratio * samples.rows.counts * mean
    is_dense &= n_noise >= LEAST_NOISE * events.rows.counts
    chosen_tiles = torch.where(window.spread(is_told), tiles[0], tiles[1])
    return NoiseDensities(live, grid, chosen_tiles.to(torch.float32)), is_told | is_dense


@dataclass(frozen=True, slots=True, eq=False)
class ChosenEvents:
    """Some of the events of each window, whose quiet ones are counted by tile."""

    live: Tensor
    grid: MapLayout
    events: PointSupport
    rank: Tensor  # (n,) int64
    below: Tensor  # (b,) int64; an event with a lower rank is one of them
    support_of_noise: Tensor  # (b, 2) float32
    chosen: tuple[Tensor, Tensor] | None  # tile and support above that of noise, without kernels

    @classmethod
    def of(
        cls,
        live: Tensor,
        grid: MapLayout,
        events: PointSupport,
        rank: Tensor,
        quiet: Tensor,
        n: int,
    ) -> "ChosenEvents":
        """Choose about ``n`` events of each window, or all of fewer."""
        interval = -(-events.rows.counts // n)
        below = torch.where(interval < 2, 2**32, 2**32 // interval)
        if kernels_of("labels.cu", live.device) is not None:
            return cls(live, grid, events, rank, below, quiet, None)
        rows, index = events.rows.kept(rank < events.rows.spread(below))
        columns = (c.index_select(0, index) for c in (events.x, events.y, events.p, events.support))
        part = PointSupport(rows, *columns)
        above = part.support - of_polarity(quiet, rows.row, part.p)
        return cls(live, grid, events, rank, below, quiet, (_tile(live, grid, part), above))

    def quiet(self, limit: Tensor) -> Tensor:
        """Count the quiet ones of the tiles, in double precision."""
        kernels = kernels_of("labels.cu", limit.device)
        if kernels is None or self.chosen is not None:
            assert self.chosen is not None
            return _quiet(*self.chosen, limit)
        events, n = self.events, self.events.rows.size
        out = torch.zeros(limit.numel(), dtype=torch.int32, device=limit.device)
        kernels.launch_each(
            "count_quiet", n, events.rows.row, events.x, events.y, events.p, events.support.contiguous(),
            self.rank, n, self.below, self.support_of_noise.contiguous(), limit.contiguous(),
            *_corners_and_rates(self.live, self.grid), self.grid.starts, out,
        )  # fmt: skip
        return out.to(torch.float64)


def _corners_and_rates(live: Tensor, grid: MapLayout) -> tuple[Tensor, Tensor, Tensor]:
    """Return corner, tiles per px, and number of tiles of live areas, all (b, 2)."""
    corner = live[:, :2].to(torch.float32) - 0.5
    n_tiles = torch.stack((grid.width, grid.height), 1)
    return corner, (n_tiles / live[:, 2:].to(torch.float64)).to(torch.float32), n_tiles


def _grid(live: Tensor, n_samples: Tensor) -> MapLayout:
    """Return the tiles of live areas."""
    width, height = live[:, 2], live[:, 3]
    side = torch.sqrt(width * height * TILE_SAMPLES / n_samples.to(torch.float64))
    side = side.clamp(min=float(TILE_PX))
    columns, rows = ((n / side).to(torch.int64).clamp(min=1) for n in (width, height))
    return MapLayout.of(columns, rows)


def _tile(live: Tensor, grid: MapLayout, points: PointSupport) -> Tensor:
    """Return the tile of points; those beyond the area belong to the nearest one."""
    rows, out = points.rows, []
    left, top, width, height = live.unbind(1)
    kernels = kernels_of("labels.cu", live.device)
    if kernels is not None:
        tile = torch.empty_like(points.x)
        kernels.launch_each(
            "tiles_of_points", rows.size, rows.row, points.x, points.y, rows.size,
            *_corners_and_rates(live, grid), grid.starts, tile,
        )  # fmt: skip
        return tile
    for place, low, side, n in (
        (points.x, left, width, grid.width), (points.y, top, height, grid.height),
    ):  # fmt: skip
        # From the center of pixels, so that mirrored positions are in mirrored tiles.
        at = place.to(torch.float32) - rows.spread((low - 0.5).to(torch.float32))
        rate = (n / side.to(torch.float64)).to(torch.float32)
        number = (at * rows.spread(rate)).to(torch.int64).clamp(min=0)
        out.append(torch.minimum(number, rows.spread(n - 1)))
    return rows.spread(grid.starts) + out[1] * rows.spread(grid.width) + out[0]


def _quiet(tile: Tensor, above: Tensor, limit: Tensor) -> Tensor:
    """Count the quiet points of the tiles, in double precision."""
    quiet = (above <= limit.index_select(0, tile)).to(torch.float64)
    # Whole numbers: no order of additions changes them.
    out = torch.zeros(limit.numel(), dtype=torch.float64, device=tile.device)
    return out.index_add_(0, tile, quiet)


def _limits(tile: Tensor, above: Tensor, n_tiles: int) -> Tensor:
    """Return the support up to which the samples of a tile are quiet, 0 or more, (tiles,)."""
    count = torch.zeros(n_tiles, dtype=torch.int64, device=tile.device)
    count.index_add_(0, tile, torch.ones_like(tile))
    order, _ = sorted_rows(above, tile)
    first = torch.cumsum(count, 0) - count
    rank = torch.floor(QUIET_SHARE * count.double()).to(torch.int64)
    place = (first + rank).clamp(max=above.numel() - 1)
    found = above.index_select(0, order.index_select(0, place)).clamp(min=0.0)
    return torch.where(count > 0, found, 0.0)


def _deviation(counts: Tensor, n_samples: Tensor, window: Rows, *, of_all: bool) -> Tensor:
    """Return how far events and samples are distributed differently, in variances, (b,)."""
    ratio = window.spread(window.sum(counts) / window.sum(n_samples).clamp(min=1.0))
    variance = n_samples * ratio * (1.0 + ratio)
    squares = (counts - n_samples * ratio) ** 2 / variance.clamp(min=1.0)
    n_tiles = window.sum(variance.clamp(max=1.0)).clamp(min=1.0)
    return window.sum(squares) / (window.counts if of_all else n_tiles)
