import numpy as np
import pytest

from evcrisp import EventDataError
from evcrisp.metrics import rank_auc, sensitivity, specificity


def test_sensitivity_and_specificity_known_values():
    signal = np.array([1, 1, 0, 0, 1], bool)
    truth = np.array([1, 1, 1, 0, 0], bool)
    assert sensitivity(signal, truth) == 2 / 3
    assert specificity(signal, truth) == 1 / 2


def test_measures_of_empty_classes_are_nan():
    signal, ones, zeros = np.ones(3, bool), np.ones(3, bool), np.zeros(3, bool)
    assert np.isnan(sensitivity(signal, zeros))
    assert np.isnan(specificity(signal, ones))
    assert np.isnan(rank_auc(np.zeros(3), ones))
    assert np.isnan(rank_auc(np.zeros(3), zeros))


def test_rank_auc_equals_count_of_pairs():
    rng = np.random.default_rng(2)
    score, truth = rng.integers(0, 6, 80).astype(float), rng.random(80) < 0.4
    pairs = score[truth][:, None] - score[~truth][None, :]
    expected = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    np.testing.assert_allclose(rank_auc(score, truth), expected, rtol=1e-12)


def test_numbers_are_accepted_as_labels():
    assert sensitivity(np.array([1, 0, 1]), np.array([1, 0, 0])) == 1.0
    assert specificity([1, 0, 1], [1, 0, 0]) == 0.5
    with pytest.raises(EventDataError, match="differ"):
        sensitivity(np.ones(2, bool), np.ones(3, bool))
    with pytest.raises(EventDataError, match="differ"):
        rank_auc(np.ones(2), np.ones(3, bool))
