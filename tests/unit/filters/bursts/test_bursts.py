"""Filters on the sequence of events at one pixel, on events labeled by hand."""

import numpy as np

from evcrisp import Events, simulate
from evcrisp.filters import denoise

TIMES = [0, 1000, 2000, 3000, 30_000, 31_000, 32_000]
BURSTS = [1, 1, 1, 0, 0, 0, 0]


def pixel(times, polarities):
    """Return events of one pixel."""
    n = len(times)
    return Events(x=[2] * n, y=[1] * n, t=times, p=polarities, resolution=(5, 4))


def kept(events, name, preset=None, **params):
    return denoise(events, name, preset, **params).signal.astype(int).tolist()


def test_stc_keeps_second_event_of_burst():
    assert kept(pixel(TIMES, BURSTS), "stc") == [0, 1, 0, 0, 0, 1, 0]


def test_stc_without_cut_trail_keeps_trail():
    assert kept(pixel(TIMES, BURSTS), "stc", cut_trail=False) == [0, 1, 1, 0, 0, 1, 1]


def test_stc_preset_metavision_loses_first_burst_of_off_events():
    off = pixel([0, 1000, 2000], [0, 0, 0])
    assert kept(off, "stc") == [0, 1, 0]
    assert kept(off, "stc", "metavision") == [0, 0, 0]
    assert kept(off, "stc", "metavision", cut_trail=False) == [0, 1, 1]


def test_stc_keeps_event_of_age_tau():
    assert kept(pixel([0, 10_000], [1, 1]), "stc") == [0, 1]
    assert kept(pixel([0, 10_001], [1, 1]), "stc") == [0, 0]


def test_trail_keeps_first_event_of_burst():
    assert kept(pixel(TIMES, BURSTS), "trail") == [1, 0, 0, 1, 1, 0, 0]


def test_trail_keeps_event_of_age_tau():
    assert kept(pixel([0, 9_999, 19_999], [1, 1, 1]), "trail") == [1, 0, 1]


def test_iets_keeps_first_event_of_burst_that_continues():
    # The first event has no time surface; the event at 20 ms is a burst of one.
    events = pixel([0, 1000, 2000, 20_000, 40_000, 41_000], [1] * 6)
    assert kept(events, "iets", tau_us=1e6) == [0, 0, 0, 0, 1, 0]
    assert kept(events, "iets", tau_us=1e6, followed=False) == [0, 0, 0, 1, 0, 0]


def test_hotpixel_drops_hot_pixel_and_keeps_edge():
    edge = simulate(resolution=(120, 90), duration_us=400_000, noise_hz=0.5, seed=3).events
    hot_t = np.arange(0, 400_000, 500)  # 2 kHz
    n_hot = hot_t.size
    both = Events.sorted_from(
        x=np.concatenate([edge.x, np.full(n_hot, 50)]),
        y=np.concatenate([edge.y, np.full(n_hot, 40)]),
        t=np.concatenate([edge.t, hot_t + edge.t[0]]),
        p=np.concatenate([edge.p, np.ones(n_hot, bool)]),
        resolution=edge.resolution,
    )
    signal = denoise(both, "hotpixel").signal
    is_hot = (both.x == 50) & (both.y == 40)
    assert signal[is_hot].mean() < 0.1
    assert signal[~is_hot].mean() > 0.99
