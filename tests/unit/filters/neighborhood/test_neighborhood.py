"""Filters that look at the last events of neighboring pixels, on events labeled by hand."""

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.filters import denoise


@pytest.mark.parametrize("name", ["baf", "stcf", "knoise", "density", "padala"])
def test_hot_pixel_does_not_pass_by_itself(name):
    events = Events(x=[4] * 50, y=[4] * 50, t=range(50), p=[1] * 50, resolution=(9, 9))
    assert denoise(events, name).signal.sum() == 0


def test_stcf_drops_pairs_of_shot_noise():
    events = Events(
        x=[4, 5, 4, 4], y=[4, 4, 4, 4], t=[0, 10, 500, 900], p=[1, 0, 0, 0], resolution=(9, 9)
    )
    plain = {"tau_us": 5000, "k": 1}
    assert denoise(events, "stcf", **plain).signal.tolist() == [0, 0, 1, 1]
    assert denoise(events, "stcf", **plain, pair_us=600).signal.tolist() == [0, 0, 0, 1]


def test_score_decreases_with_age_of_neighbor():
    events = Events(x=[4, 5, 4, 5], y=[4] * 4, t=[0, 100, 2100, 7100], p=[1] * 4, resolution=(9, 9))
    labels = denoise(events, "baf", tau_us=2000)
    np.testing.assert_allclose(labels.score, [0, 2000 / 2100, 0.5, 2000 / 7000])


def test_activity_counts_neighbor_of_age_tau():
    events = Events(x=[2, 3], y=[1, 1], t=[0, 10_000], p=[1, 0], resolution=(5, 4))
    assert denoise(events, "activity").signal.tolist() == [0, 1]
    assert denoise(events, "activity", tau_us=9_999).signal.tolist() == [0, 0]
