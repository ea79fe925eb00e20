"""Events of many windows, prepared for the search."""

from dataclasses import dataclass, replace

from evcrisp.search.on_device.frame_constants import FrameConstants
from evcrisp.search.on_device.model_operations import ModelOperations
from evcrisp.tensors.cuda.kernels import Kernels, kernels_of
from evcrisp.tensors.hashing import ranks_in_rows
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows

_BAND = 0.1  # as in `search.event_view`


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Events as the kernels take them, in rows of windows; tensors of shape (n,), double precision."""

    rows: Rows
    x: Tensor  # px, or slopes of rays
    y: Tensor
    dt: Tensor  # s, increasing in each row

    def chosen(self, mask: Tensor) -> "Points":
        """Return the marked events."""
        rows, index = self.rows.kept(mask)
        return Points(rows, *(c.index_select(0, index) for c in (self.x, self.y, self.dt)))

    def none(self) -> "Points":
        """Return windows without events."""
        rows = self.rows
        empty = Rows(torch.zeros_like(rows.counts), torch.zeros_like(rows.starts), rows.row[:0])
        return Points(empty, self.x[:0], self.y[:0], self.dt[:0])

    def taken(self, windows: Tensor) -> "Points":
        """Return the events of some of the windows, by increasing number."""
        if windows.numel() == len(self.rows):
            return self
        rows, index = self.rows.taken(windows)
        return Points(rows, *(c.index_select(0, index) for c in (self.x, self.y, self.dt)))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Windows to search: events and constants; tensors have a row for each window."""

    points: Points
    model: ModelOperations
    frames: FrameConstants
    width: Tensor  # (b,) int64, px
    height: Tensor
    first_s: Tensor  # (b,) time of the first event
    last_s: Tensor
    view: Tensor  # (b, 4) left, top, right, bottom of the events, as the kernels take them
    sides: Tensor  # (b, 4) of the outermost pixels, px of the undistorted sensor

    @classmethod
    def of(
        cls,
        points: Points,
        model: ModelOperations,
        frames: FrameConstants,
        width: Tensor,
        height: Tensor,
    ) -> "Problem":
        """Return the problem of events, at least one in each window."""
        rows = points.rows
        limits = rows.min(points.x), rows.min(points.y), rows.max(points.x), rows.max(points.y)
        view = torch.stack(limits, 1)
        left, top, right, bottom = view.unbind(1)
        if model.uses_rays:
            zero = torch.zeros_like(frames.rates[:, 0])
            corners = torch.stack((left, right), 1), torch.stack((top, bottom), 1)
            across, down = model.warp_points(zero, *corners, torch.zeros_like(corners[0]))
            left, right, top, bottom = *across.unbind(1), *down.unbind(1)
        sides = torch.stack((left - 0.5, top - 0.5, right + 0.5, bottom + 0.5), 1)
        first, last = rows.first(points.dt), rows.last(points.dt)
        return cls(points, model, frames, width, height, first, last, view, sides)

    def __len__(self) -> int:
        return self.width.numel()

    def taken(self, windows: Tensor) -> "Problem":
        """Return some of the windows, by number."""
        names = ("width", "height", "first_s", "last_s", "view", "sides")
        columns = {name: getattr(self, name).index_select(0, windows) for name in names}
        points = self.points.taken(windows)
        model, frames = self.model.taken(windows), self.frames.taken(windows)
        return replace(self, points=points, model=model, frames=frames, **columns)

    def taken_without_events(self, windows: Tensor) -> "Problem":
        """Return the constants of some of the windows; no events are left."""
        nothing = replace(self, points=self.points.none())
        return nothing.taken(windows)

    @property
    def span_s(self) -> Tensor:
        """Time from the first to the last event, 1 s if it is 0, (b,)."""
        span = self.last_s - self.first_s
        return torch.where(span > 0.0, span, 1.0)

    def theta(self, scaled: Tensor) -> Tensor:
        """Return the motion parameters of scaled ones, (b, m)."""
        return _product(self.frames.inverse_rates, scaled) / self.span_s[:, None]

    def scaled(self, theta: Tensor) -> Tensor:
        """Return the scaled parameters of a motion, (b, m)."""
        return _product(self.frames.rates, theta) * self.span_s[:, None]

    def gradient(self, by_theta: Tensor) -> Tensor:
        """Convert a gradient by ``theta`` to one by the scaled parameters."""
        transposed = self.frames.inverse_rates.transpose(1, 2)
        return _product(transposed, by_theta) / self.span_s[:, None]

    @property
    def center(self) -> tuple[Tensor, Tensor]:
        """Middle of the view, px, both (b,)."""
        left, top, right, bottom = self.sides.unbind(1)
        return 0.5 * (left + right), 0.5 * (top + bottom)

    def border_limits(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Return the limits of the warped border; see `border_limits`."""
        return border_limits(self.model, self.frames, theta, self.first_s, self.last_s)

    def units(self) -> tuple[Tensor, Tensor]:
        """Return the pixels per unit of the points along x and y, both (b,)."""
        if not self.model.uses_rays:
            one = torch.ones_like(self.first_s)
            return one, one
        return self.model.constants[:, 0], self.model.constants[:, 1]

    def subsample(self, n_events: Tensor) -> Points:
        """Return about so many events of each window, (b,) int64; see `event_view.subsampled`."""
        points, rows = self.points, self.points.rows
        counts = rows.counts
        # Python rounds halves to even numbers; so does torch.
        interval = torch.round(counts.double() / n_events.clamp(min=1)).to(torch.int64)
        if not bool((interval >= 2).any()):
            return points
        left, top, right, bottom = self.view.unbind(1)
        middle = 0.5 * (left + right), 0.5 * (top + bottom), 0.5 * (self.first_s + self.last_s)
        per_x, per_y = self.units()
        units = 2.0 * per_x, 2.0 * per_y, 2e6
        number = ranks_in_rows(points.x, points.y, points.dt, rows, middle, units)
        kept = number < rows.spread(2**32 // interval.clamp(min=1))
        n_kept = rows.sum(kept).to(torch.int64) * interval
        # Copies of a few events are kept or dropped together. Then the selection may fail.
        is_fair = (0.5 * counts < n_kept) & (n_kept < 2.0 * counts) & (interval >= 2)
        return points.chosen(kept | rows.spread(~is_fair))

    def density_at_sides(self) -> Tensor:
        """Return the relative density of events at the upper, lower, left, right side, (b, 4)."""
        points, rows = self.points, self.points.rows
        left, top, right, bottom = self.view.unbind(1)
        per_x, per_y = self.units()
        kernels = kernels_of("labels.cu", left.device)
        if kernels is not None:
            return self._density_by(kernels, (left, top, right, bottom), (per_x, per_y))
        is_early = points.dt < rows.spread(0.5 * (self.first_s + self.last_s))
        counts = []
        for values, low, high, per in (
            (points.y, top, bottom, per_y), (points.x, left, right, per_x),
        ):  # fmt: skip
            # Pixels reach half a pixel beyond their centers.
            low, high = low - 0.5 / per, high + 0.5 / per
            band = _BAND * (high - low)
            for there in (
                values < rows.spread(low + band), values > rows.spread(high - band),
            ):  # fmt: skip
                early, late = rows.sum(there & is_early), rows.sum(there & ~is_early)
                counts.append(2.0 * torch.minimum(early, late))
        return (torch.stack(counts, 1) / (_BAND * rows.counts.double())[:, None]).clamp(max=1.0)

    def _density_by(
        self, kernels: Kernels, view: tuple[Tensor, ...], per: tuple[Tensor, Tensor]
    ) -> Tensor:
        """Return the same by a kernel."""
        (left, top, right, bottom), (per_x, per_y), points = view, per, self.points
        limits = []
        for low, high, unit in ((top, bottom, per_y), (left, right, per_x)):
            low, high = low - 0.5 / unit, high + 0.5 / unit
            band = _BAND * (high - low)
            limits += [low + band, high - band]
        out = torch.empty((len(self), 8), dtype=torch.float64, device=left.device)
        middle, counts = 0.5 * (self.first_s + self.last_s), points.rows.counts
        columns = (column.contiguous() for column in (points.x, points.y, points.dt))
        kernels.launch(
            "count_at_sides", len(self), 256, 8 * 8 * 32, *columns, points.rows.starts, counts,
            torch.stack(limits, 1), middle, out,
        )  # fmt: skip
        least = 2.0 * torch.minimum(out[:, ::2], out[:, 1::2])
        return (least / (_BAND * counts.double())[:, None]).clamp(max=1.0)


def border_limits(
    model: ModelOperations, frames: FrameConstants, theta: Tensor, first_s: Tensor, last_s: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the lowest and highest x and y of the warped border, both (2, b) px; NaN if not finite."""
    x, y, share = frames.border.unbind(1)
    dt = first_s[:, None] + (last_s - first_s)[:, None] * share
    ends = torch.stack(list(model.warp_points(theta, x, y, dt)))
    finite = torch.isfinite(ends).all(2)
    low, high = torch.aminmax(ends, dim=2)
    return torch.where(finite, low, torch.nan), torch.where(finite, high, torch.nan)


def _product(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector[:, :, None])[:, :, 0]
