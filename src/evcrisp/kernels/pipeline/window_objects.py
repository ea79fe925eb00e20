"""Regions of the events of a layer: cells that they fill, and where the events of each region lie."""

import numpy as np

from evcrisp.kernels.compile import njit

#: Events per block: their numbers stay in the cache.
_BLOCK = 1024


@njit
def count_layer(x, y, layer, index, shift, counts):
    """Count the events of a layer in square cells of 2**shift px.

    x, y : (n,) uint16      layer : (n,) int16      index : of the layer
    counts : (rows, columns) int64, filled
    """
    counts[:] = 0
    flat, width = counts.reshape(-1), np.uint64(counts.shape[1])
    bits, wanted = np.uint16(shift), np.int16(index)
    for k in range(x.size):
        flat[np.uint64(y[k] >> bits) * width + np.uint64(x[k] >> bits)] += layer[k] == wanted


@njit
def spread_of_regions(x, y, layer, index, shift, region, step, across, down):
    """Count some of the events of each region by column and row of the sensor.

    x, y, layer, index, shift : as for `count_layer`
    region : (rows, columns) int32, number of the region of each cell; -1 for those that do not count
    step : (m,) int64: the first of each so many events of a region counts
    across : (m, width) int32, filled      down : (m, height) int32, filled
    """
    across[:] = 0
    down[:] = 0
    flat, width = region.reshape(-1), np.uint64(region.shape[1])
    bits, wanted = np.uint16(shift), np.int16(index)
    left = np.zeros(step.size, np.int64)  # events to pass over
    inside, of_region = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int32)
    for first in range(0, x.size, _BLOCK):
        # The events of regions first, without a branch, which would be unpredictable.
        n_inside = 0
        for k in range(first, min(first + _BLOCK, x.size)):
            r = flat[np.uint64(y[k] >> bits) * width + np.uint64(x[k] >> bits)]
            inside[n_inside], of_region[n_inside] = k, r
            n_inside += (layer[k] == wanted) & (r >= 0)
        for q in range(n_inside):
            r = np.uint64(of_region[q])
            left[r] -= 1
            if left[r] < 0:
                k = np.uint64(inside[q])
                across[r, x[k]] += 1
                down[r, y[k]] += 1
                left[r] = step[r] - 1
