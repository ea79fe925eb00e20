"""Kernels of the reliability of motions against their oracles."""

import numpy as np
import pytest
from tests.oracles.reliability import neighbor_polarity as plain_polarity
from tests.oracles.reliability import tile_sums as plain_sums
from tests.oracles.reliability import tile_terms as plain_terms

from evcrisp.kernels.reliability.neighbor_polarity import count_agreement
from evcrisp.kernels.reliability.tile_sums import (
    across_edges,
    misaligned_share,
    quadratic_sum,
    sums_of_parts,
)
from evcrisp.kernels.reliability.tile_terms import take_chosen, tile_terms

WIDTH, HEIGHT = 40, 30


def columns(n, seed):
    """Return x, y, tau, p of random events; numbers are exact in single precision."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, 8 * WIDTH, n) / 8.0,
        rng.integers(0, 8 * HEIGHT, n) / 8.0,
        (np.sort(rng.integers(-256, 257, n)) / 512).astype(np.float32),
        rng.integers(0, 2, n).astype(np.uint8),
    )


def terms_of(x, y, tau, p, scale=2.0, margin=8.0, tile_px=16.0, tiles=(2, 3)):
    pull, curvature = np.full((*tiles, 2), np.nan), np.full((*tiles, 3), np.nan)
    bend, count = np.full((*tiles, 2, 2), np.nan), np.full(tiles, np.nan)
    steepness = np.full((*tiles, 3), np.nan)
    sums = tile_terms(
        x,
        y,
        tau,
        p,
        scale,
        margin,
        (HEIGHT, WIDTH),
        tile_px,
        pull,
        bend,
        curvature,
        steepness,
        count,
    )
    return pull, curvature, count, sums, bend, steepness


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize(("tile_px", "tiles"), [(16.0, (2, 3)), (64.0, (1, 1))])
def test_tile_terms_equal_oracle(scale, tile_px, tiles):
    x, y, tau, p = columns(220, 5)
    pull, curvature, count, sums, bend, steepness = terms_of(
        x, y, tau, p, scale, 8.0, tile_px, tiles
    )
    common = scale, 8.0, (HEIGHT, WIDTH)
    wanted = plain_terms.pulls(x, y, tau, p, *common, tile_px, tiles)
    np.testing.assert_allclose(pull, wanted, rtol=1e-3, atol=2e-2)
    for k, bent in enumerate(plain_terms.legendre(tau)):
        wanted = plain_terms.pulls(x, y, bent, p, *common, tile_px, tiles)
        np.testing.assert_allclose(bend[..., k, :], wanted, rtol=1e-3, atol=4e-2)
    wanted = plain_terms.curvatures(x, y, tau, p, *common, tile_px, tiles)
    np.testing.assert_allclose(curvature, wanted, rtol=1e-3, atol=2e-3)
    np.testing.assert_allclose(sums, plain_terms.squares(x, y, p, *common), rtol=1e-5)
    wanted = plain_terms.steepness(x, y, p, *common, tile_px, tiles)
    np.testing.assert_allclose(steepness, wanted, rtol=1e-4, atol=1e-4)
    assert count.sum() == x.size


def test_an_event_alone_has_no_curvature():
    x, y, _, p = columns(1, 1)
    _, curvature, _, sums, *_ = terms_of(x, y, np.full(1, 0.5, np.float32), p)
    np.testing.assert_allclose(curvature, 0.0, atol=1e-7)
    assert sums[0] > 0.0


def test_noise_and_straight_edges_have_hardly_any_curvature_along_them():
    """An edge of 10,000 events across x: its curvature along y is chance, for two edges it is not."""
    rng = np.random.default_rng(6)
    n = 10_000
    tau = rng.uniform(-0.5, 0.5, n).astype(np.float32)
    p = rng.integers(0, 2, n).astype(np.uint8)
    along, across = rng.uniform(-30.0, HEIGHT + 30.0, n), 20.0 + rng.normal(0.0, 0.5, n)
    _, edge, *_ = terms_of(across, along, tau, p, 2.0, 8.0, 64.0, (1, 1))
    assert abs(edge[0, 0, 2]) < 0.05 * edge[0, 0, 0]
    spots = np.where(along > HEIGHT / 2, 20.0, 8.0) + rng.normal(0.0, 0.5, n)
    _, corner, *_ = terms_of(across, spots, tau, p, 2.0, 8.0, 64.0, (1, 1))
    assert corner[0, 0, 2] > 0.5 * corner[0, 0, 0]
    _, noise, *_ = terms_of(
        rng.uniform(-30.0, WIDTH + 30.0, n), along, tau, p, 2.0, 8.0, 64.0, (1, 1)
    )
    assert abs(noise[0, 0, 0]) < 0.05 * edge[0, 0, 0]


@pytest.mark.parametrize("place", [-1e9, 1e9, np.nan, np.inf])
def test_events_off_the_map_have_no_terms(place):
    x, y, tau, p = columns(30, 9)
    wanted = terms_of(x, y, tau, p)
    more = np.append(x, place), np.append(y, place)
    got = terms_of(*more, np.append(tau, tau[-1:]), np.append(p, p[:1]))
    for a, b in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(4))
def test_agreement_equals_oracle(seed):
    rng = np.random.default_rng(seed)
    n = 400
    x, y = rng.integers(0, 12, n).astype(np.uint16), rng.integers(0, 9, n).astype(np.uint16)
    p, chosen = rng.integers(0, 2, n).astype(np.uint8), rng.random(n) < 0.6
    counts = np.full(4, -1, np.int64)
    count_agreement(x, y, p, chosen, 12, 9, counts)
    assert tuple(counts) == plain_polarity.count_agreement(x, y, p, chosen)
    assert counts[0] > 100


@pytest.mark.parametrize("m", [1, 2, 8])
def test_sums_over_tiles_equal_oracle(m):
    rng = np.random.default_rng(m)
    k, n_parts = 60, 7
    along, pull = rng.normal(size=(k, 2, m)), rng.normal(size=(k, 2))
    tensor = rng.normal(size=(k, 2, 2))
    tensor = tensor + tensor.transpose(0, 2, 1)
    part = rng.integers(0, n_parts, k)
    whole, (pulls, blocks) = np.full((m, m), np.nan), np.full((2, n_parts, m), np.nan)
    quadratic_sum(along, tensor, whole)
    np.testing.assert_allclose(whole, plain_sums.quadratic_sum(along, tensor), atol=1e-12)
    sums_of_parts(along, tensor, pull, part, pulls, blocks)
    wanted = plain_sums.sums_of_parts(along, tensor, pull, part, n_parts)
    np.testing.assert_allclose((pulls, blocks), wanted, atol=1e-12)
    true = np.full((k, 2, 2), np.nan)
    x, y = rng.uniform(0.0, 100.0, (2, k))
    moved, sides = rng.uniform(-30.0, 30.0, (k, 2)), np.array([5.0, 10.0, 90.0, 95.0])
    across_edges(tensor, x, y, moved, sides, 8.0, 0.02, true)
    is_border = plain_sums.is_border(x, y, moved, sides, 8.0)
    assert 0 < sum(is_border) < k
    np.testing.assert_allclose(
        true, plain_sums.across_edges(tensor, is_border, 0.02), rtol=1e-9, atol=1e-9
    )


def test_tiles_of_round_or_no_curvature_lose_nothing_that_is_no_number():
    tensor = np.array([np.zeros((2, 2)), np.eye(2)])
    for is_border in (False, True):
        out = np.full((2, 2, 2), np.nan)
        sides = np.array([0.0, 0.0, 5.0 if is_border else 99.0, 99.0])
        across_edges(tensor, *np.full((2, 2), 40.0), np.zeros((2, 2)), sides, 8.0, 0.02, out)
        np.testing.assert_allclose(out, tensor, atol=1e-12)


@pytest.mark.parametrize("n_shifts", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_misaligned_share_equals_oracle(seed, n_shifts):
    rng = np.random.default_rng(seed)
    place = rng.permutation(11 * 7)[:50]
    row, column = place // 11, place % 11
    pull, count = rng.normal(0.0, 20.0, (50, 2)), rng.integers(1, 90, 50).astype(float)
    roots = rng.normal(size=(50, 2, 2))
    tensors = roots @ roots.transpose(0, 2, 1)
    steepness = tensors[:, [0, 0, 1], [0, 1, 1]] * 40.0
    limits = np.array((1.0 / 6.0, 0.02, 1e-3, 1.0))
    tiles = list(zip(row, column, pull, steepness, count, strict=True))
    wanted = [
        plain_sums.misaligned_share(tiles, 3, (down, across), *limits)
        for down in range(n_shifts)
        for across in range(n_shifts)
    ]
    found = misaligned_share(row, column, pull, steepness, count, 3, n_shifts, limits)
    assert found == pytest.approx(max(wanted), rel=1e-12)
    assert 0.0 < found < 1.0
    assert n_shifts == 1 or len(set(wanted)) > 3


@pytest.mark.parametrize("step", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 700])
def test_chosen_events_equal_a_selection_by_indices(n, step):
    rng = np.random.default_rng(n + step)
    x, y = rng.normal(size=(2, n))
    t, p = np.sort(rng.integers(0, 30_000, n)) + 10**15, rng.integers(0, 2, n).astype(np.uint8)
    chosen = rng.random(n) < 0.6
    at = np.flatnonzero(chosen)[::step]
    found = [np.empty(at.size, kind) for kind in (float, float, np.float32, np.uint8)]
    take_chosen(x, y, t, p, chosen, step, 10**15 + 15_000, 30_000, *found)
    tau = ((t[at] - 10**15 - 15_000) / 30_000).astype(np.float32)
    for column, wanted in zip(found, (x[at], y[at], tau, p[at]), strict=True):
        np.testing.assert_array_equal(column, wanted)
