"""Fixtures: one small scene with the data of every figure."""

import numpy as np
import pytest

import evcrisp
from evcrisp.metrics import roc_curve, sweep_curve
from evcrisp.simulation import ObjectConfig

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture(scope="session")
def scene():
    return evcrisp.simulate(
        resolution=(64, 48), theta=(300.0, -100.0), duration_us=30_000, noise_hz=20.0, seed=3
    )


@pytest.fixture(scope="session")
def estimate(scene):
    return evcrisp.estimate(evcrisp.Window(scene.events, 0, 30_000))


@pytest.fixture(scope="session")
def objects():
    """Return two objects that move against each other before a still background."""
    moving = {"size": (0.36, 0.5), "texture": "shapes"}
    return evcrisp.simulate(
        resolution=(160, 120), theta=(0.0, 0.0), duration_us=60_000, noise_hz=3.0, seed=5,
        contrast=2.5, objects=(
            ObjectConfig(theta=(320.0, 40.0), center=(0.25, 0.45), **moving),
            ObjectConfig(theta=(-320.0, -60.0), center=(0.75, 0.55), **moving),
        ),
    )  # fmt: skip


@pytest.fixture(scope="session")
def many(objects):
    """Return the estimate of a window with two layers."""
    events = objects.events.between(30_000, 60_000)
    return evcrisp.estimate(evcrisp.Window(events, 30_000, 60_000))


@pytest.fixture(scope="session")
def front(scene):
    window = evcrisp.Window(scene.events, 0, 30_000)
    return evcrisp.pareto_front(window, scene.motion, n_points=6)


@pytest.fixture(scope="session")
def turning():
    scene = evcrisp.simulate(
        resolution=(64, 48), motion="rotation", theta=(0.2, -0.8, 0.5), duration_us=60_000, seed=4
    )
    windows = evcrisp.Windowing(window_us=20_000)
    return scene, list(evcrisp.track(scene.events, motion="rotation", windowing=windows))


@pytest.fixture(scope="session")
def figure_data(scene, estimate, many, front, turning):
    """Return the data of every kind of figure."""
    events = scene.events
    labels = {"raw": np.ones(len(events), bool), "auto": estimate.signal}
    curves = {
        "auto": roc_curve(estimate.score, events.signal),
        "sweep": sweep_curve("tau_us", [1, 2, 3], [0.1, 0.2, 0.6], [0.5, 0.8, 0.9]),
    }
    return {
        "scatter": {"events": events, "labels": labels},
        "outcomes": {"events": events, "labels": labels},
        "aligned": {"estimate": estimate},
        "layers": {"estimate": many},
        "flow": {"flow": many.flow()},
        "xyt": {"events": events, "signal": estimate.signal},
        "maps": {"estimate": estimate},
        "w": {"estimate": estimate},
        "intro": {"estimate": estimate},
        "roc": {"curves": curves, "points": {"auto": (0.1, 0.9)}},
        "pareto": {"front": front},
        "tradeoff": {"front": front},
        "motion": {"estimates": turning[1], "imu": turning[0].imu},
        "levels": {"levels": [1.0, 5.0, 10.0], "values": {"auto": [0.99, 0.97, 0.9]}},
    }
