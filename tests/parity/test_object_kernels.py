"""Kernels of the objects of a window, against plain Python: equal."""

import numpy as np
import pytest
from tests.oracles.pipeline import window_objects as oracle

from evcrisp.kernels.pipeline.window_objects import count_layer, spread_of_regions

RESOLUTION = (61, 45)


@pytest.mark.parametrize("n", [0, 1, 5_000])
@pytest.mark.parametrize("index", [0, 2])
def test_regions_of_a_layer(n, index):
    rng = np.random.default_rng(n)
    x, y = (rng.integers(0, side, n).astype(np.uint16) for side in RESOLUTION)
    layer = rng.integers(-1, 3, n).astype(np.int16)
    shape = 6, 8
    counts = np.full(shape, -7, np.int64)
    count_layer(x, y, layer, index, 3, counts)
    np.testing.assert_array_equal(counts, oracle.count_layer(x, y, layer, index, 8, shape))

    region, step = rng.integers(-1, 3, shape).astype(np.int32), np.array([1, 3, 7])
    across = np.full((3, RESOLUTION[0]), -7, np.int32)
    down = np.full((3, RESOLUTION[1]), -7, np.int32)
    spread_of_regions(x, y, layer, index, 3, region, step, across, down)
    wanted = oracle.spread_of_regions(x, y, layer, index, 8, region, step.tolist(), RESOLUTION)
    np.testing.assert_array_equal(across, wanted[0])
    np.testing.assert_array_equal(down, wanted[1])
