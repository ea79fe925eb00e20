"""Windows for tests of the search."""

import numpy as np
import pytest

from evcrisp import Events, Window, simulate
from evcrisp.motion import MOTION_MODELS, motion_model
from evcrisp.search.window_data import WindowData

RESOLUTION = (120, 90)

#: Runs a test with every motion model.
models = pytest.mark.parametrize("motion", list(MOTION_MODELS))


def data_of(motion="translation", **settings):
    scene = simulate(
        **{
            "resolution": RESOLUTION, "duration_us": 20_000, "seed": 1, "motion": motion,
            "noise_hz": 2.0, **settings,
        }
    )  # fmt: skip
    return scene, WindowData.of(Window(scene.events, 0, 20_000), scene.motion)


def moving_points(*thetas, n, per_point=24, resolution=(346, 260), seed=0):
    """Return 20 ms of ``n`` points per motion that fire at random times."""
    rng = np.random.default_rng(seed)
    parts = []
    for theta, n_points in zip(thetas, np.broadcast_to(n, len(thetas)), strict=True):
        t = rng.integers(0, 20_000, (n_points, per_point))
        positions = []
        for speed, size in zip(theta, resolution, strict=True):
            moved_px = abs(speed) * 0.02
            start = rng.uniform(-0.5 * moved_px, size + 0.5 * moved_px, n_points)[:, None]
            positions.append(np.rint(start + speed * (t - 10_000) / 1e6).ravel())
        parts.append((*positions, t.ravel()))
    x, y, t = (np.concatenate(column) for column in zip(*parts, strict=True))
    inside = (x >= 0) & (x < resolution[0]) & (y >= 0) & (y < resolution[1])
    order = np.flatnonzero(inside)[np.argsort(t[inside], kind="stable")]
    events = Events(
        x=x[order].astype(int), y=y[order].astype(int), t=t[order],
        p=np.ones(order.size, bool), resolution=resolution,
    )  # fmt: skip
    return WindowData.of(Window(events, 0, 20_000), motion_model("translation", resolution))
