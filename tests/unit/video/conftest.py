"""Fixture: a recording with known content."""

import numpy as np
import pytest

from evcrisp import Events


@pytest.fixture(scope="session")
def moving_edge():
    """Return a function that makes a vertical ON edge, which moves right from column 8."""

    def make(resolution=(64, 48), speed_px_s=200.0, duration_us=200_000, seed=0):
        rng = np.random.default_rng(seed)
        n = duration_us // 10
        t = np.sort(rng.integers(0, duration_us, n))
        t[0] = 0
        x = np.floor(8 + speed_px_s * t / 1e6).astype(int)
        keep = x < resolution[0]
        return Events(
            x=x[keep],
            y=rng.integers(0, resolution[1], n)[keep],
            t=5_000_000 + t[keep],
            p=np.ones(keep.sum(), bool),
            resolution=resolution,
        )

    return make
