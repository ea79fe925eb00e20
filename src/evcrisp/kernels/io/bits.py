"""Find and count the set bits of a mask."""

import numpy as np

from evcrisp.kernels.compile import njit

_DE_BRUIJN = np.uint64(0x077CB531)
_POSITION = np.zeros(32, np.uint8)
for _bit in range(32):
    _POSITION[((int(_DE_BRUIJN) << _bit) & 0xFFFFFFFF) >> 27] = _bit


@njit
def lowest_bit(mask):
    """Return the position of the lowest set bit of a 32-bit mask (uint64); 0 if none is set."""
    alone = mask & (~mask + np.uint64(1))
    return _POSITION[((alone * _DE_BRUIJN) & np.uint64(0xFFFFFFFF)) >> np.uint64(27)]


@njit
def count_bits(mask):
    """Return the number of set bits of a 32-bit mask."""
    mask = mask - ((mask >> 1) & 0x55555555)
    mask = (mask & 0x33333333) + ((mask >> 2) & 0x33333333)
    mask = (mask + (mask >> 4)) & 0x0F0F0F0F
    return ((mask * 0x01010101) >> 24) & 0xFF
