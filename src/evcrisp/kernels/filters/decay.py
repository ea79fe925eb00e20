"""Exponential decay without an exponential per pixel.

Instead of reducing earlier values, later values get larger weights: rate ** (t - start). A weight is
the product of two entries of small tables. Before weights become too large, all sums are scaled down
and the start is advanced.
"""

from typing import NamedTuple

import numpy as np


class DecayTable(NamedTuple):
    """Weights of events: coarse[age >> bits] * fine[age & mask], age in us after the start."""

    coarse: np.ndarray  # float64
    fine: np.ndarray  # float64
    bits: int
    unit_us: int  # time in which weights increase by `factor`
    factor: float
    span: int  # units after which the start is advanced

    @classmethod
    def build(cls, unit_us, factor, span):
        """Return tables of about equal size for ages below ``span`` units."""
        n_ages = unit_us * span
        bits = (n_ages.bit_length() + 1) // 2
        size = 1 << bits
        exponent = np.log(factor) / unit_us
        coarse = np.exp(np.arange(n_ages // size + 1) * size * exponent)
        return cls(coarse, np.exp(np.arange(size) * exponent), bits, unit_us, factor, span)
