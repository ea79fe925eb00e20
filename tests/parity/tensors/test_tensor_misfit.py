"""What translations leave unexplained in windows, on tensors, is that of the compiled kernels."""

from functools import lru_cache

import numpy as np
import pytest

import evcrisp
from evcrisp import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.auto.on_device.auto_batch import AutoBatch, DeviceOptions
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.layers.misfit import misfit_of
from evcrisp.estimators.layers.on_device.misfit import misfits_of
from evcrisp.estimators.view_frame import ViewFrame
from evcrisp.motion import Translation
from evcrisp.simulation import ObjectConfig
from evcrisp.tensors.scatter import Scatter

THING = ObjectConfig(theta=(-260.0, 90.0), size=(0.3, 0.4), texture="rocks")


@lru_cache
def windows():
    """Return windows of one motion, of two, of a turn, of many events, and of noise."""
    scenes = [
        ({"theta": (90.0, 40.0), "noise_hz": 3.0}, (150, 111)),
        ({"theta": (90.0, 40.0), "objects": (THING,), "noise_hz": 3.0}, (173, 130)),
        ({"motion": "rotation", "theta": (0, 0, 9.0)}, (128, 96)),
        ({"theta": (150.0, 0.0), "texture": "rocks", "noise_hz": 60.0}, (240, 180)),
    ]
    out = []
    for seed, (settings, size) in enumerate(scenes):
        scene = evcrisp.simulate(duration_us=30_000, seed=seed, resolution=size, **settings)
        # The declared sensor is larger: only the rectangle of the events counts.
        events = evcrisp.Events(
            **{name: getattr(scene.events, name) for name in "xytp"}, resolution=(346, 260)
        )
        out.append(Window(events, 0, 30_000))
    rng = np.random.default_rng(0)
    x, y, p = rng.integers(0, 90, 3000), rng.integers(0, 70, 3000), rng.integers(0, 2, 3000) > 0
    noise = evcrisp.Events(x=x, y=y, t=np.arange(0, 30_000, 10), p=p, resolution=(346, 260))
    few = Window(noise[:30], 0, 300)
    return [*out, Window(noise, 0, 30_000), few]


def expected_of(window):
    frame = ViewFrame.of(window.events)
    return misfit_of(AutoRegret().run_both(frame.window(window), Translation(), None).by_motion)


@pytest.mark.parametrize("deterministic", [False, True])
def test_misfits(deterministic):
    options = DeviceOptions(deterministic=deterministic)
    found = AutoBatch(options=options).run(WindowBatch.of(windows(), Translation(), "cpu"))
    misfits = misfits_of(found, Scatter(deterministic))
    expected = [expected_of(window) for window in windows()]
    assert [one.is_large() for one in misfits] == [one.is_large() for one in expected]
    assert sum(one.is_large() for one in expected) >= 2
    for mine, wanted in zip(misfits, expected, strict=True):
        assert mine.unexplained == pytest.approx(wanted.unexplained, rel=1e-9)
        assert mine.misaligned == pytest.approx(wanted.misaligned, abs=1e-6)
        assert mine.spot == pytest.approx(wanted.spot, rel=1e-9)
    assert max(one.spot for one in expected) > 0.0
    assert max(one.misaligned for one in expected) > 0.3
