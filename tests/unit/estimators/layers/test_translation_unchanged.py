"""The search for many motions leaves estimates with a given translation as they were."""

import hashlib

import numpy as np
import pytest

import evcrisp

#: Scene: settings, digest of its events, digest of the labels, number of signal events, and theta, as
#: they were before there were layers.
SCENES = {
    "shapes": ({"theta": (300.0, -120.0), "seed": 1}, "b13d78827331ce95", "85be72ade5adb2d9", 11111,
               (293.6288383366959, -119.93157141895271)),
    "dots": ({"theta": (-150.0, 220.0), "texture": "dots", "seed": 2}, "1c4d4227b334e588",
             "fd9b652d8bea66ad", 12289, (-146.8798559680315, 215.69612953123848)),
    "an object": ({"theta": (120.0, -60.0), "object_theta": (-250.0, 100.0), "seed": 3},
                  "a520fb8b024c1c58", "1f6742b195b46595", 9070,
                  (-241.51497535903266, 96.8837391490012)),
    "much noise": ({"theta": (200.0, 90.0), "texture": "checkerboard", "noise_hz": 20.0, "seed": 4},
                   "b47be3f17d832918", "0df7f86726548a91", 37136,
                   (193.50514848749503, 91.79184646651115)),
    "noise only": ({"theta": (0.0, 0.0), "noise_hz": 50.0, "seed": 5}, "ac53b25910505a65",
                   "8cc80ce9386c2ddb", 41, (45.79191089247341, 58.16477763785247)),
}  # fmt: skip


def digest(*columns):
    content = b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
    return hashlib.sha256(content).hexdigest()[:16]


@pytest.mark.parametrize("name", SCENES)
def test_translation_is_as_before(name):
    settings, of_events, of_labels, n_signal, theta = SCENES[name]
    base = {"resolution": (173, 130), "duration_us": 30_000, "noise_hz": 5.0}
    events = evcrisp.simulate(**(base | settings)).events.with_signal(None)
    assert digest(events.x, events.y, events.t, events.p) == of_events
    result = evcrisp.estimate(events, motion="translation")
    # Equal to the last bit where it was recorded; another processor may round differently.
    np.testing.assert_allclose(result.theta, theta, rtol=1e-9)
    assert int(result.signal.sum()) == n_signal
    assert digest(result.signal) == of_labels
    assert result.layer_map is None
