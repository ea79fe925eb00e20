"""Contrast gain: the map of the method, and its laws."""

from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp.contrast import ContrastMap
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.contrast_gain import contrast_gain


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        theta=(300.0, -120.0), resolution=(120, 90), duration_us=30_000, noise_hz=5.0, seed=1
    ).events.with_signal(None)


def test_gain_is_that_of_the_map_of_the_method(scene):
    contrast = ContrastMap(footprint="bilinear", sigma_px=2.0)
    result = evcrisp.estimate(scene, Cmax(contrast=contrast))
    one = np.ones(len(scene))
    maps = [
        contrast.build(x.astype(float), y.astype(float), one, (120, 90))
        for x, y in ((result.aligned_x, result.aligned_y), (scene.x, scene.y))
    ]
    assert contrast_gain(result) == pytest.approx(maps[0].var() / maps[1].var())


def test_gain_of_no_motion_is_one(scene):
    result = evcrisp.estimate(scene, "auto", "translation")
    still = replace(
        result, theta=np.zeros(2), aligned_x=scene.x.astype(float), aligned_y=scene.y.astype(float)
    )
    assert contrast_gain(still) == pytest.approx(1.0)
    assert contrast_gain(result) > 1.5


def test_lens_alone_gives_no_gain(scene):
    camera = evcrisp.Camera(100.0, 100.0, 59.5, 44.5, (-0.2, 0.0, 0.0, 0.0, 0.0))
    result = evcrisp.estimate(scene, "cmax", "rotation", camera=camera)
    x, y = result.motion.warp(np.zeros(3), scene.x, scene.y, np.zeros(len(scene)))
    assert contrast_gain(
        replace(result, theta=np.zeros(3), aligned_x=x, aligned_y=y)
    ) == pytest.approx(1.0)


def test_window_without_motion_or_signal_has_no_gain(scene):
    assert np.isnan(contrast_gain(evcrisp.estimate(scene[:3])))
    result = evcrisp.estimate(scene, "cmax")
    assert np.isnan(contrast_gain(replace(result, signal=np.zeros(len(scene), bool))))
