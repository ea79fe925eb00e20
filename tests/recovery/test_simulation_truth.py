"""Recover the true motion of a simulation from its events alone."""

import numpy as np
import pytest

from evcrisp import by_time
from evcrisp.core.camera import Camera
from evcrisp.core.windows import seconds_since
from evcrisp.motion import MOTION_MODELS
from evcrisp.motion.matrix import apply
from evcrisp.simulation import simulate
from evcrisp.simulation.scene import build_view

RESOLUTION = (160, 120)

#: Displacements of at least 10 px in a window of 50 ms.
THETAS = {
    "zoom": (3.0,),
    "translation": (250.0, -150.0),
    "rotation": (0.8, -1.6, 1.5),
    "rigid": (120.0, -80.0, 2.0),
    "similarity": (120.0, -80.0, 2.0, 1.5),
    "affine": (120.0, -80.0, 1.5, -2.0, 2.5, 1.0),
    "homography": (1.0, -1.8, 1.2, 2.2, 0.8, -0.9, 0.9, -0.6),
}


def contrast(simulation, theta, events, t_ref):
    """Return the variance of the image of warped events."""
    dt = seconds_since(events.t, t_ref)
    x, y = simulation.motion.warp(theta, events.x, events.y, dt)
    # A margin on all sides, so that no event is lost.
    image, *_ = np.histogram2d(y, x, bins=(200, 240), range=((-40.5, 159.5), (-40.5, 199.5)))
    return image.var()


def perturbations(simulation, theta, window):
    """Yield parameters with a warp error of 2 px, one changed at a time."""
    for change in np.eye(len(theta)):
        per_px = 0.01 / simulation.warp_error_px(theta + 0.01 * change, *window)
        yield theta - 2.0 * per_px * change
        yield theta + 2.0 * per_px * change


@pytest.mark.parametrize("texture", ["shapes", "rocks"])
@pytest.mark.parametrize("name", MOTION_MODELS)
def test_true_motion_gives_the_sharpest_image(name, texture):
    theta = THETAS[name]
    simulation = simulate(
        texture=texture, motion=name, theta=theta, resolution=RESOLUTION, duration_us=150_000,
        noise_hz=1.0, seed=2,
    )  # fmt: skip
    truth = simulation.motion_truth
    for k in range(len(truth)):
        window = int(truth.t_start[k]), int(truth.t_end[k])
        events, t_ref = simulation.events.between(*window), sum(window) // 2
        sharp = contrast(simulation, truth.theta[0, k], events, t_ref)
        assert sharp > 1.5 * contrast(simulation, np.zeros(len(theta)), events, t_ref)
        for other in perturbations(simulation, truth.theta[0, k], window):
            assert sharp > 1.05 * contrast(simulation, other, events, t_ref)


@pytest.mark.parametrize("trajectory", ["constant", "sine", "random"])
@pytest.mark.parametrize("name", [name for name in MOTION_MODELS if name != "rotation"])
def test_events_lie_on_edges_of_the_texture(name, trajectory):
    simulation = simulate(
        texture="shapes", motion=name, theta=THETAS[name], resolution=RESOLUTION, blur_px=0.0,
        duration_us=120_000, trajectory=trajectory, seed=3,
    )  # fmt: skip
    assert edge_share(simulation) == 1.0


def test_every_event_of_a_rotating_distorted_camera_lies_on_an_edge():
    camera = Camera(140.0, 138.0, 80.0, 58.0, (-0.25, 0.06, 1e-3, -5e-4, 0.0))
    simulation = simulate(
        texture="shapes", motion="rotation", theta=THETAS["rotation"], camera=camera, blur_px=0.0,
        resolution=RESOLUTION, duration_us=100_000, seed=3,
    )  # fmt: skip
    assert edge_share(simulation) == 1.0


def edge_share(simulation):
    """Return the share of events whose texel on the true path is next to an edge."""
    config, events = simulation.config, simulation.events
    assert len(events) > 1000
    view = build_view(config, simulation.motion)
    base = view.base[events.y.astype(int) * events.width + events.x]
    # Timestamps are rounded down; use the middle of the microsecond.
    matrices = simulation.paths[0].matrices(events.t + 0.5)
    u, v = apply(matrices, *base.T)
    column, row = np.floor(u + view.scene.offset[0]), np.floor(v + view.scene.offset[1])
    _, height, width = view.scene.clearance.shape
    clearance = view.scene.clearance[0, row.astype(int) % height, column.astype(int) % width]
    # One cell more: the level is interpolated between samples half a pixel apart.
    return float((clearance <= 1).mean())


def test_each_object_has_the_largest_contrast_at_its_own_motion():
    simulation = simulate(
        texture="shapes", theta=(250.0, -100.0), object_theta=(-200.0, 150.0),
        resolution=RESOLUTION, duration_us=50_000, seed=1,
    )  # fmt: skip
    for index, (own, other) in enumerate(
        [((250.0, -100.0), (-200.0, 150.0)), ((-200.0, 150.0), (250.0, -100.0))]
    ):
        events = simulation.events[simulation.object == index]
        assert len(events) > 1000
        sharp = contrast(simulation, own, events, 25_000)
        assert sharp > 1.5 * contrast(simulation, other, events, 25_000)


def test_object_hides_the_background():
    settings = {
        "texture": "rocks",
        "theta": (300.0, 0.0),
        "resolution": RESOLUTION,
        "duration_us": 30_000,
    }
    alone = simulate(**settings)
    # An object at rest has no events, but its outline uncovers the background.
    covered = simulate(**settings, object_theta=(0.0, 0.0))
    y, x = np.mgrid[0:120, 0:160]
    deep_inside = np.hypot((x - 80) / 32, (y - 60) / 30) < 0.85
    outside = np.hypot((x - 80) / 32, (y - 60) / 30) > 1.15
    events = covered.events
    assert not deep_inside[events.y, events.x].any()
    kept = events[outside[events.y, events.x]]
    free = alone.events[outside[alone.events.y, alone.events.x]]
    assert kept.with_signal(None).equals(free.with_signal(None))


def test_full_rotation_has_events_in_every_window():
    simulation = simulate(
        motion="rotation", theta=(0.0, 2 * np.pi, 0.3), resolution=(64, 48), duration_us=1_000_000,
        texture="rocks",
    )  # fmt: skip
    sizes = [len(window.events) for window in by_time(simulation.events, 50_000)]
    assert min(sizes) > 0.3 * max(sizes)


def test_varying_motion_is_sharper_with_the_theta_of_each_window():
    simulation = simulate(
        texture="shapes", trajectory="sine", theta=(300.0, 300.0), period_us=300_000,
        resolution=RESOLUTION, duration_us=300_000, window_us=20_000, seed=5,
    )  # fmt: skip
    truth = simulation.motion_truth
    gain = []
    for k in range(len(truth)):
        t_start, t_end = int(truth.t_start[k]), int(truth.t_end[k])
        window = simulation.events.between(t_start, t_end)
        t_ref = (t_start + t_end) // 2
        own = contrast(simulation, truth.theta[0, k], window, t_ref)
        gain.append(own / contrast(simulation, (0.0, 0.0), window, t_ref))
    assert min(gain) > 1.2
