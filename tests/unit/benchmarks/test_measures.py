"""Measures and targets of the benchmarks, on figures that are known."""

import math

import numpy as np
import pytest
from benchmarks.quality.label_measures import (
    digest,
    label_measures,
    motion_measures,
    worst_object,
)
from benchmarks.quality.targets import Target

import evcrisp


def test_rates_of_labels():
    truth = np.array([True, True, True, True, False, False])
    labels = np.array([True, True, True, False, False, True])
    found = label_measures(labels.astype(float), labels, truth)
    assert found["sensitivity"] == 0.75
    assert found["specificity"] == 0.5
    assert found["balanced_accuracy"] == 0.625
    assert found["auc"] == 0.625


def test_worst_object_leaves_out_noise_and_small_objects():
    objects = np.repeat([0, 1, 2, 255], [300, 300, 100, 400]).astype(np.uint8)
    labels = np.ones(objects.size, bool)
    labels[:30] = False  # a tenth of object 0
    labels[600:] = False  # all of the small object, and all noise
    assert worst_object(labels, objects) == (0, 0.9)
    number, kept = worst_object(labels, objects, n_least=1000)
    assert number == -1
    assert math.isnan(kept)


def test_motion_errors_count_where_the_truth_is_known():
    truth = np.array([[100.0, 0.0], [0.0, 200.0], [np.nan, np.nan]])
    found = np.array([[100.0, 50.0], [np.nan, np.nan], [900.0, 900.0]])
    errors = motion_measures(found, truth, duration_s=0.02)
    assert errors["error_px"] == pytest.approx(2.5)  # 1 px, and 4 px for no motion at all
    assert errors["share_above_3_px"] == 0.5


def test_digest_tells_results_apart():
    events = evcrisp.simulate(resolution=(64, 48), duration_us=20_000, noise_hz=5.0, seed=1).events
    results = [evcrisp.estimate(events, motion=motion) for motion in ("translation", "similarity")]
    again = [evcrisp.estimate(events, motion=motion) for motion in ("translation", "similarity")]
    assert [digest(one) for one in results] == [digest(one) for one in again]
    assert digest(results[0]) != digest(results[1])


@pytest.mark.parametrize(
    ("limits", "value", "holds"),
    [
        ({"least": 0.9}, 0.9, True),
        ({"least": 0.9}, 0.89, False),
        ({"most": 0.5}, 0.5, True),
        ({"most": 0.5}, 0.51, False),
        ({"least": 0.9}, math.nan, False),
        ({"most": 0.5}, math.nan, False),
    ],
)
def test_targets_hold_at_their_limit_and_never_without_a_figure(limits, value, holds):
    target = Target(name="figure", value=value, **limits)
    assert target.holds is holds
    assert target.as_dict()["holds"] is holds
    assert set(target.as_dict()) == {"name", "value", "holds", *limits}
