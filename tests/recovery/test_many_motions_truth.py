"""The true motion of every layer aligns its events best: turning objects, fields, depth."""

import numpy as np
import pytest

from evcrisp.simulation import FIELDS, ObjectConfig, depth_layers, simulate

RESOLUTION = (160, 120)
WINDOW = (30_000, 60_000)
T_REF = 45_000
BASE = {"resolution": RESOLUTION, "duration_us": 60_000, "window_us": 30_000, "texture": "shapes"}

#: Perturbations of the true motion of a layer: displacement, px over the window, turn and growth.
CHANGES = [
    (3.0, 0.0, 0.0, 0.0),
    (-3.0, 0.0, 0.0, 0.0),
    (0.0, 3.0, 0.0, 0.0),
    (0.0, -3.0, 0.0, 0.0),
    (0.0, 0.0, 0.15, 0.0),
    (0.0, 0.0, -0.15, 0.0),
    (0.0, 0.0, 0.0, 0.15),
    (0.0, 0.0, 0.0, -0.15),
]


def in_window(simulation, layer):
    t = simulation.events.t
    return (simulation.object == layer) & (t >= WINDOW[0]) & (t < WINDOW[1])


def contrast(x, y):
    """Return the variance of the image of positions, with a margin for all."""
    bins, span = (200, 240), ((-40.5, 159.5), (-40.5, 199.5))
    return np.histogram2d(y, x, bins=bins, range=span)[0].var()


def perturbed(x, y, dt, change):
    """Return positions that are moved, turned and scaled over the window by a change."""
    vx, vy, turn, growth = (value / 0.03 for value in change)
    cx, cy = np.median(x), np.median(y)
    scale, angle = np.exp(growth * dt), turn * dt
    dx, dy = x - cx, y - cy
    return (
        cx + vx * dt + scale * (np.cos(angle) * dx - np.sin(angle) * dy),
        cy + vy * dt + scale * (np.sin(angle) * dx + np.cos(angle) * dy),
    )


def assert_truth_is_sharpest(simulation, layer, least_events=600):
    mine = in_window(simulation, layer)
    assert mine.sum() > least_events
    x, y = (column[mine] for column in simulation.aligned(T_REF))
    dt = (simulation.events.t[mine] - T_REF) * 1e-6
    sharp = contrast(x, y)
    assert sharp > 1.3 * contrast(simulation.events.x[mine], simulation.events.y[mine])
    for change in CHANGES:
        assert sharp > 1.02 * contrast(*perturbed(x, y, dt, change)), change


@pytest.mark.parametrize("theta", [(0.0, 0.0), (180.0, -90.0)])
def test_turning_objects_are_sharpest_at_their_true_motion(theta):
    objects = (
        ObjectConfig(
            motion="similarity", theta=(200.0, 80.0, 5.0, 2.0), center=(0.25, 0.3), size=(0.4, 0.5)
        ),
        ObjectConfig(
            motion="similarity", theta=(-200.0, -60.0, -6.0, -2.0), center=(0.72, 0.7),
            size=(0.4, 0.5), outline="rectangle",
        ),
    )  # fmt: skip
    simulation = simulate(**BASE, theta=theta, objects=objects, seed=3)
    for layer in (1, 2):
        assert_truth_is_sharpest(simulation, layer)
    if any(theta):
        assert_truth_is_sharpest(simulation, 0)
    else:
        assert not in_window(simulation, 0).any()


@pytest.mark.parametrize("name", FIELDS)
def test_fields_are_sharpest_at_their_true_motion(name):
    # Fewer px/s on a smaller sensor, hence all defaults fit.
    simulation = simulate(**{**BASE, "texture": "dots", "feature_px": 16.0}, field=name, seed=4)
    assert_truth_is_sharpest(simulation, 0)


def test_planes_at_depths_are_sharpest_at_their_true_motion():
    scene = depth_layers((6.0, 3.0, 2.0), (2.0, -0.6), textures=("shapes", "rocks", "rocks"))
    simulation = simulate(**{**BASE, **scene}, seed=5)
    for layer in (0, 1, 2):
        assert_truth_is_sharpest(simulation, layer, least_events=300)


def test_object_in_a_field_is_sharpest_at_its_own_motion():
    item = ObjectConfig(motion="similarity", theta=(-150.0, 90.0, 4.0, 1.0), size=(0.4, 0.5))
    simulation = simulate(**BASE, field="parallax", objects=(item,), seed=6)
    for layer in (0, 1):
        assert_truth_is_sharpest(simulation, layer)
        mine = in_window(simulation, layer)
        x, y = (column[mine] for column in simulation.aligned(T_REF))
        # Moving the events by the motion of the other layer is worse.
        events = simulation.events[mine]
        t_us = events.t + 0.5
        other = simulation.paths[1 - layer].move(
            events.x.astype(float), events.y.astype(float), t_us, np.full(t_us.size, T_REF)
        )
        assert contrast(x, y) > 1.3 * contrast(*other)
