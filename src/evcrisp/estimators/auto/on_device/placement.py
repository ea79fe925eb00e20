"""Events and noise samples on aligned maps, one map per polarity; see `estimators.auto.aligned_maps`."""

from dataclasses import dataclass

from evcrisp.search.on_device.frame_constants import FrameConstants
from evcrisp.search.on_device.model_operations import ModelOperations
from evcrisp.search.on_device.problem import Points, border_limits
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.rows import Rows
from evcrisp.tensors.spline import Places, locate

#: Reach of a footprint, and largest padding of a map, px.
_REACH_PX, _MAX_PADDING_PX = 3, 4096

#: Place of points off the map: far away from all others, and a number.
_FAR = -1e6


@dataclass(frozen=True, slots=True, eq=False)
class MapPoints:
    """Points on maps; tensors of shape (n,), floats in single precision."""

    rows: Rows
    x: Tensor  # px of the map; far but finite for points off the map
    y: Tensor
    t: Tensor  # in windows
    p: Tensor  # int64
    places: Places  # in flat maps, of which that of ON lies behind that of OFF

    @property
    def inside(self) -> Tensor:
        """Whether points are on the map, (n,) bool."""
        return self.places.inside

    def at(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return x, y and the offsets within the middle pixel of some points."""
        columns = self.x, self.y, self.places.a, self.places.b
        x, y, a, b = (column.index_select(0, index) for column in columns)
        return x, y, a, b


def paddings(
    model: ModelOperations, frames: FrameConstants, theta: Tensor, duration_s: Tensor,
    width: Tensor, height: Tensor,
) -> Tensor:  # fmt: skip
    """Return the padding that contains all positions during each window, (b,) int64, px."""
    low, high = border_limits(model, frames, theta, -0.5 * duration_s, 0.5 * duration_s)
    size = torch.stack((width, height))
    widest = size.amax(0).clamp(max=_MAX_PADDING_PX - _REACH_PX).to(torch.float64)
    outside = torch.maximum(-low, high - (size - 1))
    needed = torch.where(torch.isfinite(outside), outside, widest).amax(0).clamp(min=0.0)
    return torch.ceil(torch.minimum(needed, widest)).to(torch.int64) + _REACH_PX


def placed(
    model: ModelOperations, theta: Tensor, points: Points, t: Tensor, p: Tensor, padding: Tensor,
    layout: MapLayout,
) -> MapPoints:  # fmt: skip
    """Return points, warped by motions ``theta``, (b, m), on maps with a padding, (b,)."""
    rows, n = points.rows, points.x.numel()
    kernels = kernels_of("placing.cu", theta.device, MODEL=model.kernel_name.capitalize())
    if kernels is None:
        x, y = model.warp(theta, points.x, points.y, points.dt, rows)
        return place(rows, x, y, t, p, padding, layout)
    x, y, a, b = (torch.empty_like(t) for _ in range(4))
    cell, width = torch.empty_like(p), torch.empty_like(p)
    inside = torch.empty(n, dtype=torch.bool, device=p.device)
    kernels.launch_each(
        "place_points", n, points.x.contiguous(), points.y.contiguous(), points.dt.contiguous(), rows.row,
        p.contiguous(), n, model.padded(theta).contiguous(), model.constants.contiguous(),
        model.constants.shape[1], padding, layout.width, layout.height, layout.starts, x, y, a, b, cell,
        width, inside,
    )  # fmt: skip
    return MapPoints(rows, x, y, t, p, Places(cell, width, a, b, inside))


def place(
    rows: Rows, x: Tensor, y: Tensor, t: Tensor, p: Tensor, padding: Tensor, layout: MapLayout
) -> MapPoints:
    """Return points at positions ``x, y``, px of the sensor, on maps with a padding, (b,)."""
    # Positions are kept in single precision, as the compiled kernels keep them.
    u, v = (c.to(torch.float32).to(torch.float64) + rows.spread(padding) for c in (x, y))
    width, height = rows.spread(layout.width), rows.spread(layout.height)
    start = rows.spread(layout.starts) + p * (width * height)
    places = locate(u, v, width, height, start, torch.float32)
    inside = places.inside
    x, y = (torch.where(inside, c, _FAR).to(torch.float32) for c in (u, v))
    return MapPoints(rows, x, y, t, p, places)


def on_one_map(points: MapPoints, layout: MapLayout) -> Places:
    """Return the places on maps of both polarities together, one per window."""
    rows, places = points.rows, points.places
    pixels = layout.width * layout.height
    # Maps of one polarity each lie at half the distance.
    start = torch.cumsum(pixels, 0) - pixels
    shift = rows.spread(start - layout.starts) - points.p * rows.spread(pixels)
    return places._replace(cell=places.cell + shift)
