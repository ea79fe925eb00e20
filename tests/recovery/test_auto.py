"""The method "auto" recovers labels and motion of scenes with known truth."""

import logging

import numpy as np
import pytest

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.metrics import rank_auc, sensitivity, specificity
from evcrisp.motion import Rotation

#: Texture and theta of each motion model: a displacement of about 10 px within 30 ms.
SCENES = {
    "translation": ("shapes", (300.0, -160.0)),
    "rotation": ("dots", (0.5, -0.8, 0.6)),
    "similarity": ("star", (180.0, 90.0, 1.0, -1.0)),
    "affine": ("shapes", (200.0, -100.0, 1.0, -0.8, 1.2, 0.5)),
    "zoom": ("checkerboard", (3.0,)),
    "homography": ("dots", (0.4, -0.9, 1.0, 0.8, 0.3, -0.7, 0.3, -0.2)),
}


@pytest.mark.parametrize("noise_hz", [1.0, 10.0, 50.0])
@pytest.mark.parametrize("motion", SCENES)
def test_labels_and_motion_are_recovered(motion, noise_hz):
    texture, theta = SCENES[motion]
    scene = evcrisp.simulate(
        motion=motion,
        texture=texture,
        theta=theta,
        resolution=(240, 180),
        duration_us=30_000,
        window_us=30_000,
        noise_hz=noise_hz,
        seed=7,
    )
    result = AutoRegret().run(Window(scene.events, 0, 30_000), scene.motion)
    signal = np.asarray(scene.events.signal)
    assert rank_auc(result.score, signal) > 0.97
    kept, dropped = sensitivity(result.signal, signal), specificity(result.signal, signal)
    assert 0.5 * (kept + dropped) > 0.91
    assert min(kept, dropped) > 0.85
    assert scene.warp_error_px(result.theta, 0, 30_000) < 0.3


@pytest.mark.parametrize(
    ("name", "min_auc"),
    [("tubrip_shapes_rotation", 0.98), ("stppp_dynamic_rotation", 0.92)],
)
def test_noise_added_to_a_real_window_is_labeled(data_dir, caplog, name, min_auc):
    caplog.set_level(logging.ERROR)
    folder = data_dir / "ecd" / name
    events = evcrisp.read(folder / "events.txt.gz")
    rng = np.random.default_rng(0)
    n = len(events)
    t = np.concatenate((events.t, rng.integers(events.t[0], events.t[-1] + 1, n)))
    order = np.argsort(t, kind="stable")
    noisy = evcrisp.Events(
        x=np.concatenate((events.x, rng.integers(0, events.width, n)))[order],
        y=np.concatenate((events.y, rng.integers(0, events.height, n)))[order],
        t=t[order],
        p=np.concatenate((events.p, rng.integers(0, 2, n).astype(bool)))[order],
        resolution=events.resolution,
    )
    window = Window(noisy, int(noisy.t[0]), int(noisy.t[-1]) + 1)
    model = Rotation(evcrisp.Camera.from_file(folder / "calib.txt"))
    result = AutoRegret().run(window, model)
    assert rank_auc(result.score, order < n) > min_auc
    assert specificity(result.signal, order < n) > 0.88
