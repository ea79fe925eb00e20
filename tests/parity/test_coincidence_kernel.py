"""The kernel that counts pixels that fire together, against its slow version."""

import numpy as np
import pytest
from tests.oracles.auto import coincidence as oracle

from evcrisp.kernels.auto.coincidence import coincident_pixels


@pytest.mark.parametrize("n", [0, 1, 7, 400])
@pytest.mark.parametrize("near", [0.0, 0.0625])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_coincident_pixels_equal_oracle(n, near, share):
    rng = np.random.default_rng(n)
    left, top, width, height = 3, 5, 9, 6
    x = rng.integers(left, left + width, n).astype(np.uint16)
    y = rng.integers(top, top + height, n).astype(np.uint16)
    p = rng.integers(0, 2, n).astype(np.uint8)
    # Many equal times, of which differences have no rounding.
    t = (np.sort(rng.integers(-32, 33, n)) / 64).astype(np.float32)
    marked, readers = rng.random(n) < share, np.flatnonzero(rng.random(n) < share)
    shape = height + 2, width + 2
    last, count = np.empty(2 * shape[0] * shape[1], np.float32), np.empty(readers.size, np.uint8)
    coincident_pixels(
        x, y, p, t, marked, readers, left, top, shape, np.float32(near), last, count
    )  # fmt: skip
    np.testing.assert_array_equal(
        count, oracle.coincident_pixels(x, y, p, t, marked, readers, near)
    )
