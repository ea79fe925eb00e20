"""Metrics of labels: known values, empty classes, curves."""

import math

import numpy as np
import pytest

from evcrisp import EventDataError
from evcrisp.metrics import (
    Confusion,
    confusion,
    rank_auc,
    roc_curve,
    sensitivity,
    specificity,
    sweep_curve,
)


def counts(tp, fn, fp, tn):
    return Confusion(signal_kept=tp, signal_dropped=fn, noise_kept=fp, noise_dropped=tn)


def test_confusion_counts():
    signal = [1, 1, 1, 0, 0, 0, 0]
    truth = [1, 1, 0, 1, 0, 0, 0]
    assert confusion(signal, truth) == counts(2, 1, 1, 3)


def test_rates_known_values():
    found = counts(90, 10, 20, 60)
    assert found.retention == 110 / 180
    assert found.sensitivity == 0.9
    assert found.specificity == 0.75
    assert found.precision == 90 / 110
    assert found.accuracy == 150 / 180
    assert found.f1 == 180 / 210
    assert found.denoising_accuracy == 0.825
    assert found.snr == 4.5
    assert found.snr_db == pytest.approx(6.532125)
    assert (found.psr, found.pnr) == (90.0, 25.0)
    assert found.as_dict()["f1"] == found.f1


def test_rates_of_empty_classes_are_nan():
    no_signal, no_noise, nothing = counts(0, 0, 3, 4), counts(3, 4, 0, 0), counts(0, 0, 0, 0)
    for name in ("sensitivity", "f1", "denoising_accuracy", "psr"):
        assert math.isnan(getattr(no_signal, name)), name
    for name in ("specificity", "denoising_accuracy", "pnr"):
        assert math.isnan(getattr(no_noise, name)), name
    assert all(math.isnan(value) for value in list(nothing.as_dict().values())[4:])
    assert math.isnan(counts(0, 5, 0, 5).precision)
    assert counts(0, 5, 0, 5).f1 == 0.0


def test_snr_can_be_infinite():
    assert counts(5, 0, 0, 5).snr == math.inf
    assert counts(5, 0, 0, 5).snr_db == math.inf
    assert counts(0, 5, 5, 0).snr == 0.0
    assert counts(0, 5, 5, 0).snr_db == -math.inf
    assert math.isnan(counts(0, 5, 0, 5).snr)
    assert math.isnan(counts(0, 5, 0, 5).snr_db)


def test_negative_counts_raise():
    with pytest.raises(EventDataError, match="0 or more"):
        counts(1, -1, 0, 0)


def test_unequal_lengths_raise():
    with pytest.raises(EventDataError, match="differ"):
        confusion([1, 0], [1])
    with pytest.raises(EventDataError, match="differ"):
        roc_curve([0.1, 0.2], [1])


def test_scores_must_be_numbers():
    with pytest.raises(EventDataError, match=r"score\[1\] is NaN"):
        rank_auc(np.array([0.0, np.nan]), [True, False])
    with pytest.raises(EventDataError, match="must be numbers"):
        roc_curve(["a", "b"], [True, False])
    assert rank_auc(np.array([-np.inf, np.inf]), [False, True]) == 1.0


def test_roc_curve_has_every_threshold():
    curve = roc_curve([0.9, 0.8, 0.8, 0.1], [True, True, False, False])
    np.testing.assert_array_equal(curve.thresholds, [np.inf, 0.9, 0.8, 0.1])
    np.testing.assert_array_equal(curve.tpr, [0.0, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(curve.fpr, [0.0, 0.0, 0.5, 1.0])
    assert curve.auc == 0.875


def test_roc_curve_of_empty_class_is_nan():
    curve = roc_curve([0.5, 0.6], [True, True])
    assert np.isnan(curve.fpr).all()
    assert not np.isnan(curve.tpr).any()
    assert math.isnan(curve.auc)
    assert math.isnan(roc_curve([], []).auc)
    assert roc_curve([], []).thresholds.tolist() == [np.inf]


def test_monotone_sweep_is_closed_at_both_corners():
    rising = sweep_curve("tau_us", [1, 2], [0.2, 0.4], [0.6, 0.8])
    assert rising.is_monotone
    assert rising.auc == pytest.approx(0.06 + 0.14 + 0.54)
    falling = sweep_curve("threshold", [1, 2], [0.4, 0.2], [0.8, 0.6])
    assert falling.is_monotone
    assert falling.auc == pytest.approx(rising.auc)


def test_non_monotone_sweep_is_not_closed():
    curve = sweep_curve("tau_us", [1, 2, 3], [0.2, 0.4, 0.5], [0.6, 0.8, 0.7])
    assert not curve.is_monotone
    assert curve.auc == pytest.approx(0.14 + 0.075)


def test_sweep_needs_two_points_and_name():
    assert math.isnan(sweep_curve("tau_us", [1], [0.2], [0.6]).auc)
    assert math.isnan(sweep_curve("tau_us", [], [], []).auc)
    with pytest.raises(EventDataError, match="must name the swept parameter"):
        sweep_curve("", [1], [0.2], [0.6])
    with pytest.raises(EventDataError, match="one length"):
        sweep_curve("tau_us", [1, 2], [0.2], [0.6])
    with pytest.raises(EventDataError, match=r"`tpr` must lie in 0..1"):
        sweep_curve("tau_us", [1], [0.2], [60.0])


def test_sweep_of_empty_class_has_nan_area():
    assert math.isnan(sweep_curve("tau_us", [1, 2], [np.nan, np.nan], [0.2, 0.6]).auc)


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
