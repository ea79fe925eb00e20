"""Compiled inputs and scores of the networks match their slow versions."""

import numpy as np
import pytest
from tests.oracles.filters import edncnn as edncnn_oracle
from tests.oracles.filters import mlpf as mlpf_oracle

from evcrisp.filters.learned.encoding import NEVER_US
from evcrisp.kernels.filters.learned import edncnn, mlpf

RESOLUTION = (11, 9)
TAU = 20_000
ENCODINGS = ("intended", "kugamas", "jaer")


@pytest.fixture
def weights():
    rng = np.random.default_rng(3)
    shapes = ((20, 98), (20,), (20,), ())
    return tuple(np.float32(0.3 * rng.standard_normal(shape)) for shape in shapes)


def columns(events):
    return events.x, events.y, events.t, events.p.view(np.uint8)


def blank_map():
    return np.full((RESOLUTION[0] + 6, RESOLUTION[1] + 6), mlpf.NEVER, np.int64)


def encoded(events, mode):
    last = blank_map()
    inputs = np.zeros((98, mlpf.ROW), np.float32)
    skip = np.zeros(mlpf.BLOCK, np.bool_)
    found, skipped = [], []
    for first in range(0, len(events), mlpf.BLOCK):
        part = columns(events[first : first + mlpf.BLOCK])
        mlpf.encode(*part, last, TAU, ENCODINGS.index(mode), inputs, skip)
        found.append(inputs[:, : part[0].size].T.copy())
        skipped.append(skip[: part[0].size].copy())
    return np.concatenate(found), np.concatenate(skipped)


@pytest.mark.parametrize("mode", ENCODINGS)
@pytest.mark.parametrize("n", [1, 150])
def test_mlpf_inputs_match_oracle(make_events, mode, n):
    events = make_events(n, resolution=RESOLUTION, duration_us=200 * n)
    inputs, skip = encoded(events, mode)
    expected, first = mlpf_oracle.encode(*columns(events), RESOLUTION, TAU, mode)
    np.testing.assert_allclose(inputs, expected, atol=1e-6)
    np.testing.assert_array_equal(skip, first)


@pytest.mark.parametrize("mode", ENCODINGS)
def test_age_of_tau_is_recent_only_for_kugamas(mode):
    x, y = np.array([[4, 4], [4, 5]], np.uint16)
    t, p = np.array([0, TAU]), np.ones(2, np.uint8)
    inputs = np.zeros((98, mlpf.ROW), np.float32)
    skip = np.zeros(mlpf.BLOCK, np.bool_)
    mlpf.encode(x, y, t, p, blank_map(), TAU, ENCODINGS.index(mode), inputs, skip)
    above = 49 + mlpf.CENTER - 1
    assert inputs[above, 1] == (1.0 if mode == "kugamas" else 0.0)


@pytest.mark.parametrize("mode", ENCODINGS)
def test_mlpf_scores_match_oracle(make_events, weights, mode):
    events = make_events(150, resolution=RESOLUTION, duration_us=30_000, seed=5)
    score = np.empty(len(events))
    mlpf.score_events(*columns(events), blank_map(), TAU, ENCODINGS.index(mode), weights, score)
    inputs, first = mlpf_oracle.encode(*columns(events), RESOLUTION, TAU, mode)
    hidden_kernel, hidden_bias, output_kernel, output_bias = weights
    expected = mlpf_oracle.forward(
        inputs, hidden_kernel.T, hidden_bias, output_kernel[:, None], output_bias
    )
    np.testing.assert_allclose(score, np.where(first, 0.0, expected), atol=1e-6)


def test_mlpf_score_is_independent_of_blocks(make_events, weights):
    events = make_events(2 * mlpf.BLOCK + 5, resolution=RESOLUTION, duration_us=30_000)
    whole, cut = np.empty(len(events)), np.empty(len(events))
    mlpf.score_events(*columns(events), blank_map(), TAU, 0, weights, whole)
    last = blank_map()
    for part in (slice(0, 3), slice(3, 140), slice(140, None)):
        mlpf.score_events(*columns(events[part]), last, TAU, 0, weights, cut[part])
    np.testing.assert_array_equal(whole, cut)


@pytest.mark.parametrize("n", [1, 12])
def test_edncnn_patches_match_oracle(make_events, n):
    events = make_events(n, resolution=(5, 4), duration_us=12_000_000, seed=n)
    missing, floor = 5_000_000, float(np.log(151.0))
    last = np.full((2, 2, 4 + 24, 5 + 24), NEVER_US, np.int64)
    found = np.empty((n, 4, 25, 25), np.float32)
    edncnn.gather_patches(*columns(events), last, missing, floor, found)
    expected = edncnn_oracle.gather_patches(*columns(events), missing, floor)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_edncnn_ages_are_clipped():
    x, y = np.zeros(4, np.uint16), np.zeros(4, np.uint16)
    t, p = np.array([0, 150, 10_000, 9_000_000]), np.ones(4, np.uint8)
    last = np.full((2, 2, 25, 25), NEVER_US, np.int64)
    found = np.empty((4, 4, 25, 25), np.float32)
    edncnn.gather_patches(x, y, t, p, last, 5_000_000, float(np.log(151.0)), found)
    most = np.log(5_000_001 / 151)
    own = found[:, :, 12, 12]
    np.testing.assert_allclose(own[0], most, rtol=1e-6)  # no earlier event
    np.testing.assert_allclose(own[1], [0.0, most, most, most], rtol=1e-6)  # 150 us counts as 0
    np.testing.assert_allclose(own[2, :2], np.log(np.array([9851, 10_001]) / 151), rtol=1e-5)
    np.testing.assert_allclose(own[3], most, rtol=1e-6)  # older than 5 s
