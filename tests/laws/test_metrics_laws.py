"""Laws of metrics, for random events, labels and scores."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp import Events
from evcrisp.metrics import (
    aocc,
    block_entropy,
    confusion,
    esr,
    flow_warp_loss,
    motion_error,
    random_chunks,
    random_subset,
    rank_auc,
    roc_curve,
)

seeds = st.integers(0, 2**32 - 1)
slicings = st.sampled_from([{"slice_events": 20}, {"slice_us": 4000}])


def some_events(seed, n=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 120)) if n is None else n
    width, height = (int(side) for side in rng.integers(1, 12, 2))
    return Events(
        x=rng.integers(0, width, n) // int(rng.integers(1, 4)),
        y=rng.integers(0, height, n),
        t=np.sort(rng.integers(0, 20_000, n)) + int(rng.integers(0, 2**40)),
        p=rng.integers(0, 2, n),
        resolution=(width, height),
    )


def with_columns(events, **columns):
    kept = {"x": events.x, "y": events.y, "t": events.t, "p": events.p}
    return Events(**{**kept, **columns}, resolution=events.resolution)


def cut(events, seed):
    places = np.sort(np.random.default_rng(seed).integers(0, len(events) + 1, 3)).tolist()
    return [events[a:b] for a, b in zip([0, *places], [*places, len(events)], strict=True)]


def some_scores(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    truth = rng.random(n) < rng.uniform(0.1, 0.9)
    truth[:2] = True, False
    return rng.integers(-5, 6, n) / 8.0, truth


@settings(max_examples=80, deadline=None)
@given(seeds, slicings)
def test_esr_ignores_polarity_start_and_cuts(seed, slicing):
    events = some_events(seed)
    expected = esr(events, **slicing)
    for other in (
        with_columns(events, p=~events.p),
        with_columns(events, t=events.t + 12_345),
        cut(events, seed),
    ):
        found = esr(other, **slicing)
        np.testing.assert_array_equal(found.slices.esr, expected.slices.esr)
        np.testing.assert_array_equal(found.slices.esr_v2, expected.slices.esr_v2)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_esr_ignores_order_within_slice(seed):
    events = some_events(seed)
    order = np.random.default_rng(seed).permutation(len(events))
    shuffled = with_columns(events, x=events.x[order], y=events.y[order])
    one, other = (esr(e, slice_events=len(events)) for e in (events, shuffled))
    assert (one.esr, one.esr_v2) == (other.esr, other.esr_v2)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_esr_is_unchanged_by_mirroring_and_larger_sensor(seed):
    events = some_events(seed)
    n = len(events)
    expected = esr(events, slice_events=n)
    mirrored = esr(with_columns(events, x=events.width - 1 - events.x), slice_events=n)
    assert mirrored.esr == pytest.approx(expected.esr, rel=1e-12)
    assert mirrored.esr_v2 == pytest.approx(expected.esr_v2, rel=1e-12)
    larger = Events(x=events.x, y=events.y, t=events.t, p=events.p, resolution=(40, 30))
    assert esr(larger, slice_events=n).esr == pytest.approx(expected.esr, rel=1e-12)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_esr_equals_its_factors_and_is_bounded(seed):
    slices = esr(some_events(seed), slice_events=20).slices
    np.testing.assert_allclose(slices.esr, np.sqrt(slices.ntss * slices.l_n))
    assert (slices.l_n <= slices.occupied + 1e-9).all()
    assert ((slices.ntss >= 0) & (slices.ntss <= 1)).all()


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_aocc_ignores_polarity_start_and_cuts(seed):
    events = some_events(seed)
    expected = aocc(events)
    for other in (
        with_columns(events, p=~events.p),
        with_columns(events, t=events.t + 12_345),
        cut(events, seed),
        with_columns(events, y=events.height - 1 - events.y),
    ):
        np.testing.assert_allclose(aocc(other).contrast, expected.contrast, rtol=1e-9, atol=1e-7)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_aocc_ignores_repeated_events(seed):
    events = some_events(seed)
    twice = np.repeat(np.arange(len(events)), 2)
    np.testing.assert_array_equal(aocc(events[twice]).contrast, aocc(events).contrast)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_block_entropy_is_bounded(seed):
    events = some_events(seed)
    n_blocks = math.ceil(events.width / 3) * math.ceil(events.height / 3)
    assert -1e-12 <= block_entropy(events, block_px=3) <= math.log2(n_blocks) + 1e-9


@settings(max_examples=80, deadline=None)
@given(seeds, st.floats(0, 1))
def test_random_subsets_have_exact_size_for_any_cuts(seed, share):
    events = some_events(seed)
    n_kept = round(share * len(events))
    indexed = with_columns(events, t=np.arange(len(events)))
    subset = random_subset(indexed, n_kept, seed=seed)
    assert len(subset) == n_kept
    assert subset.equals(indexed[subset.t])
    chunks = random_chunks(cut(indexed, seed), n_kept, n_total=len(events), seed=seed)
    assert Events.concatenate(chunks).equals(subset)


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_rank_auc_of_inverted_scores_or_truth(seed):
    score, truth = some_scores(seed)
    area = rank_auc(score, truth)
    assert rank_auc(1.0 - score, truth) == pytest.approx(1.0 - area, abs=1e-14)
    assert rank_auc(score, ~truth) == pytest.approx(1.0 - area, abs=1e-14)
    assert rank_auc(score**3, truth) == area
    assert rank_auc(score.astype(np.float32), truth) == area


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_roc_curve_rises_and_has_rank_auc(seed):
    score, truth = some_scores(seed)
    curve = roc_curve(score, truth)
    assert curve.auc == pytest.approx(rank_auc(score, truth), abs=1e-12)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert (curve.fpr[-1], curve.tpr[-1]) == (1.0, 1.0)
    k = np.random.default_rng(seed).integers(0, curve.thresholds.size)
    point = confusion(score >= curve.thresholds[k], truth)
    assert (point.sensitivity, 1.0 - point.specificity) == pytest.approx(
        (curve.tpr[k], curve.fpr[k]), abs=1e-12
    )


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_confusion_of_inverted_labels(seed):
    score, truth = some_scores(seed)
    signal = score > 0
    found, turned = confusion(signal, truth), confusion(~signal, truth)
    assert turned.denoising_accuracy == pytest.approx(1.0 - found.denoising_accuracy)
    assert turned.accuracy == pytest.approx(1.0 - found.accuracy)
    swapped = confusion(~signal, ~truth)
    assert swapped.sensitivity == found.specificity
    assert swapped.denoising_accuracy == pytest.approx(found.denoising_accuracy)
    assert confusion(truth, truth).denoising_accuracy == 1.0
    half = truth.size // 2
    parts = confusion(signal[:half], truth[:half]) + confusion(signal[half:], truth[half:])
    assert parts == found


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_motion_error_conventions_are_ordered(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, 2))
    error = motion_error(rng.normal(size=shape), rng.normal(size=shape))
    assert error.vector_rms == pytest.approx(math.sqrt(shape[1]) * error.pooled_rms)
    assert error.mean_axis_rms <= error.pooled_rms * (1 + 1e-12)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_fwl_without_warp_is_one(seed):
    events = some_events(seed)
    ratio = flow_warp_loss(events.x, events.y, events.x, events.y, events.resolution)
    assert ratio == 1.0 or math.isnan(ratio)
