"""Numbers that look random, from the places of events; as `kernels.search.array_ops` gives them."""

from evcrisp.tensors.lazy import Tensor, torch

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
