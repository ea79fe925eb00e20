"""Filters separate signal from noise in scenes with known truth."""

import pytest

from evcrisp import simulate
from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc

#: Minimum AUC, sensitivity and specificity; each 0.03 below the measured value.
MINIMUM = {
    "baf": (0.91, 0.95, 0.70),
    "stcf": (0.94, 0.93, 0.90),
    "ynoise": (0.93, 0.91, 0.88),
    "ebf": (0.93, 0.93, 0.88),
    "pfd": (0.92, 0.84, 0.86),
    "pfdslices": (0.93, 0.92, 0.87),
    "density": (0.92, 0.94, 0.84),
    "ts": (0.93, 0.87, 0.90),
    "dwf": (0.78, 0.66, 0.75),
    "knoise": (0.71, 0.48, 0.94),
}

#: Minimum AUC.
MINIMUM_AUC = {
    "activity": 0.9, "stc": 0.7, "fastdecay": 0.85, "hashheat": 0.85, "evflow": 0.85, "red": 0.9,
    "iets": 0.9, "pugm": 0.95, "dbscan": 0.95,
}  # fmt: skip


@pytest.fixture(scope="module")
def events():
    return simulate(resolution=(240, 180), duration_us=200_000, noise_hz=5, seed=4).events


@pytest.fixture(scope="module")
def small_scene():
    return simulate(resolution=(200, 150), duration_us=200_000, noise_hz=5, seed=1).events


@pytest.mark.parametrize("name", sorted(MINIMUM))
def test_labels_and_scores_separate_signal_from_noise(events, name):
    labels = denoise(events, name)
    truth = events.signal
    auc, sensitivity, specificity = MINIMUM[name]
    assert rank_auc(labels.score, truth) > auc
    assert labels.signal[truth].mean() > sensitivity
    assert (~labels.signal[~truth]).mean() > specificity


@pytest.mark.parametrize("name", MINIMUM_AUC)
def test_scores_separate_signal_from_noise(small_scene, name):
    assert rank_auc(denoise(small_scene, name).score, small_scene.signal) > MINIMUM_AUC[name]


def test_trail_keeps_noise_rather_than_signal_by_design(small_scene):
    assert rank_auc(denoise(small_scene, "trail").score, small_scene.signal) < 0.4


def test_hashheat_with_one_projection_is_no_better_than_chance(small_scene):
    auc = rank_auc(denoise(small_scene, "hashheat", "jaer").score, small_scene.signal)
    assert 0.45 < auc < 0.55
