"""Kernels of metrics against their oracles."""

import numpy as np
import pytest
from tests.oracles.metrics import aocc as aocc_oracle
from tests.oracles.metrics import control as control_oracle
from tests.oracles.metrics import esr as esr_oracle

from evcrisp.kernels.metrics import aocc, control, esr
from evcrisp.metrics import AoccMeter, EsrMeter
from evcrisp.metrics.aocc import DURATIONS_US

SIZES = [(1, 1), (2, 3), (3, 2), (7, 1), (1, 9), (24, 17)]


def clustered(make_events, n, resolution, seed=0):
    """Return events of which half share a few pixels, for counts and medians above 0."""
    events = make_events(n, resolution, seed=seed, duration_us=30_000)
    x, y = events.x.copy(), events.y.copy()
    x[::2] %= max(resolution[0] // 3, 1)
    y[::2] %= max(resolution[1] // 3, 1)
    return type(events)(x=x, y=y, t=events.t, p=events.p, resolution=resolution)


@pytest.mark.parametrize("resolution", SIZES)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 400])
def test_esr_equals_definition(make_events, n, resolution):
    events = clustered(make_events, n, resolution, seed=n)
    meter = EsrMeter(resolution, slice_events=n)
    meter.add(events)
    slices = meter.report().slices
    found = [slices.esr[0], slices.ntss[0], slices.l_n[0], slices.occupied[0], slices.esr_v2[0]]
    expected = esr_oracle.structural_ratios(events.x, events.y, resolution)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("resolution", SIZES)
@pytest.mark.parametrize("missed", [0.5, 1 / 3])
def test_esr_sums_equal_oracle(make_events, resolution, missed):
    events = clustered(make_events, 400, resolution)
    reached = 1.0 - missed ** np.arange(9)
    counts, expected = np.zeros((2, resolution[1] + 2, resolution[0] + 2), np.int32)
    esr.count_padded(events.x, events.y, counts)
    esr_oracle.count_padded(events.x, events.y, expected)
    np.testing.assert_array_equal(counts, expected)
    lines = np.zeros((4, resolution[0] + 2), np.int32)
    found = (*esr.sum_counts(counts, reached), *esr.sum_medians(counts, reached, lines))
    sums = (*esr_oracle.sum_counts(counts, reached), *esr_oracle.sum_medians(counts, reached))
    np.testing.assert_allclose(found, sums, rtol=1e-12)


def test_esr_of_pixel_with_many_events_is_one(make_events):
    events = make_events(5000, (1, 1))
    meter = EsrMeter((1, 1), slice_events=5000)
    meter.add(events)
    assert meter.report().esr == 1.0
    assert meter.report().slices.l_n[0] == 1.0


@pytest.mark.parametrize("resolution", SIZES)
def test_contrast_equals_oracle(resolution):
    rng = np.random.default_rng(resolution[0])
    fired = rng.random(resolution[::-1]) < 0.3
    meter = AoccMeter(resolution)
    surface = np.where(fired, 5, aocc.NEVER)
    found = aocc.contrast(surface, 5, meter._rows, meter._columns, meter._work)
    assert found == pytest.approx(aocc_oracle.contrast(fired), rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("resolution", [(1, 1), (9, 7)])
@pytest.mark.parametrize("n", [1, 2, 60])
def test_aocc_equals_separate_frames(make_events, n, resolution):
    events = make_events(n, resolution, seed=n, duration_us=50_000)
    meter = AoccMeter(resolution)
    meter.add(events)
    durations = DURATIONS_US[::7]
    expected = aocc_oracle.add_events(events.x, events.y, events.t, resolution, durations)
    np.testing.assert_allclose(meter.curve().contrast[::7], expected, rtol=1e-11, atol=1e-10)


def test_blur_weights_are_gaussian_in_256ths():
    weights = np.exp(-(np.array([-2, -1, 0, 1, 2]) ** 2) / 8.0)
    exact = 256 * weights / weights.sum()
    outer = round(exact[0])
    inner = round(exact[1] + exact[0] - outer)
    middle = 256 - 2 * (outer + inner)
    assert aocc_oracle.WEIGHTS.tolist() == [outer, inner, middle, inner, outer]
    assert (outer, inner, middle) == (aocc._OUTER, aocc._INNER, aocc._MIDDLE)


@pytest.mark.parametrize(("n", "n_wanted"), [(0, 0), (1, 0), (1, 1), (300, 7), (300, 299)])
def test_draw_equals_oracle(n, n_wanted):
    uniform = np.random.default_rng(n_wanted).random(n)
    chosen = np.empty(n, bool)
    assert control.draw(uniform, n, n_wanted, chosen) == 0
    np.testing.assert_array_equal(chosen, control_oracle.draw(uniform, n, n_wanted))
    assert chosen.sum() == n_wanted
