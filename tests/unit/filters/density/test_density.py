"""Filters on the density of events in space and time, on events with known density."""

import numpy as np

from evcrisp import Events
from evcrisp.filters import build_filter, denoise


def test_density_counts_every_event_and_requires_two_dense_pixels():
    t = [0, 1, 2, 3, 4, 5]
    one_pixel = Events(x=[4] * 6, y=[4] * 6, t=t, p=[1] * 6, resolution=(9, 9))
    assert denoise(one_pixel, "density", fine=False).signal.tolist() == [0, 0, 1, 1, 1, 1]
    assert not denoise(one_pixel, "density").signal.any()
    two_pixels = Events(x=[4, 5] * 3, y=[4] * 6, t=t, p=[1] * 6, resolution=(9, 9))
    assert denoise(two_pixels, "density").signal.tolist() == [0, 0, 0, 1, 1, 1]


def test_fastdecay_count_converges_to_equilibrium():
    n = 1000
    events = Events(x=[2] * n, y=[1] * n, t=np.arange(n) * 10_000, p=[1] * n, resolution=(5, 4))
    score = denoise(events, "fastdecay").score
    np.testing.assert_allclose(score[:4], [1, 1.5, 1.75, 1.875])
    np.testing.assert_allclose(score[-1], 2.0, rtol=1e-6)


def test_hashheat_keeps_dense_spot_in_noise(make_events):
    noise = make_events(6000, resolution=(300, 200), duration_us=300_000)
    rng = np.random.default_rng(1)
    n = 2000
    events = Events.sorted_from(
        x=np.concatenate([noise.x, rng.integers(150, 154, n)]),
        y=np.concatenate([noise.y, rng.integers(90, 94, n)]),
        t=np.concatenate([noise.t, rng.integers(noise.t[0], noise.t[-1], n)]),
        p=[0] * (6000 + n),
        resolution=(300, 200),
        signal=np.arange(6000 + n) >= 6000,
    )
    signal = denoise(events, "hashheat").signal
    assert signal[events.signal].mean() > 0.9
    assert signal[~events.signal].mean() < 0.1


def test_hashheat_directions_depend_on_seed_alone():
    one, same, other = (build_filter("hashheat", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.planes(), same.planes())
    assert not np.array_equal(one.planes(), other.planes())


def test_pugm_keeps_moving_line_and_drops_isolated_events():
    x = np.repeat(np.arange(5, 25), 10)
    y = np.tile(np.arange(5, 15), 20)
    t = x * 3000
    events = Events.sorted_from(
        x=np.append(x, [2, 28]), y=np.append(y, [2, 27]), t=np.append(t, [20_000, 50_000]),
        p=[1] * 202, resolution=(30, 30), signal=np.arange(202) < 200,
    )  # fmt: skip
    signal = denoise(events, "pugm", data=14.0).signal
    assert not signal[~events.signal].any()
    assert signal[events.signal].mean() > 0.7


def test_pugm_keeps_fewer_events_with_more_sweeps(make_events):
    events = make_events(3000, resolution=(30, 20), duration_us=50_000)
    kept = [denoise(events, "pugm", sweeps=n, data=12.0).signal for n in (1, 2, 5)]
    assert (kept[0] >= kept[1]).all()
    assert (kept[1] >= kept[2]).all()
    assert kept[0].sum() > kept[2].sum()


def test_dbscan_clusters_hot_pixel_only_with_same_pixel():
    events = Events(x=[4] * 50, y=[4] * 50, t=range(50), p=[1] * 50, resolution=(9, 9))
    assert not denoise(events, "dbscan").signal.any()
    assert denoise(events, "dbscan", same_pixel=True).signal.all()


def test_red_density_decays_in_pause_except_for_emlb(make_events):
    busy = make_events(8000, resolution=(16, 16), t_start=0, duration_us=60_000)
    late = busy[:1000]
    events = Events.concatenate([
        busy,
        Events(x=late.x, y=late.y, t=late.t + 10_000_000, p=late.p, resolution=(16, 16)),
    ])  # fmt: skip
    first = denoise(late, "red")
    np.testing.assert_allclose(denoise(events, "red").score[8000:8010], first.score[:10], atol=1e-5)
    emlb = denoise(events, "red", "emlb").score
    assert abs(emlb[8000:8010] - first.score[:10]).max() > 0.1
