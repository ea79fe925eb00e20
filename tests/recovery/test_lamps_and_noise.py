"""Labels of lamps that flash, of hot pixels beside them, and of noise alone."""

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


def lamp(rng, center, radius_px, rate_hz, length_us):
    """Yield the flashes of a disc, of kind 2: ON as it lights up, OFF half a period later."""
    dy, dx = np.mgrid[-radius_px : radius_px + 1, -radius_px : radius_px + 1]
    inside = dx**2 + dy**2 <= radius_px**2 + 0.5
    x, y = center[0] + dx[inside], center[1] + dy[inside]
    period_us = 1e6 / rate_hz
    first = rng.uniform(0, period_us)
    for k in range(2 * int(length_us / period_us) + 2):
        for _ in range(2):
            fires = rng.random(x.size) < 0.85
            n = int(fires.sum())
            t = first + (k - 1) * 0.5 * period_us + np.abs(rng.normal(0.0, 150.0, n))
            yield x[fires], y[fires], t, np.full(n, k % 2), np.full(n, 2)


def hot_pixels(rng, length_us, n_pixels=10):
    """Yield pixels that fire at random or regularly, of kind 3."""
    for k in range(n_pixels):
        rate_hz = np.exp(rng.uniform(*np.log((600, 3000))))
        t = np.arange(rng.uniform(0, 1e6 / rate_hz), length_us, 1e6 / rate_hz)
        t = t if k % 2 else rng.uniform(0, length_us, t.size)
        x, y = rng.integers(100, 150), rng.integers(5, 115)
        yield np.full(t.size, x), np.full(t.size, y), t, np.arange(t.size) % 2, np.full(t.size, 3)


@pytest.mark.parametrize("length_us", [20_000, 60_000])
@pytest.mark.parametrize(("radius_px", "rate_hz"), [(2, 50), (2, 1000), (5, 100), (12, 300)])
@pytest.mark.parametrize("moves", [True, False])
def test_lamps_are_kept_and_hot_pixels_dropped(moves, radius_px, rate_hz, length_us):
    rng = np.random.default_rng(radius_px)
    columns = [noise(rng, 2.0, length_us)]
    if moves:
        events = evcrisp.simulate(
            resolution=SIZE, theta=(250.0, -100.0), duration_us=length_us, seed=1
        ).events
        columns.append((events.x, events.y, events.t, events.p, np.ones(len(events), np.int64)))
    for center in ((30, 40), (70, 80)):
        columns += lamp(rng, center, radius_px, rate_hz, length_us)
    columns += hot_pixels(rng, length_us)
    window, kind = window_of(columns, length_us)
    signal = evcrisp.estimate(window).signal
    assert signal[kind == 2].mean() >= 0.9
    assert signal[kind == 3].mean() <= 0.1
    assert signal[kind == 0].mean() <= 0.12


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
