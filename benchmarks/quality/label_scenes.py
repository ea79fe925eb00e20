"""Scenes of `benchmarks.quality.labels_everywhere`: noise alone, parts of a sensor, and no clear motion.

Every scene has 60 ms of history before its window of 30 ms, for filters. Kinds of noise have one mean
rate per pixel:

uniform    in space, time and polarity
gradient   20 times as dense at the right side as at the left one
pairs      two neighbors within 1 ms
clusters   five events in 3x3 px within 2 ms, of one polarity; `mixed clusters`: of either
bursts     four events of one pixel within 4 ms
flashes    half of the noise in five moments of 1 ms
"""

from dataclasses import dataclass

import numpy as np

import evcrisp
from evcrisp.core.events import Events
from evcrisp.core.windows import Window

RESOLUTION = (346, 260)
HISTORY_US, WINDOW_US = 60_000, 30_000
TOTAL_US = HISTORY_US + WINDOW_US


@dataclass(frozen=True, slots=True, eq=False)
class LabelScene:
    """Events with history, their window, and the true labels."""

    events: Events
    signal: np.ndarray  # (n,) bool, of all events

    @property
    def window(self) -> Window:
        """The last 30 ms."""
        first = int(np.searchsorted(self.events.t, HISTORY_US))
        return Window(self.events[first:], HISTORY_US, TOTAL_US, index=first)

    @property
    def in_window(self) -> slice:
        """The events of the window."""
        return slice(self.window.index, len(self.events))


def scene_of(columns, signal, resolution=RESOLUTION):
    """Return a scene of events in any order; those outside the sensor or the time are dropped."""
    x, y, t, p = (np.asarray(column) for column in columns)
    inside = (x >= 0) & (x < resolution[0]) & (y >= 0) & (y < resolution[1])
    chosen = np.flatnonzero(inside & (t >= 0) & (t < TOTAL_US))
    chosen = chosen[np.argsort(t[chosen], kind="stable")]
    events = Events(
        x=x[chosen], y=y[chosen], t=t[chosen], p=p[chosen].astype(bool), resolution=resolution
    )
    return LabelScene(events, np.asarray(signal)[chosen])


def uniform(rng, noise_hz, resolution=RESOLUTION):
    """Return x, y, t, p of uniform noise."""
    width, height = resolution
    n = rng.poisson(noise_hz * 1e-6 * TOTAL_US * width * height)
    return _anywhere(rng, n, resolution)


def gradient(rng, noise_hz, resolution=RESOLUTION):
    """Return noise that grows twentyfold from the left side to the right one."""
    x, y, t, p = uniform(rng, 2.0 * noise_hz, resolution)
    density = 20.0 ** (x / resolution[0])
    chosen = rng.random(x.size) < density / 20.0
    share = 0.5 / (density.mean() / 20.0)
    chosen &= rng.random(x.size) < min(share, 1.0)
    return x[chosen], y[chosen], t[chosen], p[chosen]


def pairs(rng, noise_hz, resolution=RESOLUTION):
    """Return pairs of neighbors within 1 ms."""
    x, y, t, p = uniform(rng, 0.5 * noise_hz, resolution)
    side = rng.integers(0, 4, x.size)
    x2, y2 = x + np.array([1, -1, 0, 0])[side], y + np.array([0, 0, 1, -1])[side]
    t2 = t + rng.integers(0, 1_000, t.size)
    return tuple(np.concatenate(both) for both in ((x, x2), (y, y2), (t, t2), (p, p)))


def clusters(rng, noise_hz, resolution=RESOLUTION, mixed=False):
    """Return clusters of five events in 3x3 px within 2 ms."""
    x, y, t, p = (np.repeat(one, 5) for one in uniform(rng, 0.2 * noise_hz, resolution))
    place = np.concatenate([rng.permutation(9)[:5] for _ in range(x.size // 5)] or [np.empty(0)])
    place = place.astype(np.int64)
    p = rng.integers(0, 2, p.size) if mixed else p
    return x + place % 3 - 1, y + place // 3 - 1, t + rng.integers(0, 2_000, t.size), p


def mixed_clusters(rng, noise_hz, resolution=RESOLUTION):
    """Return clusters of both polarities."""
    return clusters(rng, noise_hz, resolution, mixed=True)


def bursts(rng, noise_hz, resolution=RESOLUTION):
    """Return bursts of four events of one pixel within 4 ms."""
    x, y, t, p = (np.repeat(one, 4) for one in uniform(rng, 0.25 * noise_hz, resolution))
    return x, y, t + rng.integers(0, 4_000, t.size), p


def flashes(rng, noise_hz, resolution=RESOLUTION):
    """Return noise of which a half falls in moments of 1 ms, five in 30 ms."""
    x, y, t, p = uniform(rng, noise_hz, resolution)
    moments = np.sort(rng.integers(0, TOTAL_US, 15))
    chosen = rng.random(t.size) < 0.5
    t[chosen] = rng.choice(moments, int(chosen.sum())) + rng.integers(0, 1_000, int(chosen.sum()))
    return x, y, t, p


NOISE = {
    "uniform": uniform,
    "gradient": gradient,
    "pairs": pairs,
    "clusters": clusters,
    "mixed clusters": mixed_clusters,
    "bursts": bursts,
    "flashes": flashes,
}


def noise_alone(kind, noise_hz, seed, resolution=RESOLUTION):
    """Return a scene of noise alone."""
    columns = NOISE[kind](np.random.default_rng(seed), noise_hz, resolution)
    return scene_of(columns, np.zeros(columns[0].size, bool), resolution)


def region(share, noise_hz, seed):
    """Return uniform noise in a rectangle with a share of the view, somewhere on the sensor."""
    rng = np.random.default_rng(seed)
    size = [round(side * share**0.5) for side in RESOLUTION]
    left, top = (int(rng.integers(0, n - s + 1)) for n, s in zip(RESOLUTION, size, strict=True))
    x, y, t, p = uniform(rng, noise_hz, size)
    return scene_of((x + left, y + top, t, p), np.zeros(x.size, bool))


def with_noise(columns, kind, noise_hz, rng, resolution=RESOLUTION):
    """Return a scene of signal and noise."""
    noise = NOISE[kind](rng, noise_hz, resolution)
    both = [np.concatenate(pair) for pair in zip(columns, noise, strict=True)]
    return scene_of(both, np.arange(both[0].size) < columns[0].size, resolution)


def edge(speed_px_s, angle, rng, n_edges=1, distance_px=12.0):
    """Return x, y, t, p of straight edges that pass the middle; a bar has two of them.

    A pixel fires two or three times while an edge passes. The middle of the view is passed in the
    middle of the window.
    """
    width, height = RESOLUTION
    y, x = (v.ravel() for v in np.mgrid[0:height, 0:width])
    along = (x - width / 2) * np.cos(angle) + (y - height / 2) * np.sin(angle)
    parts = []
    for k in range(n_edges):
        place = along + (k - n_edges // 2) * distance_px
        passed = place / speed_px_s * 1e6 + HISTORY_US + 0.5 * WINDOW_US
        near = (passed > -10_000) & (passed < TOTAL_US + 10_000)
        for _ in range(3):
            fires = near & (rng.random(x.size) < 0.8)
            # An edge is blurred over about a pixel; the clock of pixels jitters.
            jitter = rng.normal(0.0, 0.4 / speed_px_s * 1e6 + 300.0, int(fires.sum()))
            t = (passed[fires] + jitter).astype(np.int64)
            parts.append((x[fires], y[fires], t, np.full(t.size, k % 2)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def checkers(velocity, period_px, rng):
    """Return x, y, t, p of a checkerboard in translation: edges along both axes."""
    width, height = RESOLUTION
    side, parts = 0.5 * period_px, []
    y, x = (v.ravel() for v in np.mgrid[0:height, 0:width])
    seconds = 1e-6 * TOTAL_US
    for own, other, v, w in ((x, y, *velocity), (y, x, *velocity[::-1])):
        first, last = sorted((0.0, abs(v) * seconds))
        for k in range(int((last - first) // side) + 2):
            # Distance from the pixel to the next edge that comes to it, then to the one after it.
            ahead = np.mod(own if v > 0 else -own, side) + k * side
            passed = ahead / max(abs(v), 1e-9)
            place = own - v * passed
            parity = np.floor((other - w * passed) / side) + np.round(place / side)
            for _ in range(3):
                fires = (passed < seconds + 0.01) & (rng.random(x.size) < 0.8)
                jitter = rng.normal(0.0, 0.4 / max(abs(v), 1.0) * 1e6 + 300.0, int(fires.sum()))
                t = (1e6 * passed[fires] + jitter).astype(np.int64)
                parts.append((x[fires], y[fires], t, np.mod(parity[fires], 2).astype(np.int64)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def texture(name, period_px, theta, noise_hz, seed):
    """Return a scene of stripes or a checkerboard of a period, in translation."""
    scene = evcrisp.simulate(
        texture=name, feature_px=period_px / 2, theta=theta, duration_us=TOTAL_US,
        noise_hz=noise_hz, seed=seed, resolution=RESOLUTION, blur_px=0.5,
    )  # fmt: skip
    signal = np.asarray(scene.events.signal)
    plain = Events(
        x=scene.events.x, y=scene.events.y, t=scene.events.t, p=scene.events.p,
        resolution=RESOLUTION,
    )  # fmt: skip
    return LabelScene(plain, signal)


def _anywhere(rng, n, resolution):
    width, height = resolution
    return (
        rng.integers(0, width, n),
        rng.integers(0, height, n),
        rng.integers(0, TOTAL_US, n),
        rng.integers(0, 2, n),
    )
