"""Cells of a window, in space and time: sums over their events."""

import numpy as np

from evcrisp.kernels.compile import fused

#: Table of log(1 + z) at z = i / _PER_UNIT; larger z count as the last.
_PER_UNIT, _MOST = 64, 64
_LOG_TABLE = np.log1p(np.arange(_PER_UNIT * _MOST + 1) / _PER_UNIT).astype(np.float32)


@fused
def add_log_support(support, scale, cell, out):
    """Add log(1 + support / scale) of every event to its cell, from a table, to within 0.01.

    support : (n,) float32, 0 or more      cell : (n,) int32      out : (n_cells,) float32, changed
    """
    factor, last = np.float32(_PER_UNIT / scale), np.float32(_PER_UNIT * _MOST)
    half = np.float32(0.5)
    for k in range(cell.size):
        z = min(support[k] * factor, last)
        out[cell[k]] += _LOG_TABLE[np.uint32(z + half)]


@fused
def blur_cells(values, out):
    """Add to every cell a half of its neighbors along each axis, and the products of that.

    values, out : (n_slices, rows, columns) float32; out is filled
    """
    n_slices, rows, columns = values.shape
    half = np.float32(0.5)
    across = np.empty_like(values)
    down = np.empty_like(values)
    for s in range(n_slices):
        for r in range(rows):
            for c in range(columns):
                left = values[s, r, c - 1] if c > 0 else np.float32(0.0)
                right = values[s, r, c + 1] if c < columns - 1 else np.float32(0.0)
                across[s, r, c] = values[s, r, c] + half * (left + right)
        for r in range(rows):
            for c in range(columns):
                above = across[s, r - 1, c] if r > 0 else np.float32(0.0)
                below = across[s, r + 1, c] if r < rows - 1 else np.float32(0.0)
                down[s, r, c] = across[s, r, c] + half * (above + below)
    for s in range(n_slices):
        for r in range(rows):
            for c in range(columns):
                before = down[s - 1, r, c] if s > 0 else np.float32(0.0)
                after = down[s + 1, r, c] if s < n_slices - 1 else np.float32(0.0)
                out[s, r, c] = down[s, r, c] + half * (before + after)
