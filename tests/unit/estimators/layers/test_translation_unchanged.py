"""The search for many motions leaves estimates with a given translation as they are without it."""

import numpy as np
import pytest

import evcrisp
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.estimate import as_window
from evcrisp.motion import Translation

SCENES = {
    "shapes": {"theta": (300.0, -120.0), "seed": 1},
    "dots": {"theta": (-150.0, 220.0), "texture": "dots", "seed": 2},
    "an object": {"theta": (120.0, -60.0), "object_theta": (-250.0, 100.0), "seed": 3},
    "much noise": {
        "theta": (200.0, 90.0), "texture": "checkerboard", "noise_hz": 20.0, "seed": 4,
    },
    "noise only": {"theta": (0.0, 0.0), "noise_hz": 50.0, "seed": 5},
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_translation_is_that_of_the_plain_method(name):
    base = {"resolution": (173, 130), "duration_us": 30_000, "noise_hz": 5.0}
    events = evcrisp.simulate(**(base | SCENES[name])).events.with_signal(None)
    result = evcrisp.estimate(events, motion="translation")
    plain = AutoRegret().run(as_window(events), Translation())
    for field in ("theta", "signal", "score", "confidence", "aligned_x", "aligned_y", "w_map"):
        np.testing.assert_array_equal(getattr(result, field), getattr(plain, field))
    assert result.layer_map is None
