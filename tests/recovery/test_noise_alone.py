"""Labels of noise alone: at most a tenth is kept."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, Window

SIZE = (160, 120)


def window_of(columns, length_us, resolution=SIZE):
    """Return a window, and the kind of each event, of columns (x, y, t, p, kind)."""
    x, y, t, p, kind = (np.concatenate(part) for part in zip(*columns, strict=True))
    t = t.astype(np.int64)
    chosen = np.flatnonzero((t >= 0) & (t < length_us))
    chosen = chosen[np.argsort(t[chosen], kind="stable")]
    x, y, t, p, kind = (column[chosen] for column in (x, y, t, p, kind))
    return Window(Events(x=x, y=y, t=t, p=p > 0, resolution=resolution), 0, length_us), kind


def noise(rng, rate_hz, length_us, resolution=SIZE):
    """Return uniform noise, of kind 0."""
    n = rng.poisson(rate_hz * 1e-6 * length_us * resolution[0] * resolution[1])
    places = (rng.integers(0, side, n) for side in resolution)
    return *places, rng.integers(0, length_us, n), rng.integers(0, 2, n), np.zeros(n, np.int64)


@pytest.mark.parametrize(
    ("resolution", "length_us", "rate_hz"),
    [
        ((64, 64), 5_000, 5.0), ((64, 64), 5_000, 20.0), ((64, 64), 30_000, 5.0),
        ((64, 64), 200_000, 50.0), ((128, 128), 5_000, 5.0), ((346, 260), 30_000, 5.0),
    ],
)  # fmt: skip
def test_at_most_a_tenth_of_noise_alone_is_kept(resolution, length_us, rate_hz):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        window, _ = window_of([noise(rng, rate_hz, length_us, resolution)], length_us, resolution)
        assert evcrisp.estimate(window).signal.mean() <= 0.1


@pytest.mark.parametrize("rate_hz", [20.0, 50.0])
def test_at_most_a_tenth_of_noise_is_kept_that_is_dense_at_one_side(rate_hz):
    """20 times as dense at the right side as at the left one, where alone samples are quiet."""
    resolution, length_us = (128, 128), 200_000
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y, t, p, kind = noise(rng, 3.15 * rate_hz, length_us, resolution)
        chosen = rng.random(x.size) < 20.0 ** (x / resolution[0] - 1.0)
        columns = tuple(column[chosen] for column in (x, y, t, p, kind))
        window, _ = window_of([columns], length_us, resolution)
        assert evcrisp.estimate(window).signal.mean() <= 0.1
