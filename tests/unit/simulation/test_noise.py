"""Rates, polarities and independence of the kinds of noise."""

import numpy as np
import pytest

from evcrisp.simulation import NO_OBJECT, NOISE_PRESETS, Origin, simulate

VIEW = (96, 64)
N_PIXELS = 96 * 64
STILL = {"resolution": VIEW, "theta": (0.0, 0.0), "duration_us": 500_000}
MOVING = {"resolution": VIEW, "duration_us": 60_000, "object_theta": (-100.0, 40.0)}

KINDS = {
    "noise_hz": 3.0,
    "noise_share": 0.2,
    "leak_hz": 4.0,
    "shot_hz": 6.0,
    "hot_pixels": 9,
}


def in_poisson_bounds(count, expected):
    return abs(count - expected) < 5 * np.sqrt(expected)


def test_uniform_noise_has_its_rate_and_is_uniform():
    simulation = simulate(**STILL, noise_hz=8.0)
    events = simulation.events
    assert (simulation.origin == Origin.UNIFORM).all()
    assert in_poisson_bounds(len(events), 8.0 * 0.5 * N_PIXELS)
    assert in_poisson_bounds(events.n_on, len(events) / 2)
    for column, size in ((events.x, 96), (events.y, 64), (events.t, 500_000)):
        quarters = np.bincount(column.astype(np.int64) * 4 // size, minlength=4)
        assert quarters.size == 4
        assert all(in_poisson_bounds(count, len(events) / 4) for count in quarters)


def test_noise_share_is_relative_to_the_signal():
    simulation = simulate(resolution=VIEW, texture="rocks", noise_share=0.1)
    n_signal = int(simulation.events.signal.sum())
    assert n_signal > 1000
    assert len(simulation.events) - n_signal == pytest.approx(0.1 * n_signal, abs=1.5)


def test_leak_is_on_and_periodic_in_every_pixel():
    simulation = simulate(**STILL, leak_hz=20.0, leak_jitter=0.0, spread_decades=0.0)
    events = simulation.events
    assert (simulation.origin == Origin.LEAK).all()
    assert events.p.all()
    per_pixel = np.bincount(events.y.astype(int) * 96 + events.x, minlength=N_PIXELS)
    assert set(np.unique(per_pixel)) == {10}  # 20 Hz for half a second, for any phase
    one = events.t[(events.x == 5) & (events.y == 7)]
    np.testing.assert_allclose(np.diff(one), 50_000, atol=1)


def test_leak_with_jitter_and_spread_keeps_its_mean_rate():
    simulation = simulate(**STILL, leak_hz=40.0, leak_jitter=0.3, spread_decades=0.2)
    assert len(simulation.events) == pytest.approx(40.0 * 0.5 * N_PIXELS, rel=0.02)
    one = simulation.events.t[(simulation.events.x == 5) & (simulation.events.y == 7)]
    assert np.diff(one).std() > 0.1 * np.diff(one).mean()


def test_shot_noise_has_its_mean_rate_and_dark_ratio():
    image = np.zeros((64, 96))
    image[:, 48:] = 1.0
    simulation = simulate(
        **STILL, texture=image, blur_px=0.0, shot_hz=20.0, dark_ratio=4.0, spread_decades=0.0
    )
    events = simulation.events
    assert (simulation.origin == Origin.SHOT).all()
    n_dark, n_bright = int((events.x < 48).sum()), int((events.x >= 48).sum())
    # The mean is 20 Hz and the ratio 4, hence 32 and 8 Hz.
    assert in_poisson_bounds(n_dark, 32.0 * 0.5 * N_PIXELS / 2)
    assert in_poisson_bounds(n_bright, 8.0 * 0.5 * N_PIXELS / 2)
    assert in_poisson_bounds(events.n_on, len(events) / 2)


def test_spread_of_rates_keeps_the_mean_rate():
    image = np.tile(np.linspace(0, 1, 96), (64, 1))
    simulation = simulate(**STILL, texture=image, shot_hz=100.0, dark_ratio=1.0, spread_decades=0.3)
    events = simulation.events
    per_pixel = np.bincount(events.y.astype(int) * 96 + events.x, minlength=N_PIXELS)
    assert in_poisson_bounds(per_pixel.sum(), 100.0 * 0.5 * N_PIXELS)
    assert np.log10(np.maximum(per_pixel, 1)).std() == pytest.approx(0.3, abs=0.02)


def test_hot_pixels_have_their_number_rate_and_one_polarity():
    simulation = simulate(**STILL, hot_pixels=7, hot_share=1e-3, hot_hz=400.0)
    events = simulation.events
    pixel = events.y.astype(int) * 96 + events.x
    hot = np.unique(pixel)
    assert hot.size == 7 + round(1e-3 * N_PIXELS)
    for which in hot:
        polarity = events.p[pixel == which]
        assert in_poisson_bounds(polarity.size, 200.0)
        assert polarity.all() or not polarity.any()


@pytest.mark.parametrize("kinds", [[kind] for kind in KINDS] + [list(KINDS)])
def test_noise_does_not_change_the_signal(kinds):
    clean = simulate(**MOVING)
    noisy = simulate(**MOVING, **{kind: KINDS[kind] for kind in kinds})
    assert len(noisy.events) > len(clean.events)
    assert noisy.events[noisy.events.signal].equals(clean.events)
    np.testing.assert_array_equal(noisy.object[noisy.events.signal], clean.object)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_noise_are_independent(kind):
    alone = simulate(**MOVING, **{kind: KINDS[kind]})
    among = simulate(**MOVING, **KINDS)
    code = {"leak_hz": Origin.LEAK, "shot_hz": Origin.SHOT, "hot_pixels": Origin.HOT}.get(kind)
    if code is None:  # two settings, one kind
        alone = simulate(**MOVING, noise_hz=KINDS["noise_hz"], noise_share=KINDS["noise_share"])
        code = Origin.UNIFORM
    assert alone.events[alone.origin == code].equals(among.events[among.origin == code])


def test_kinds_of_noise_have_different_events():
    settings = {"spread_decades": 0.0, "dark_ratio": 1.0, "duration_us": 100_000}
    both = simulate(**{**STILL, **settings}, shot_hz=20.0, noise_hz=20.0)
    events = both.events
    place = np.stack((events.t, events.y, events.x), axis=1)
    shot, uniform = (place[both.origin == code] for code in (Origin.SHOT, Origin.UNIFORM))
    assert min(len(shot), len(uniform)) > 5000
    shared = set(map(tuple, shot.tolist())) & set(map(tuple, uniform.tolist()))
    assert len(shared) < 5


def test_labels_origins_and_objects_are_consistent():
    simulation = simulate(**MOVING, **KINDS)
    signal = simulation.events.signal
    assert signal.dtype == np.bool_
    np.testing.assert_array_equal(signal, simulation.origin == Origin.SIGNAL)
    np.testing.assert_array_equal(signal, simulation.object != NO_OBJECT)
    assert set(np.unique(simulation.origin)) == {0, 1, 2, 3, 4}
    assert set(np.unique(simulation.object)) == {0, 1, NO_OBJECT}


def test_noise_presets_are_found_by_name():
    for name, preset in NOISE_PRESETS.items():
        assert simulate(resolution=(8, 8), duration_us=1000, noise=name).config.noise == preset
