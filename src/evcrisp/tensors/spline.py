"""Quadratic B-splines on ragged maps; the twin of :mod:`evcrisp.kernels.contrast.spline`."""

from typing import NamedTuple

from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.scatter import WEIGHT_SCALE, Scatter


class Places(NamedTuple):
    """The nine pixels of every event; all tensors have shape (n,)."""

    cell: Tensor  # int64, upper left of nine pixels in the flat maps; any valid one if outside
    width: Tensor  # int64, of the map of the event
    a: Tensor  # floats, offset from the middle pixel, -0.5 to 0.5
    b: Tensor
    inside: Tensor  # bool


def locate(
    u: Tensor, v: Tensor, width: Tensor, height: Tensor, start: Tensor, kind: "torch.dtype"
) -> Places:
    """Locate positions, px of their map; offsets have the type ``kind``.

    ``width``, ``height`` and ``start``, shape (n,), are of the map of each event.
    """
    inside = (u >= 0.5) & (u < width - 1.5) & (v >= 0.5) & (v < height - 1.5)
    # A valid pixel replaces positions outside, and NaN.
    u, v = torch.where(inside, u, 1.0), torch.where(inside, v, 1.0)
    i, j = (u + 0.5).to(torch.int64), (v + 0.5).to(torch.int64)
    cell = start + (j - 1) * width + (i - 1)
    return Places(cell, width, (u - i).to(kind), (v - j).to(kind), inside)


def taps(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weights of three pixels."""
    first, middle = 0.5 * (0.5 - a) * (0.5 - a), 0.75 - a * a
    return first, middle, 1.0 - first - middle


def accumulate(places: Places, size: int, scatter: Scatter, weight: Tensor | None = None) -> Tensor:
    """Return the flat maps of all footprints, shape (size,), each times its weight."""
    out = scatter.weights(size, places.a)
    kernels = kernels_of("labels.cu", places.a.device)
    if kernels is not None and places.a.dtype == torch.float32:
        maps = (None, out.flat) if scatter.deterministic else (out.flat, None)
        columns = *(column.contiguous() for column in places), weight
        n = places.cell.numel()
        kernels.launch_each("vote", n, *columns, n, float(WEIGHT_SCALE), *maps)
        return out.map()
    factor = places.inside.to(places.a.dtype)
    factor = factor if weight is None else factor * weight
    across, at = taps(places.a), places.cell
    for down in taps(places.b):
        scaled = factor * down
        for c, side in enumerate(across):
            out.add(at + c, scaled * side)
        at = at + places.width
    return out.map()


def sample(flat: Tensor, places: Places) -> Tensor:
    """Return the weighted sum of nine pixels at every event; arbitrary outside."""
    kernels = kernels_of("labels.cu", flat.device)
    if kernels is not None and flat.dtype == torch.float32:
        out, n = torch.empty_like(places.a), places.cell.numel()
        kernels.launch_each("sample", n, flat, *(c.contiguous() for c in places), n, out)
        return out
    upper, middle, lower = _rows_of(flat, places)
    a0, a1, a2 = taps(places.a)
    b0, b1, b2 = taps(places.b)
    left, center, right = (
        b0 * u + b1 * m + b2 * w for u, m, w in zip(upper, middle, lower, strict=True)
    )
    return a0 * left + a1 * center + a2 * right


def slopes(flat: Tensor, places: Places) -> tuple[Tensor, Tensor]:
    """Return the slopes of the maps along both axes at every event; 0 outside."""
    upper, middle, lower = _rows_of(flat, places)
    a, b = places.a, places.b
    left, right, above, below = 0.5 - a, 0.5 + a, 0.5 - b, 0.5 + b
    first, last = 0.5 * left * left, 0.5 * right * right
    values, across = zip(
        *(_row(*three, first, last, left, right) for three in (upper, middle, lower)), strict=True
    )
    high, low = 0.5 * above * above, 0.5 * below * below
    along_x = across[1] + low * (across[2] - across[1]) - high * (across[1] - across[0])
    along_y = above * (values[1] - values[0]) + below * (values[2] - values[1])
    return torch.where(places.inside, along_x, 0.0), torch.where(places.inside, along_y, 0.0)


def _rows_of(flat: Tensor, places: Places) -> list[tuple[Tensor, ...]]:
    """Return the three rows of three pixels of every event."""
    at, rows = places.cell, []
    for _ in range(3):
        rows.append(tuple(flat.index_select(0, at + c) for c in range(3)))
        at = at + places.width
    return rows


def _row(
    p: Tensor, q: Tensor, r: Tensor, first: Tensor, last: Tensor, left: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    """Return value and slope of a row of three pixels."""
    before, after = q - p, r - q
    return q + last * after - first * before, left * before + right * after
