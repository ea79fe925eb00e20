"""Exposure of positions on the maps of many windows; see `estimators.auto.exposure`."""

from collections.abc import Callable

from evcrisp.estimators.auto.on_device.placement import MapPoints
from evcrisp.search.on_device.model_operations import ModelOperations
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.rows import Rows

#: Returns the support of points by other pixels, from the contrast there and what their own pixel adds,
#: both (n,), divided by the exposure where it is above 0; -1 off the map.
Exposure = Callable[[Tensor, Tensor, MapPoints], Tensor]

#: As in `estimators.auto.exposure` and `kernels.auto.exposure`.
_LEAST_SUPPORT = 5e-3  # as in `kernels.auto.support`
_NODE_PX, _FAR_PX, _SOFT_PX, _LEAST_EXPOSURE = 8, 1e6, 2.0, 0.1
_NEARLY, _LEAST_AREA, _MOST_AREA = 0.02, 0.25, 4.0

#: Rounds between looks at whether all rectangles are found.
_ROUNDS = 8


def exposure_of(
    model: ModelOperations, theta: Tensor, duration_s: Tensor, width: Tensor, height: Tensor,
    padding: Tensor, sides: Tensor,
) -> Exposure:  # fmt: skip
    """Return the exposure at motions, (b, m), of views with ``sides``, (b, 4), px of the map."""
    if model.is_uniform:
        return _sweep(theta, duration_s, sides)
    return _paths(model, theta, duration_s, width, height, padding, sides)


def _without_own(value: Tensor, own: Tensor, points: MapPoints) -> Tensor:
    """Return the support by other pixels; tiny ones are 0, and -1 is off the map."""
    total = torch.where(points.inside, value, 0.0) - own
    total = torch.where(total > _LEAST_SUPPORT, total, 0.0)
    return torch.where(points.inside, total, -1.0)


def _sweep(theta: Tensor, duration_s: Tensor, sides: Tensor) -> Exposure:
    """Return the exposure of views that move over the map at constant velocity."""
    moved = -duration_s[:, None] * theta
    size = torch.where(moved.abs() > _SOFT_PX, moved.abs(), _SOFT_PX)
    per_px = (1.0 / torch.copysign(size, moved)).to(torch.float32)
    sides = sides.to(torch.float32).contiguous()

    def divide(value: Tensor, own: Tensor, points: MapPoints) -> Tensor:
        kernels = kernels_of("labels.cu", value.device)
        if kernels is not None:
            out, n = torch.empty_like(value), value.numel()
            kernels.launch_each(
                "support_of_sweep", n, value, own, points.x, points.y, points.inside, points.rows.row, n,
                sides, per_px, _LEAST_SUPPORT, _LEAST_EXPOSURE, out,
            )  # fmt: skip
            return out
        support = _without_own(value, own, points)
        left, top, right, bottom = (points.rows.spread(side) for side in sides.unbind(1))
        per_x, per_y = (points.rows.spread(rate) for rate in per_px.unbind(1))
        # Times at which the sides of the view pass, in windows from the reference time.
        across = (points.x - left) * per_x, (points.x - right) * per_x
        down = (points.y - top) * per_y, (points.y - bottom) * per_y
        begin = torch.maximum(torch.minimum(*across), torch.minimum(*down)).clamp(min=-0.5)
        end = torch.minimum(torch.maximum(*across), torch.maximum(*down)).clamp(max=0.5)
        share = (end - begin).clamp(min=_LEAST_EXPOSURE)
        return torch.where(support > 0.0, support / share, support)

    return divide


def _paths(
    model: ModelOperations, theta: Tensor, duration_s: Tensor, width: Tensor, height: Tensor,
    padding: Tensor, sides: Tensor,
) -> Exposure:  # fmt: skip
    """Return the exposure from paths of grid nodes, between which they are interpolated."""
    columns, rows = (2 + (side + 2 * padding) // _NODE_PX for side in (width, height))
    grid = MapLayout.of(columns, rows)
    nodes = grid.pixels()
    at = nodes.position()
    column = at % nodes.spread(columns)
    row = at // nodes.spread(columns)
    x, y = ((_NODE_PX * n - nodes.spread(padding)).to(torch.float64) for n in (column, row))
    half = nodes.spread(0.5 * duration_s)
    first = model.inverse(theta, x, y, -half, nodes)
    last = model.inverse(theta, x, y, half, nodes)
    moved = [b - a for a, b in zip(first, last, strict=True)]
    middle = [0.5 * (a + b) - n for a, b, n in zip(first, last, (x, y), strict=True)]
    fields = [
        torch.nan_to_num(field, nan=_FAR_PX, posinf=_FAR_PX, neginf=-_FAR_PX)
        for field in (*moved, *middle)
    ]
    area = _areas(fields[2], fields[3], column, row, grid, nodes)
    place = (_NODE_PX * column).to(torch.float64), (_NODE_PX * row).to(torch.float64)
    share = _share(*place, *fields, [nodes.spread(side) for side in sides.unbind(1)])
    partly = (share < 1.0) | ((area - 1.0).abs() > _NEARLY)
    whole = _whole_rectangles(partly, grid, nodes, column, row)
    return _between_nodes(torch.stack((*fields, area), 1), grid, whole, sides)


def _areas(
    to_x: Tensor, to_y: Tensor, column: Tensor, row: Tensor, grid: MapLayout, nodes: Rows
) -> Tensor:
    """Return the area of the sensor per area of the map at nodes, within bounds."""
    width, height = nodes.spread(grid.width), nodes.spread(grid.height)
    left, right = (column - 1).clamp(min=0), torch.minimum(column + 1, width - 1)
    above, below = (row - 1).clamp(min=0), torch.minimum(row + 1, height - 1)
    start = nodes.spread(grid.starts)

    def slope(field: Tensor, ends: tuple[Tensor, Tensor], distance: Tensor) -> Tensor:
        low, high = (field.index_select(0, start + end) for end in ends)
        return (high - low) / (distance * _NODE_PX)

    across = row * width + left, row * width + right
    down = above * width + column, below * width + column
    xx, yx = 1.0 + slope(to_x, across, right - left), slope(to_y, across, right - left)
    xy, yy = slope(to_x, down, below - above), 1.0 + slope(to_y, down, below - above)
    return (xx * yy - xy * yx).abs().clamp(_LEAST_AREA, _MOST_AREA)


def _share(
    x: Tensor, y: Tensor, along_x: Tensor, along_y: Tensor, to_x: Tensor, to_y: Tensor,
    sides: list[Tensor],
) -> Tensor:  # fmt: skip
    """Return the share of the window during which positions are in view."""
    enters, leaves = _seen(along_x, x + to_x, sides[0], sides[2])
    begins, ends = _seen(along_y, y + to_y, sides[1], sides[3])
    begin = torch.maximum(enters, begins).clamp(min=-0.5)
    return torch.minimum(leaves, ends).clamp(max=0.5) - begin


def _seen(along: Tensor, middle: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Return when positions enter and leave between two sides, in windows from the middle."""
    along = torch.where(along.abs() > _SOFT_PX, along, _SOFT_PX)
    first, second = (low - middle) / along, (high - middle) / along
    return torch.minimum(first, second), torch.maximum(first, second)


def _whole_rectangles(
    partly: Tensor, grid: MapLayout, nodes: Rows, column: Tensor, row: Tensor
) -> Tensor:
    """Return a large rectangle of fully exposed positions of each window, (b, 4) px of the map.

    The side with the most other nodes is removed, again and again.
    """
    n, wide, high = len(nodes), int(grid.width.max()), int(grid.height.max())
    sums = torch.zeros((n, high + 1, wide + 1), dtype=torch.int64, device=partly.device)
    sums[nodes.row, row + 1, column + 1] = partly.to(torch.int64)
    sums = sums.cumsum(1).cumsum(2)
    window = torch.arange(n, device=partly.device)

    def count(top: Tensor, bottom: Tensor, left: Tensor, right: Tensor) -> Tensor:
        # Rectangles that are found already may be empty.
        top, bottom = top.clamp(0, high), bottom.clamp(0, high)
        left, right = left.clamp(0, wide), right.clamp(0, wide)
        below = sums[window, bottom, right] - sums[window, bottom, left]
        return below - sums[window, top, right] + sums[window, top, left]

    top = left = torch.zeros_like(grid.width)
    bottom, right = grid.height, grid.width
    n_left = count(top, bottom, left, right)
    for k in range(wide + high):
        if k % _ROUNDS == 0 and not bool((n_left > 0).any()):
            break
        counts = torch.stack((
            count(top, top + 1, left, right), count(bottom - 1, bottom, left, right),
            count(top, bottom, left, left + 1), count(top, bottom, right - 1, right),
        ))  # fmt: skip
        most = counts.amax(0)
        side = torch.where(n_left > 0, (counts == most).to(torch.int8).argmax(0), -1)
        n_left = torch.where(side >= 0, n_left - most, n_left)
        top, bottom = top + (side == 0), bottom - (side == 1).to(torch.int64)
        left, right = left + (side == 2), right - (side == 3).to(torch.int64)
    # Positions between four fully exposed nodes are fully exposed: the view is convex.
    return _NODE_PX * torch.stack((left, top, right - 1, bottom - 1), 1)


def _between_nodes(fields: Tensor, grid: MapLayout, whole: Tensor, sides: Tensor) -> Exposure:
    """Return the exposure by interpolated paths; positions in the rectangle ``whole`` have all."""

    def divide(value: Tensor, own: Tensor, points: MapPoints) -> Tensor:
        support = _without_own(value, own, points)
        rows = points.rows
        left, top, right, bottom = (rows.spread(side) for side in whole.unbind(1))
        x, y = points.x, points.y
        inside = (left <= x) & (x <= right) & (top <= y) & (y <= bottom)
        chosen = torch.nonzero((support > 0.0) & ~inside).reshape(-1)
        window = rows.row.index_select(0, chosen)
        x, y = (c.index_select(0, chosen).to(torch.float64) for c in (x, y))
        width, height = grid.width[window], grid.height[window]
        u = torch.minimum((x / _NODE_PX).clamp(min=0.0), width - 1.001)
        v = torch.minimum((y / _NODE_PX).clamp(min=0.0), height - 1.001)
        i, j = u.to(torch.int64), v.to(torch.int64)
        a, b = (u - i)[:, None], (v - j)[:, None]
        at = grid.starts[window] + j * width + i
        upper = fields[at] * (1.0 - a) + fields[at + 1] * a
        lower = fields[at + width] * (1.0 - a) + fields[at + width + 1] * a
        path = upper * (1.0 - b) + lower * b
        share = _share(x, y, *path[:, :4].unbind(1), list(sides[window].unbind(1)))
        share = (share * path[:, 4]).clamp(min=_LEAST_EXPOSURE)
        value = support.index_select(0, chosen)
        return support.index_copy(0, chosen, (value / share).to(support.dtype))

    return divide
