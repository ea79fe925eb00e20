"""On a scene whose truth is known, filters tell signal from noise."""

import numpy as np
import pytest

from evcrisp import simulate
from evcrisp.filters import denoise

#: Least share of pairs of a signal and a noise event that the score puts right, sensitivity and
#: specificity, each 0.03 below what was measured.
LEAST = {
    "baf": (0.91, 0.95, 0.70),
    "stcf": (0.94, 0.93, 0.90),
    "ynoise": (0.93, 0.91, 0.88),
    "density": (0.92, 0.94, 0.84),
    "ts": (0.93, 0.87, 0.90),
    "dwf": (0.78, 0.66, 0.75),
    "knoise": (0.71, 0.48, 0.94),
}


@pytest.fixture(scope="module")
def events():
    return simulate(resolution=(240, 180), duration_us=200_000, noise_hz=5, seed=4).events


def rightly_ordered(score, signal):
    noise = np.sort(score[~signal])
    below = np.searchsorted(noise, score[signal], "left")
    upto = np.searchsorted(noise, score[signal], "right")
    return (below + upto).mean() / (2 * noise.size)


@pytest.mark.parametrize("name", sorted(LEAST))
def test_scores_and_labels_find_the_signal(events, name):
    labels = denoise(events, name)
    truth = events.signal
    ordered, sensitivity, specificity = LEAST[name]
    assert rightly_ordered(labels.score, truth) > ordered
    assert labels.signal[truth].mean() > sensitivity
    assert (~labels.signal[~truth]).mean() > specificity
