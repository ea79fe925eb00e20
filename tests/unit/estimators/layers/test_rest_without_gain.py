"""Layers that do not align their events are at rest, and small things in much noise are not."""

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.core.windows import Window
from evcrisp.estimators.layers.competition import Competition
from evcrisp.estimators.layers.find_layers import at_rest_without_gain
from evcrisp.estimators.layers.fitting import constant_motion
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.motion import Translation
from evcrisp.search.window_data import WindowData

RESOLUTION, WINDOW_US = (346, 260), 40_000
SHIFT = np.array([-9.0, 4.0])  # px per window


def window_of(n_noise, n_points, seed=1):
    """Return a window of noise, and of points in a square of 40 px that move by `SHIFT`."""
    rng = np.random.default_rng(seed)
    tau = rng.uniform(-0.5, 0.5, n_points)
    points = rng.uniform((150.0, 100.0), (190.0, 140.0), (n_points // 12 + 1, 2))
    moved = points[rng.integers(0, len(points), n_points)] + tau[:, None] * SHIFT
    x, y = np.concatenate((moved.round().astype(int), rng.integers(0, RESOLUTION, (n_noise, 2)))).T
    t = np.concatenate((((tau + 0.5) * WINDOW_US).astype(int), rng.integers(0, WINDOW_US, n_noise)))
    order = np.argsort(t, kind="stable")
    p = rng.random(t.size) < 0.5
    p[:n_points] = True
    events = Events(x=x[order], y=y[order], t=t[order], p=p[order], resolution=RESOLUTION)
    data = WindowData.of(Window(events, 0, WINDOW_US), Translation())
    return LayerWindow.of(data, events.contiguous(), np.ones(len(events), np.bool_))


def everywhere(window, shift):
    """Return one motion that holds in all cells."""
    motion = constant_motion(np.asarray(shift), (172.5, 129.5))[None]
    label = np.zeros(window.cells_shape, np.int16)
    return Competition(motion, np.zeros((1, len(window)), np.float32), label)


@pytest.mark.parametrize("n_noise", [5_000, 80_000])
def test_a_small_thing_in_noise_keeps_its_motion(n_noise):
    window = window_of(n_noise, 3_000)
    assert at_rest_without_gain(window, everywhere(window, SHIFT)) is None


@pytest.mark.parametrize("shift", [(9.0, 4.0), (-9.0, -12.0), (25.0, 0.0)])
@pytest.mark.parametrize("n_noise", [5_000, 80_000])
def test_a_motion_that_aligns_nothing_is_at_rest(n_noise, shift):
    window = window_of(n_noise, 3_000)
    rest = at_rest_without_gain(window, everywhere(window, shift))
    assert rest is not None
    assert not rest[:, :6].any()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_noise_alone_all_motions_are_at_rest(seed):
    window = window_of(80_000, 12, seed)
    rest = at_rest_without_gain(window, everywhere(window, SHIFT))
    assert rest is not None
    assert not rest[:, :6].any()
