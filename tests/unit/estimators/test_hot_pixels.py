"""Detection of hot pixels."""

import numpy as np

from evcrisp import Events, simulate
from evcrisp.estimators.hot_pixels import hot_events

RESOLUTION = (120, 90)


def test_hot_pixel_is_detected_and_edge_is_not():
    n = 4000
    rng = np.random.default_rng(6)
    x, y = rng.integers(30, 33, n), rng.integers(0, 90, n)  # an edge: 15 events per pixel
    x[:200], y[:200] = 77, 11
    events = Events(x=x, y=y, t=np.arange(n), p=x > 30, resolution=RESOLUTION)
    hot = hot_events(events)
    assert hot[:200].all()
    assert not hot[200:].any()


def test_clean_scenes_have_no_hot_pixels():
    for texture in ("shapes", "rocks", "dots", "checkerboard"):
        scene = simulate(texture=texture, resolution=RESOLUTION, duration_us=30_000, contrast=50.0)
        assert not hot_events(scene.events).any()
