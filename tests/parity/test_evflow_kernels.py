"""The kernel of evflow matches a scan of all recent events; planes match numpy's lstsq."""

import numba
import numpy as np
import pytest
from tests.oracles.filters import evflow as oracle

from evcrisp import Events
from evcrisp.filters import Labels, denoise
from evcrisp.filters.neighborhood.evflow import EvFlow
from evcrisp.kernels.filters.neighborhood import evflow


def scan(events, config):
    labels = Labels.empty(len(events))
    rule = (config.tau_us, config.radius, config.min_events, config.max_px_ms, config.emlb)
    oracle.flow_labels(events.x, events.y, events.t, *rule, labels.signal, labels.score)
    return labels


@pytest.mark.parametrize("emlb", [False, True])
@pytest.mark.parametrize(("radius", "tau_us"), [(1, 4000), (2, 1500), (3, 20_000)])
def test_labels_match_scan(make_events, emlb, radius, tau_us):
    events = make_events(900, resolution=(14, 11), seed=radius, duration_us=40_000)
    config = EvFlow(emlb=emlb, radius=radius, tau_us=tau_us)
    found = config.start(events.resolution).label(events)
    wanted = scan(events, config)
    assert 0 < found.signal.sum() < len(events)
    np.testing.assert_array_equal(found.signal, wanted.signal)
    np.testing.assert_array_equal(found.score, wanted.score)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the scan takes minutes without compilation")
@pytest.mark.parametrize("emlb", [False, True])
def test_labels_match_scan_when_ring_grows(make_events, emlb):
    from evcrisp.kernels.compile import njit

    events = make_events(12_000, resolution=(90, 70), duration_us=4_000)
    config = EvFlow(emlb=emlb, tau_us=4_000)
    found = denoise(events, "evflow", emlb=emlb, tau_us=4_000)
    wanted = Labels.empty(len(events))
    rule = (config.tau_us, config.radius, config.min_events, config.max_px_ms, config.emlb)
    columns = (events.x, events.y, events.t)
    njit(oracle.flow_labels)(*columns, *rule, wanted.signal, wanted.score)
    np.testing.assert_array_equal(found.score, wanted.score)


def points(seed, n=12):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, (2, n))
    return x, y, -rng.integers(0, 5000, n)


@pytest.mark.parametrize("seed", range(8))
def test_plane_speed_matches_lstsq(seed):
    x, y, t = points(seed)
    sums = [v.sum() for v in (x, y, t, x * x, x * y, y * y, x * t, y * t)]
    (a, b, _), *_ = np.linalg.lstsq(np.stack([x, y, np.ones(x.size)], axis=1), t / 1e3, rcond=None)
    np.testing.assert_allclose(evflow.plane_speed(x.size, *sums), 1 / np.hypot(a, b), rtol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_pivoted_solution_matches_lstsq(seed):
    x, y, t = points(seed)
    a = np.stack([x + 200.0, y + 100.0, np.ones(x.size)], axis=1)
    wanted, *_ = np.linalg.lstsq(a, t / 1e3, rcond=None)
    found = np.empty(3)
    evflow.pivoted_solution(a.copy(), t / 1e3, x.size, np.empty(3, np.int64), found)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_events_on_a_line_have_no_plane_and_rank_two():
    x = np.array([0, 1, 2, 3, 4])
    sums = [v.sum() for v in (x, 2 * x, x, x * x, 2 * x * x, 4 * x * x, x * x, 2 * x * x)]
    assert evflow.plane_speed(5, *sums) == np.inf
    a = np.stack([x + 50.0, 2 * x + 100.0, np.ones(5)], axis=1)
    found = np.empty(3)
    evflow.pivoted_solution(a.copy(), x * 1.0, 5, np.empty(3, np.int64), found)
    assert np.count_nonzero(found) == 2
    np.testing.assert_allclose(a @ found, x, atol=1e-9)


def test_labels_match_scan_after_pause():
    events = Events(
        x=[3, 4, 3, 4, 5], y=[3, 3, 4, 4, 4], t=[0, 10, 9_000, 9_500, 9_800], p=[1] * 5,
        resolution=(9, 9),
    )  # fmt: skip
    config = EvFlow(tau_us=2_000)
    np.testing.assert_array_equal(
        config.start((9, 9)).label(events).score, scan(events, config).score
    )
