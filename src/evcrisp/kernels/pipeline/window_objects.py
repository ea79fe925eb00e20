"""Regions of the events of a layer: cells that they fill, and where the events of each region lie."""

import numpy as np

from evcrisp.kernels.compile import njit

#: More events than a window can have: those of no region are never counted.
_NEVER = 1 << 62


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
    bits, wanted, none = np.uint16(shift), np.int16(index), step.size
    if none == 1:  # mostly; the number of events to pass over stays in a register then
        pause = np.int64(0)
        for k in range(x.size):
            r = flat[np.uint64(y[k] >> bits) * width + np.uint64(x[k] >> bits)]
            inside = (layer[k] == wanted) & (r >= 0)
            pause -= inside
            if pause < 0:
                across[0, x[k]] += 1
                down[0, y[k]] += 1
                pause = step[0] - 1
        return
    left = np.zeros(none + 1, np.int64)  # events to pass over
    left[none] = _NEVER
    for k in range(x.size):
        r = flat[np.uint64(y[k] >> bits) * width + np.uint64(x[k] >> bits)]
        at = np.uint64(r if (layer[k] == wanted) & (r >= 0) else none)
        left[at] -= 1
        if left[at] < 0:
            across[at, x[k]] += 1
            down[at, y[k]] += 1
            left[at] = step[at] - 1
