"""Filters that look far or ahead: what they keep by their definition, and how well they do."""

import numpy as np
import pytest

from evcrisp import ConfigError, Events, simulate
from evcrisp.filters import denoise, denoiser
from evcrisp.metrics import rank_auc


def test_an_inceptive_event_is_the_first_of_a_burst_that_goes_on():
    t = [0, 1000, 2000, 20_000, 40_000, 41_000]
    events = Events(x=[2] * 6, y=[1] * 6, t=t, p=[1] * 6, resolution=(5, 4))
    # The first event of all has no time surface; 20 ms is a burst of one.
    labels = denoise(events, "iets", tau_us=1e6)
    assert labels.signal.tolist() == [False, False, False, False, True, False]
    alone = denoise(events, "iets", tau_us=1e6, followed=False)
    assert alone.signal.tolist() == [False, False, False, True, False, False]


@pytest.mark.parametrize(
    ("name", "look_ahead_us"), [("iets", 5_000), ("dbscan", 10_000), ("pugm", 12_000)]
)
def test_labels_are_held_back_as_long_as_the_filter_looks_ahead(make_events, name, look_ahead_us):
    events = make_events(5000, resolution=(40, 30), duration_us=200_000)
    stream = denoiser(name).start(events.resolution)
    n_out = 0
    for k in range(0, 5000, 100):
        n_out += len(stream.label(events[k : k + 100]))
        waiting = events.t[n_out : k + 100]
        assert waiting.size
        assert events.t[k + 99] - waiting[0] <= look_ahead_us
    assert n_out + len(stream.finish()) == 5000


def test_pugm_keeps_a_line_that_moves_and_drops_what_is_alone():
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


def test_more_sweeps_keep_less(make_events):
    events = make_events(3000, resolution=(30, 20), duration_us=50_000)
    kept = [denoise(events, "pugm", sweeps=n, data=12.0).signal for n in (1, 2, 5)]
    assert (kept[0] >= kept[1]).all()
    assert (kept[1] >= kept[2]).all()
    assert kept[0].sum() > kept[2].sum()


def test_a_hot_pixel_is_no_crowd_unless_asked_for():
    events = Events(x=[4] * 50, y=[4] * 50, t=range(50), p=[1] * 50, resolution=(9, 9))
    assert not denoise(events, "dbscan").signal.any()
    assert denoise(events, "dbscan", same_pixel=True).signal.all()


def test_red_forgets_in_a_pause_and_emlb_does_not(make_events):
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


@pytest.fixture(scope="module")
def scene():
    return simulate(resolution=(200, 150), duration_us=200_000, noise_hz=5, seed=1).events


#: Lowest area under the curve; trail is made to thin bursts, and keeps noise rather than signal.
LOWEST_AUC = {
    "activity": 0.9, "stc": 0.7, "fastdecay": 0.85, "hashheat": 0.85, "evflow": 0.85, "red": 0.9,
    "iets": 0.9, "pugm": 0.95, "dbscan": 0.95,
}  # fmt: skip


@pytest.mark.parametrize("name", LOWEST_AUC)
def test_signal_gets_higher_scores_than_noise(scene, name):
    assert rank_auc(denoise(scene, name).score, scene.signal) > LOWEST_AUC[name]


def test_trail_keeps_noise_rather_than_signal_by_design(scene):
    assert rank_auc(denoise(scene, "trail").score, scene.signal) < 0.4


def test_hashes_of_one_projection_know_nothing(scene):
    auc = rank_auc(denoise(scene, "hashheat", "jaer").score, scene.signal)
    assert 0.45 < auc < 0.55


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("iets", {"threshold": 0.0}, "`threshold` must be above 0 and at most 1; got 0.0"),
        ("iets", {"tau_us": 0.0}, "`tau_us` must be a positive number; got 0.0"),
        ("pugm", {"sweeps": 0}, "`sweeps` must be positive; got 0"),
        ("pugm", {"coupling": -1.0}, "`coupling` a positive one; got 16.0 and -1.0"),
        ("dbscan", {"radius": 1}, "`radius` must be 2 or more; got 1"),
        ("dbscan", {"min_events": 0}, "`min_events` must be positive; got 0"),
        ("red", {"sigma_px": 0.0}, "`sigma_px` must be 0.05 to 100; got 0.0"),
        ("red", {"threshold": float("nan")}, "`threshold` must be a number; got nan"),
    ],
)
def test_impossible_parameters_are_explained(name, params, message):
    with pytest.raises(ConfigError, match=message):
        denoiser(name, params=params)
