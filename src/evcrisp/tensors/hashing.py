"""Numbers that look random, from the places of events; as `kernels.search.array_ops` gives them."""

from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.rows import Rows

_MASK = 0xFFFFFFFF

#: Golden ratio times 2^32: multiples are far apart.
SALT = 0x9E3779B1


def ranks(
    x: Tensor, y: Tensor, dt: Tensor, center: tuple[Tensor, Tensor, Tensor],
    unit: tuple[Tensor | float, Tensor | float, float], salt: Tensor,
) -> Tensor:  # fmt: skip
    """Return a number of 32 bits for every event, as int64, shape (n,).

    ``x, y, dt``, shape (n,), have double precision. ``center`` and ``unit`` (whole numbers per unit)
    are per event, or the same for all. ``salt``, int64, is that of the window of each event.
    """
    across, down, when = (
        (torch.abs(value - middle) * per + 0.5).to(torch.int64) & _MASK
        for value, middle, per in zip((x, y, dt), center, unit, strict=True)
    )
    start = salt & _MASK
    where = (_spread(across ^ start) + _spread(down ^ start)) & _MASK
    return _mixed(where ^ _product(when, 0x85EBCA6B))


def ranks_in_rows(
    x: Tensor, y: Tensor, dt: Tensor, rows: Rows, center: tuple[Tensor, Tensor, Tensor],
    unit: tuple[Tensor, Tensor, float],
) -> Tensor:  # fmt: skip
    """Return the same for events in rows, with center and unit of each row, (b,)."""
    salt = salts(rows.counts)
    kernels = kernels_of("labels.cu", x.device)
    if kernels is None:
        middle = rows.spread(center[0]), rows.spread(center[1]), rows.spread(center[2])
        per = rows.spread(unit[0]), rows.spread(unit[1]), unit[2]
        return ranks(x, y, dt, middle, per, rows.spread(salt))
    middle = torch.stack(center, 1)
    per = torch.stack((*unit[:2], torch.full_like(unit[0], unit[2])), 1)
    n, out = x.numel(), torch.empty(x.numel(), dtype=torch.int64, device=x.device)
    points = x.contiguous(), y.contiguous(), dt.contiguous()
    kernels.launch_each("ranks", n, *points, rows.row, middle, per, salt, n, out)
    return out


def salts(counts: Tensor) -> Tensor:
    """Return the salt of windows with so many events."""
    return (counts * SALT) & _MASK


def _product(value: Tensor, factor: int) -> Tensor:
    # Both below 2^32: the product wraps in 64 bits, its low half is right.
    return (value * factor) & _MASK


def _mixed(value: Tensor) -> Tensor:
    value = _product(value ^ (value >> 16), 0x7FEB352D)
    value = _product(value ^ (value >> 15), 0x846CA68B)
    return value ^ (value >> 16)


def _spread(value: Tensor) -> Tensor:
    value = _product(value, 0x9E3779B1)
    return value ^ (value >> 15)
