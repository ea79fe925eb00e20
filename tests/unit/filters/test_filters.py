import numpy as np
import pytest

from evcrisp import ConfigError, EventDataError, Events, UnknownNameError
from evcrisp.filters import Labels, denoise, denoiser

# 24 events (t, x, y, p) on 8x6 pixels whose masks are known from independent implementations.
TOY = """0,2,2,1 300,2,3,1 600,3,2,1 900,3,3,1 1000,7,5,0 1200,3,4,1 1500,4,2,1 1500,4,3,0 2000,0,0,0
2300,2,2,1 2600,4,3,1 2600,4,2,1 3000,7,5,0 3500,5,3,1 3800,5,2,1 4200,6,4,0 5000,1,1,1 5000,5,3,1
5200,5,4,1 5500,6,3,1 7000,0,5,1 7000,1,5,1 9000,1,4,1 9001,0,4,1"""

#: Denoiser, preset, parameters, mask of the program that the preset follows.
MASKS = [
    ("ynoise", "emlb", {}, "011101100111111101110111"),
    ("ynoise", "emlb", {"k": 2}, "001101100111011001010010"),
    ("knoise", "emlb", {}, "011101100111011101110111"),
    ("knoise", "emlb", {"k": 2}, "011101100011011101110111"),
    ("ts", "emlb", {}, "011101100111111111110111"),
    ("ts", "emlb", {"tau_us": 20_000}, "011101100111111111110111"),
    ("dwf", "emlb", {}, "1" * 24),
    ("dwf", "emlb", {"length": 4, "radius_px": 2}, "011101111111111111110111"),
    ("dwf", "emlb", {"length": 4, "radius_px": 2, "k": 2}, "001101110111011101110011"),
    ("dwf", "kugamas", {"length": 4, "radius_px": 2, "warm_up": 4}, "000001110111111111110111"),
    ("baf", "emlb", {"tau_us": 2000}, "011101100111111101110111"),
    ("baf", "kugamas", {"tau_us": 2000, "same_polarity": False}, "011101110111111101110111"),
    ("baf", None, {"tau_us": 2000, "same_polarity": True}, "011101100111011101110111"),
    ("baf", None, {"tau_us": 2000}, "011101110111011101110111"),
]

#: The same with time that starts at 0, where the arrays of these programs hold zeros.
MASKS_FROM_ZERO = [
    ("ynoise", "emlb", {}, "011111111111111101110111"),
    ("knoise", "emlb", {}, "011101101111011101110111"),
    ("ts", "emlb", {}, "001101100111111111110111"),
]


def toy(t_start):
    t, x, y, p = np.array([row.split(",") for row in TOY.split()], np.int64).T
    return Events(x=x, y=y, t=t + t_start, p=p, resolution=(8, 6))


def mask_of(labels):
    return "".join(str(int(keep)) for keep in labels.signal)


@pytest.mark.parametrize(("name", "preset", "params", "mask"), MASKS)
def test_presets_give_the_known_masks(name, preset, params, mask):
    assert mask_of(denoise(toy(1_000_000), name, preset, **params)) == mask


@pytest.mark.parametrize(("name", "preset", "params", "mask"), MASKS_FROM_ZERO)
def test_presets_start_as_their_programs_do(name, preset, params, mask):
    assert mask_of(denoise(toy(0), name, preset, **params)) == mask
    by_default = denoise(toy(0), name)
    assert mask_of(by_default) == mask_of(denoise(toy(1_000_000), name))
    assert mask_of(by_default) != mask


@pytest.mark.parametrize(
    ("name", "theirs"), [("baf", "BackgroundActivityNoiseFilter"), ("knoise", "KNoiseFilter")]
)
@pytest.mark.parametrize("t_start", [0, 1_000_000])
def test_the_preset_dv_keeps_what_dv_processing_keeps(make_events, name, theirs, t_start):
    dv = pytest.importorskip("dv_processing", reason="dv-processing is the oracle")
    events = make_events(4000, resolution=(40, 30), t_start=t_start, duration_us=20_000)
    other = getattr(dv.noise, theirs)(events.resolution)
    other.accept(events.to_dv())
    kept = Events.from_dv(other.generateEvents(), events.resolution)
    assert 0 < len(kept) < len(events)
    assert events[denoise(events, name, "dv").signal].equals(kept)


@pytest.mark.parametrize("since_kept", [True, False])
def test_refractory_keeps_what_eventcv_keeps(make_events, since_kept):
    pytest.importorskip("eventcv", reason="eventcv is the oracle")
    events = make_events(4000, resolution=(20, 15), duration_us=200_000)
    refresh = "kept" if since_kept else "all"
    kept = Events.from_eventcv(events.to_eventcv().refractory_filter(5_000, refresh=refresh))
    assert 0 < len(kept) < len(events)
    labels = denoise(events, "refractory", period_us=5_000, since_kept=since_kept)
    assert events[labels.signal].equals(kept)


@pytest.mark.parametrize("cross", [False, True])
def test_baf_keeps_what_eventcv_keeps(make_events, cross):
    pytest.importorskip("eventcv", reason="eventcv is the oracle")
    events = make_events(4000, resolution=(40, 30), duration_us=20_000)
    around = "cross" if cross else "block"
    stream = events.to_eventcv().background_activity_filter(500, neighbourhood=around)
    kept = Events.from_eventcv(stream)
    assert 0 < len(kept) < len(events)
    assert events[denoise(events, "baf", tau_us=500, cross=cross).signal].equals(kept)


@pytest.mark.parametrize("name", ["baf", "stcf", "knoise", "density", "padala"])
def test_a_hot_pixel_does_not_support_itself(name):
    events = Events(x=[4] * 50, y=[4] * 50, t=range(50), p=[1] * 50, resolution=(9, 9))
    assert denoise(events, name).signal.sum() == 0


def test_the_hot_pixel_filter_finds_hot_pixels_and_spares_an_edge():
    from evcrisp import simulate

    scene = simulate(resolution=(120, 90), duration_us=400_000, noise_hz=0.5, seed=3)
    hot_t = np.arange(0, 400_000, 500)  # 2 kHz
    n_hot = hot_t.size
    edge = scene.events
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


def test_shot_noise_pairs_are_dropped():
    events = Events(
        x=[4, 5, 4, 4], y=[4, 4, 4, 4], t=[0, 10, 500, 900], p=[1, 0, 0, 0], resolution=(9, 9)
    )
    plain = {"tau_us": 5000, "k": 1}
    assert mask_of(denoise(events, "stcf", **plain)) == "0011"
    assert mask_of(denoise(events, "stcf", **plain, pair_us=600)) == "0001"


def test_density_counts_every_event_and_wants_two_dense_pixels():
    t = [0, 1, 2, 3, 4, 5]
    one_pixel = Events(x=[4] * 6, y=[4] * 6, t=t, p=[1] * 6, resolution=(9, 9))
    assert mask_of(denoise(one_pixel, "density", fine=False)) == "001111"
    assert mask_of(denoise(one_pixel, "density")) == "000000"
    two_pixels = Events(x=[4, 5] * 3, y=[4] * 6, t=t, p=[1] * 6, resolution=(9, 9))
    assert mask_of(denoise(two_pixels, "density")) == "000111"


def test_a_score_falls_with_the_age_of_the_support():
    events = Events(x=[4, 5, 4, 5], y=[4] * 4, t=[0, 100, 2100, 7100], p=[1] * 4, resolution=(9, 9))
    labels = denoise(events, "baf", tau_us=2000)
    np.testing.assert_allclose(labels.score, [0, 2000 / 2100, 0.5, 2000 / 7000])


@pytest.mark.parametrize("n", [0, 1, 500])
def test_kept_are_the_events_that_are_signal(make_events, n):
    rng = np.random.default_rng(n)
    events = make_events(n).with_signal(rng.random(n) < 0.5)
    for part in (events, events[::2], events.with_signal(None)):
        for share in (0.0, 0.3, 1.0):
            labels = Labels(rng.random(len(part)) < share, np.zeros(len(part)))
            assert labels.kept(part).equals(part[labels.signal])


def test_kept_wants_the_events_of_the_labels(make_events):
    with pytest.raises(EventDataError, match="those of the labels, 5; got 4"):
        denoise(make_events(5), "baf").kept(make_events(4))


def test_wrong_names_presets_and_parameters_are_explained(make_events):
    events = make_events(3)
    with pytest.raises(UnknownNameError, match="Unknown denoiser 'bav'. Did you mean 'baf'"):
        denoise(events, "bav")
    with pytest.raises(ConfigError, match="no option 'tau'. Did you mean 'tau_us'"):
        denoise(events, "baf", tau=3)
    with pytest.raises(ConfigError, match="'ynoise' has no preset 'paper'. Known: emlb"):
        denoise(events, "ynoise", "paper")


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("baf", {"tau_us": 0}, "`tau_us` must be positive; got 0"),
        ("baf", {"tau_us": 2**60}, "`tau_us` must be at most 9,007,199,254,740,992"),
        ("ts", {"tau_us": 10**11}, "`tau_us` must be at most 10,000,000,000"),
        ("baf", {"radius": 0}, "`radius` must be positive; got 0"),
        ("stcf", {"k": 9}, "`k` must be at most the number of pixels around, 8; got 9"),
        ("stcf", {"pair_us": -1}, "`pair_us` must be 0 or more; got -1"),
        ("knoise", {"k": 7}, "`k` must be 1 to 6"),
        ("dwf", {"length": 2, "k": 5}, "`k` must be at most 2 \\* `length`, 4; got 5"),
        ("ts", {"threshold": 0.0}, "`threshold` must be above 0 and at most 1; got 0.0"),
        ("ts", {"threshold": float("nan")}, "`threshold` must be above 0"),
        ("hotpixel", {"least": float("inf")}, "`least` must be a positive number; got inf"),
        ("refractory", {"period_us": -5}, "`period_us` must be positive; got -5"),
        ("density", {"k": 0}, "`k` must be positive; got 0"),
        ("padala", {"refractory_us": 0}, "`refractory_us` must be positive; got 0"),
    ],
)
def test_impossible_parameters_are_refused(name, params, message):
    with pytest.raises(ConfigError, match=message):
        denoiser(name, params=params)


def test_parameters_win_over_a_preset():
    config = denoiser("baf", "emlb", {"tau_us": 7})
    assert (config.tau_us, config.include_self, config.same_polarity) == (7, True, True)
