"""Affine motions of layers and their fit."""

import numpy as np
import pytest

from evcrisp import Events, Window
from evcrisp.estimators.layers.fitting import (
    constant_motion,
    displacements,
    fit_motion,
    without_sliding,
)
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.motion import Affine, Translation
from evcrisp.search.window_data import WindowData

SIZE = (160, 120)
LENGTH_US = 30_000
MIDDLE = (79.5, 59.5)


def window_of(x, y, t, p=None):
    order = np.argsort(t, kind="stable")
    p = np.ones(len(t), bool) if p is None else p
    events = Events(
        x=np.rint(x[order]).astype(int), y=np.rint(y[order]).astype(int), t=t[order], p=p[order],
        resolution=SIZE,
    )  # fmt: skip
    data = WindowData.of(Window(events, 0, LENGTH_US), Translation())
    return LayerWindow.of(data, events, np.ones(len(events), bool))


def points_with(shift, n_points=70, n_each=20, seed=1):
    """Return a window of points that all move by a displacement, px per window."""
    rng = np.random.default_rng(seed)
    home = rng.uniform((15, 15), (145, 105), (n_points, 2)).repeat(n_each, axis=0)
    t = rng.integers(0, LENGTH_US, len(home))
    tau = t / LENGTH_US - 0.5
    x, y = (home + tau[:, None] * np.array(shift)).T
    return window_of(x, y, t)


def test_displacements_are_those_of_the_motion_model():
    motion = np.array([5.0, -3.0, 0.1, -0.2, 0.15, 0.05, 30.0, 40.0])
    x, y = np.random.default_rng(0).uniform(0, 100, (2, 50))
    moved = displacements(motion, x, y)
    model = Affine((30.0, 40.0))
    warped = model.warp(motion[:6], x, y, np.ones(50))
    np.testing.assert_allclose(np.stack((x, y)) - moved.T, warped, atol=1e-12)
    np.testing.assert_array_equal(
        displacements(constant_motion(np.array([2.0, 1.0]), MIDDLE), x, y), [[2.0, 1.0]] * 50
    )


@pytest.mark.parametrize("n_free", [2, 4, 6])
def test_fit_finds_the_displacement_of_points(n_free):
    shift = np.array([6.0, -4.0])
    window = points_with(shift)
    start = constant_motion(shift + np.array([1.0, -0.8]), MIDDLE)
    motion, value = fit_motion(
        window, np.arange(len(window)), start, n_free=n_free, scales=(4.0, 2.0)
    )
    x, y = window.x.astype(float), window.y.astype(float)
    off = displacements(motion, x, y) - shift
    # Measured over five seeds: at most 0.15.
    assert np.sqrt((off**2).sum(axis=1).mean()) < 0.3
    assert np.isfinite(value)
    if n_free == 2:
        np.testing.assert_array_equal(motion[2:6], 0.0)


def test_fit_that_leaves_its_start_is_refused():
    window = points_with((20.0, 0.0))
    start = constant_motion(np.array([9.0, 0.0]), MIDDLE)
    events = np.arange(len(window))
    motion, value = fit_motion(window, events, start, n_free=2, scales=(8.0, 4.0), n_steps=60)
    assert value == -np.inf
    np.testing.assert_array_equal(motion, start)


def edge(shift, seed=2, n=3000):
    """Return a window of one vertical edge."""
    rng = np.random.default_rng(seed)
    t = rng.integers(0, LENGTH_US, n)
    x = 70.0 + shift * (t / LENGTH_US - 0.5)
    return window_of(x, rng.uniform(20, 100, n), t)


@pytest.mark.parametrize(("other", "along"), [((1.0, 7.0), 7.0), (None, 0.0)])
def test_motion_along_an_edge_is_that_of_another_motion(other, along):
    window = edge(8.0)
    sliding = constant_motion(np.array([8.0, -5.0]), (70.0, 60.0))
    given = None if other is None else constant_motion(np.array(other), MIDDLE)
    fixed = without_sliding(window, np.arange(len(window)), sliding, given)
    np.testing.assert_allclose(fixed[:2], (8.0, along), atol=0.3)
    np.testing.assert_array_equal(fixed[2:], sliding[2:])


def test_motion_of_points_is_left_as_it_is():
    window = points_with((6.0, -4.0))
    motion = constant_motion(np.array([6.0, -4.0]), MIDDLE)
    fixed = without_sliding(window, np.arange(len(window)), motion, np.zeros(8))
    np.testing.assert_array_equal(fixed, motion)
