"""Map of kept events and its variance, against the class for maps of any kind."""

import numpy as np
import pytest
from tests.oracles.contrast import kept_map as oracle

from evcrisp.contrast import ContrastMap
from evcrisp.kernels.contrast.kept_map import kept_map, variance


@pytest.mark.parametrize("resolution", [(34, 34), (61, 45), (346, 260)])
@pytest.mark.parametrize("n", [0, 1, 1024, 5000])
@pytest.mark.parametrize("scale", [2, 3])
def test_map_of_kept_events(resolution, n, scale):
    rng = np.random.default_rng(n + scale)
    width, height = resolution
    kept = rng.random(n) < 0.7
    contrast = ContrastMap(footprint="spline", sigma_px=0.0, scale=scale)
    shape = contrast.shape(resolution)
    aligned = rng.uniform(-9.0, width + 9.0, n), rng.uniform(-9.0, height + 9.0, n)
    if n > 2:
        aligned[0][:2] = np.nan, np.inf
    pixels = (
        rng.integers(0, width, n).astype(np.uint16),
        rng.integers(0, height, n).astype(np.uint16),
    )
    for x, y in (aligned, pixels):
        image, wanted = np.full(shape, np.nan), oracle.kept_map(x, y, kept, scale, resolution)
        kept_map(x, y, kept, contrast.padding_px, scale, image)
        np.testing.assert_array_equal(image, wanted)
        assert variance(image) == pytest.approx(wanted.var(), rel=1e-12, abs=1e-300)
