"""Exponential fading without an exponential per pixel.

Instead of fading what was added earlier, what comes later weighs more: rate ** (t - start). The
weights are products of two numbers out of small tables. Before they become too large all sums are
scaled down and the start is moved on.
"""

from typing import NamedTuple

import numpy as np


class Growth(NamedTuple):
    """The weight of an event `age` us after the start is coarse[age >> bits] * fine[age & mask]."""

    coarse: np.ndarray  # float64
    fine: np.ndarray  # float64
    bits: int
    unit_us: int  # time in which weights grow by `factor`
    factor: float
    span: int  # units after which the start is moved on

    @classmethod
    def of(cls, unit_us, factor, span):
        """Return tables for ages below ``span`` units; both have about the same size."""
        n_ages = unit_us * span
        bits = (n_ages.bit_length() + 1) // 2
        size = 1 << bits
        exponent = np.log(factor) / unit_us
        coarse = np.exp(np.arange(n_ages // size + 1) * size * exponent)
        return cls(coarse, np.exp(np.arange(size) * exponent), bits, unit_us, factor, span)
