"""Layers that do not describe the motion carry a warning."""

import numpy as np
import pytest

from evcrisp import Events, Window, estimate
from evcrisp.estimators.layers.motion_finder import POORLY_EXPLAINED


@pytest.mark.parametrize("period_us", [8_000, 30_000])
def test_a_dot_that_circles_within_the_window_is_doubtful(period_us):
    rng = np.random.default_rng(1)
    n = 20_000
    t = np.sort(rng.integers(0, 30_000, n))
    angle = 2.0 * np.pi * t / period_us
    x = 80.0 + 45.0 * np.cos(angle) + rng.normal(0.0, 1.5, n)
    y = 60.0 + 45.0 * np.sin(angle) + rng.normal(0.0, 1.5, n)
    events = Events(
        x=x.round().astype(int), y=y.round().astype(int), t=t, p=rng.random(n) < 0.5,
        resolution=(160, 120),
    )  # fmt: skip
    result = estimate(Window(events, 0, 30_000), motion="layers")
    assert POORLY_EXPLAINED in result.warnings
