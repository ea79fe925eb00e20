"""The kernels of measures against slow and obvious versions."""

import numpy as np
import pytest
from tests.oracles import metrics as reference_metrics

from evcrisp.kernels.metrics import aocc as contrast
from evcrisp.kernels.metrics import control as metrics_random
from evcrisp.metrics import AoccMeter, EsrMeter
from evcrisp.metrics.aocc import DURATIONS_US

SIZES = [(1, 1), (2, 3), (3, 2), (7, 1), (1, 9), (24, 17)]


def clustered(make_events, n, resolution, seed=0):
    """Return events of which half share a few pixels, so that counts and medians are not 0."""
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
    expected = reference_metrics.structure(events.x, events.y, resolution)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


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
    surface = np.where(fired, 5, contrast.NEVER)
    found = contrast.contrast(surface, 5, meter._rows, meter._columns, meter._work)
    assert found == pytest.approx(reference_metrics.frame_contrast(fired), rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("resolution", [(1, 1), (9, 7)])
@pytest.mark.parametrize("n", [1, 2, 60])
def test_aocc_equals_separate_frames(make_events, n, resolution):
    events = make_events(n, resolution, seed=n, duration_us=50_000)
    meter = AoccMeter(resolution)
    meter.add(events)
    durations = DURATIONS_US[::7]
    expected = reference_metrics.contrast_curve(events.x, events.y, events.t, resolution, durations)
    np.testing.assert_allclose(meter.curve().contrast[::7], expected, rtol=1e-11, atol=1e-10)


def test_blur_weights_are_gaussian_in_256ths():
    weights = np.exp(-(np.array([-2, -1, 0, 1, 2]) ** 2) / 8.0)
    exact = 256 * weights / weights.sum()
    outer = round(exact[0])
    inner = round(exact[1] + exact[0] - outer)
    middle = 256 - 2 * (outer + inner)
    assert reference_metrics.TAPS.tolist() == [outer, inner, middle, inner, outer]
    assert (outer, inner, middle) == (contrast._OUTER, contrast._INNER, contrast._MIDDLE)


@pytest.mark.parametrize(("n", "n_wanted"), [(0, 0), (1, 0), (1, 1), (300, 7), (300, 299)])
def test_draw_equals_oracle(n, n_wanted):
    uniform = np.random.default_rng(n_wanted).random(n)
    chosen = np.empty(n, bool)
    assert metrics_random.draw(uniform, n, n_wanted, chosen) == 0
    np.testing.assert_array_equal(chosen, reference_metrics.draw(uniform, n, n_wanted))
    assert chosen.sum() == n_wanted
