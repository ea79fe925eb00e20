"""Contrast of many windows on one level of the pyramid; see `search.multiscale_objective`."""

from dataclasses import dataclass, replace

from evcrisp.search.on_device.block_search import BlockSearch, search_kernels
from evcrisp.search.on_device.border_bias import BorderBiases
from evcrisp.search.on_device.curvature import inverse_from_tensors, structure_tensors
from evcrisp.search.on_device.problem import Points, Problem
from evcrisp.tensors.ascent import Ascents, ascend
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.scatter import Scatter
from evcrisp.tensors.spline import Places, accumulate, locate, slopes

_STIFFNESS = 100.0  # of the collapse penalty, as in `search.collapse_penalty`


@dataclass(slots=True, eq=False)
class Level:
    """Log of the sum of squares of the map per event, minus the collapse penalty, of each window.

    ``bias`` adds the contrast that is lost at the border of the view. The last maps are kept, for
    `inverse_curvature`.
    """

    problem: Problem
    points: Points
    layout: MapLayout
    scale: Tensor  # (b,) int64, px of the sensor per px of the map
    shift: tuple[Tensor, Tensor]  # (b,) px of the map
    before: tuple[Tensor, Tensor]  # (b,) int64, column and row of the center of the view
    scatter: Scatter
    kind: "torch.dtype"
    bias: BorderBiases | None = None
    image: Tensor | None = None  # flat maps of the last evaluation

    @classmethod
    def around(
        cls,
        problem: Problem,
        scaled: Tensor,
        scale: Tensor,
        points: Points,
        *,
        margin_px: Tensor,
        scatter: Scatter,
        kind: "torch.dtype",
    ) -> "Level":
        """Return a level with the view at ``scaled`` and a margin, both per window."""
        low, high = problem.border_limits(problem.theta(scaled))
        center = torch.stack(problem.center)
        size = torch.stack((problem.width, problem.height))
        before, behind = _extent(low, high, center, size, margin_px, scale)
        width, height = (before + behind + 1).unbind(0)
        layout = MapLayout.of(width, height)
        shift_x, shift_y = (before - center / scale).unbind(0)
        left, above = before.unbind(0)
        return cls(problem, points, layout, scale, (shift_x, shift_y), (left, above), scatter, kind)

    def taken(self, chosen: Tensor) -> "Level":
        """Return some of the windows, by number."""
        shift_x, shift_y = (part.index_select(0, chosen) for part in self.shift)
        left, above = (part.index_select(0, chosen) for part in self.before)
        return replace(
            self, problem=self.problem.taken_without_events(chosen), points=self.points.taken(chosen),
            layout=self.layout.taken(chosen), scale=self.scale.index_select(0, chosen),
            shift=(shift_x, shift_y), before=(left, above), image=None,
            bias=None if self.bias is None else self.bias.taken(chosen),
        )  # fmt: skip

    def trial_values(self, trials: Tensor) -> Tensor:
        """Return the objective at several motions, (b, k, m), without a border correction; (b, k)."""
        kernels = search_kernels(self)
        if kernels is not None:
            return BlockSearch(self, kernels).values(trials)
        return torch.stack([self.values(trials[:, k]) for k in range(trials.shape[1])], 1)

    def ascend(
        self, start: Tensor, near: Tensor | None, least: Tensor, tol_step: Tensor, max_step: Tensor
    ) -> Ascents:
        """Maximize from ``start``, (b, m); see `BlockSearch.ascend`."""
        kernels = search_kernels(self)
        if kernels is not None:
            return BlockSearch(self, kernels).ascend(start, near, least, tol_step, max_step)

        def curvature() -> Tensor:
            found = self.inverse_curvature(least)
            return found if near is None else torch.where(torch.isnan(near), found, near)

        return ascend(self, start, curvature, tol_step=tol_step, max_step=max_step)

    def values(self, scaled: Tensor) -> Tensor:
        """Return the objective at ``scaled``, (b, m), without a border correction; (b,)."""
        _, total = self._build(self.problem.theta(scaled))
        return self._log_contrast(total) - self._penalty(scaled)[0]

    def __call__(self, scaled: Tensor) -> tuple[Tensor, Tensor]:
        """Return the objective and its gradient, (b,) and (b, m)."""
        problem, points = self.problem, self.points
        theta = problem.theta(scaled)
        places, total = self._build(theta)
        assert self.image is not None
        along = slopes(self.image, places)
        pulled = problem.model.pull_back(theta, points.x, points.y, points.dt, points.rows, *along)
        factor = 2.0 / (total * self.scale)
        penalty, slope = self._penalty(scaled)
        value = self._log_contrast(total) - penalty
        gradient = problem.gradient(pulled) * factor[:, None] - slope
        gradient = torch.where((total > 0.0)[:, None], gradient, 0.0)
        if self.bias is None:
            return value, gradient
        lost, rise = self.bias.loss(scaled)
        return value + lost, gradient + rise

    def inverse_curvature(self, least: Tensor) -> Tensor:
        """Return the inverse of minus the second derivatives at the last evaluation, (b, m, m).

        ``least``, (b,), is a lower bound, as in `search.curvature`.
        """
        assert self.image is not None
        tensor, energy, square = structure_tensors(self)
        return inverse_from_tensors(
            tensor, energy, square, self.points.rows.counts, self.scale, least
        )

    def _build(self, theta: Tensor) -> tuple[Places, Tensor]:
        """Accumulate all maps; return where the events are, and the sums of squares."""
        points, rows = self.points, self.points.rows
        x, y = self.problem.model.warp(theta, points.x, points.y, points.dt, rows)
        gain = rows.spread(1.0 / self.scale)
        u = x * gain + rows.spread(self.shift[0])
        v = y * gain + rows.spread(self.shift[1])
        layout = self.layout
        sides = (rows.spread(side) for side in (layout.width, layout.height, layout.starts))
        places = locate(u, v, *sides, self.kind)
        self.image = accumulate(places, layout.size, self.scatter)
        squares = self.image.to(torch.float64) ** 2
        return places, layout.pixels().sum(squares)

    def _log_contrast(self, total: Tensor) -> Tensor:
        return torch.log(total / self.points.rows.counts)

    def _penalty(self, scaled: Tensor) -> tuple[Tensor, Tensor]:
        """Return the collapse penalty and its gradient."""
        frames = self.problem.frames
        if not self.problem.model.can_collapse:
            return torch.zeros_like(scaled[:, 0]), torch.zeros_like(scaled)
        change = (frames.penalty_rows @ scaled[:, :, None])[:, :, 0]
        excess = (change.abs() - frames.penalty_bound).clamp(min=0.0)
        is_free = (scaled * scaled).sum(1) <= frames.penalty_free_px**2
        excess = torch.where(is_free[:, None], 0.0, excess)
        slope = 2.0 * _STIFFNESS * excess * torch.sign(change)
        return _STIFFNESS * (excess * excess).sum(1), (slope[:, None] @ frames.penalty_rows)[:, 0]


def _extent(
    low: Tensor, high: Tensor, center: Tensor, size: Tensor, margin_px: Tensor, scale: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the pixels of maps before the center, and behind it, int64; all (2, b), along x and y."""
    # Warps that move events far away, or to NaN, must not determine the size of a map.
    finite = torch.isfinite(low)
    low = torch.where(finite, low, -torch.inf)
    high = torch.where(finite, high, torch.inf)
    ends = [torch.minimum(torch.maximum(e, -0.5 * size), 1.5 * size) for e in (low, high)]
    low, high = torch.minimum(*ends) - margin_px, torch.maximum(*ends) + margin_px
    # A spline reaches 1.5 pixels.
    before = torch.ceil((center - low) / scale).clamp(min=0).to(torch.int64) + 2
    behind = torch.ceil((high - center) / scale).clamp(min=0).to(torch.int64) + 2
    return before, behind
