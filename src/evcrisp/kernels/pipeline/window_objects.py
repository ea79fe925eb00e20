"""Regions of the events of a layer: cells that they fill, and where the events of each region lie."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def count_layer(x, y, layer, index, cell_px, counts):
    """Count the events of a layer in square cells.

    x, y : (n,) uint16      layer : (n,) int16      index : of the layer
    counts : (rows, columns) int64, filled
    """
    counts[:] = 0
    side, wanted = np.uint32(cell_px), np.int16(index)
    for k in range(x.size):
        counts[np.uint32(y[k]) // side, np.uint32(x[k]) // side] += layer[k] == wanted


@njit
def spread_of_regions(x, y, layer, index, cell_px, region, step, across, down):
    """Count some of the events of each region by column and row of the sensor.

    x, y, layer, index, cell_px : as for `count_layer`
    region : (rows, columns) int32, number of the region of each cell; -1 for those that do not count
    step : (m,) int64: the first of each so many events of a region counts
    across : (m, width) int32, filled      down : (m, height) int32, filled
    """
    across[:] = 0
    down[:] = 0
    side, wanted = np.uint32(cell_px), np.int16(index)
    left = np.zeros(step.size, np.int64)  # events to pass over
    for k in range(x.size):
        if layer[k] != wanted:
            continue
        r = region[np.uint32(y[k]) // side, np.uint32(x[k]) // side]
        if r < 0:
            continue
        if left[r] == 0:
            across[r, x[k]] += 1
            down[r, y[k]] += 1
            left[r] = step[r]
        left[r] -= 1
