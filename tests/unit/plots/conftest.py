"""Fixtures: one small scene with the data of every figure."""

import numpy as np
import pytest

import evcrisp
from evcrisp.metrics import roc_curve, sweep_curve

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
def figure_data(scene, estimate, front, turning):
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
