"""Regions of the events of a layer, one event at a time."""

import numpy as np


def count_layer(x, y, layer, index, cell_px, shape):
    """Return the events of a layer in each cell."""
    counts = np.zeros(shape, np.int64)
    for column, row, own in zip(x.tolist(), y.tolist(), layer.tolist(), strict=True):
        if own == index:
            counts[row // cell_px, column // cell_px] += 1
    return counts


def spread_of_regions(x, y, layer, index, cell_px, region, step, resolution):
    """Return how many of every so many events of each region lie in each column, and in each row."""
    width, height = resolution
    places = [[] for _ in step]
    for column, row, own in zip(x.tolist(), y.tolist(), layer.tolist(), strict=True):
        number = region[row // cell_px, column // cell_px]
        if own == index and number >= 0:
            places[number].append((column, row))
    across, down = np.zeros((len(step), width), int), np.zeros((len(step), height), int)
    for number, (own, every) in enumerate(zip(places, step, strict=True)):
        for column, row in own[::every]:
            across[number, column] += 1
            down[number, row] += 1
    return across, down
