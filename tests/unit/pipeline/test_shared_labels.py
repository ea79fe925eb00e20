"""Overlapping windows label the events that they share by the confidence of all of them."""

import itertools

import numpy as np
import pytest

import evcrisp
from evcrisp import Windowing
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.protocol import session_of
from evcrisp.pipeline.label_merging import merge_labels
from evcrisp.pipeline.shared_labels import MARGIN
from evcrisp.pipeline.tracking import Tracker
from evcrisp.simulation import ObjectConfig

SIZE = (120, 90)
THINGS = (
    ObjectConfig(theta=(-300, 150), center=(0.4, 0.3), size=(0.4, 0.5), texture="dots"),
    ObjectConfig(theta=(250, 200), center=(0.55, 0.5), size=(0.4, 0.5), texture="dots"),
)


def scene(objects=(), seed=4):
    return evcrisp.simulate(
        resolution=SIZE, theta=(0, 0) if objects else (300, 90), objects=objects,
        duration_us=90_000, noise_hz=6.0, seed=seed,
    ).events  # fmt: skip


def alone(events, windows):
    """Return the estimates of the method itself, before windows are combined."""
    estimator = AutoRegret()
    model = model_for("auto", SIZE, None, estimator)
    session = session_of(estimator, SIZE)
    history = Tracker(estimator, model, SIZE)._hot_pixels
    return [session.run(w, model, None, history.mark(w)) for w in windows]


@pytest.mark.parametrize("objects", [(), THINGS])
@pytest.mark.parametrize("overlap", [0.5, 0.75])
def test_labels_follow_from_the_mean_confidence(objects, overlap):
    events = scene(objects)
    results = list(evcrisp.track(events, windowing=Windowing(window_us=30_000, overlap=overlap)))
    single = alone(events, [result.window for result in results])
    n_changed = n_kept = 0
    sums, counts = np.zeros(len(events)), np.zeros(len(events))
    labels = np.zeros(len(events), bool)
    for result, own in zip(results, single, strict=True):
        here = slice(result.window.index, result.window.index + len(result))
        np.testing.assert_array_equal(result.theta, own.theta)
        sums[here] += own.confidence
        counts[here] += 1
        mean, is_first = sums[here] / counts[here], counts[here] == 1
        # A label changes if the mean is clearly on the other side.
        limit = np.where(is_first, 0.5, np.where(labels[here], 0.5 - MARGIN, 0.5 + MARGIN))
        clear = np.abs(mean - limit) > 1e-9
        np.testing.assert_array_equal(result.signal[clear], (mean >= limit)[clear])
        np.testing.assert_array_equal(result.signal, result.confidence >= 0.5)
        is_moved = result.signal != (mean >= 0.5)
        np.testing.assert_allclose(result.confidence, np.where(is_moved, 0.5, mean), atol=1e-9)
        n_kept += np.count_nonzero(is_moved)
        labels[here] = result.signal
        n_changed += np.count_nonzero(result.signal != own.signal)
    assert n_changed > 0
    assert n_kept > 0
    final = np.concatenate([chunk.signal for chunk in merge_labels(results)])
    for result in results[::-1]:
        # The last window of an event has its label.
        n_later = next(
            (r.window.index for r in results if r.window.index > result.window.index), None
        )
        stop = len(events) if n_later is None else n_later
        part = slice(result.window.index, stop)
        if n_later is not None:
            np.testing.assert_array_equal(final[part], result.signal[: stop - result.window.index])


def test_layers_follow_the_labels():
    windowing = Windowing(window_us=30_000, overlap=0.5)
    results = list(evcrisp.track(scene(THINGS), windowing=windowing))
    layered = [result for result in results if result.layer_map is not None]
    assert layered
    for result in layered:
        np.testing.assert_array_equal(result.layer >= 0, result.signal)
        assert result.layer.max() < len(result.layer_motions)


@pytest.mark.parametrize("objects", [(), THINGS])
def test_windows_agree_on_shared_events(objects):
    """Two windows of which half is shared: 97 % of the labels are equal, more than alone."""
    events = scene(objects, seed=7)
    results = list(evcrisp.track(events, windowing=Windowing(overlap=0.5)))
    single = alone(events, [result.window for result in results])

    def agreement(estimates):
        n_equal = n = 0
        for before, after in itertools.pairwise(estimates):
            first = after.window.index - before.window.index
            shared = before.signal[first:], after.signal[: len(before) - first]
            n_equal += np.count_nonzero(shared[0] == shared[1])
            n += shared[0].size
        return n_equal / n

    assert agreement(results) > 0.97
    assert agreement(results) > agreement(single)


def test_windows_without_overlap_stay_as_they_are():
    events = scene()
    results = list(evcrisp.track(events, windowing=Windowing(window_us=30_000)))
    for result, own in zip(results, alone(events, [r.window for r in results]), strict=True):
        np.testing.assert_array_equal(result.signal, own.signal)
        np.testing.assert_array_equal(result.confidence, own.confidence)
