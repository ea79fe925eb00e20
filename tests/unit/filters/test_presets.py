"""Presets reproduce the labels of other programs."""

import hashlib

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.filters import denoise

# 24 events (t, x, y, p) on 8x6 pixels; the masks come from independent implementations.
TOY = """0,2,2,1 300,2,3,1 600,3,2,1 900,3,3,1 1000,7,5,0 1200,3,4,1 1500,4,2,1 1500,4,3,0 2000,0,0,0
2300,2,2,1 2600,4,3,1 2600,4,2,1 3000,7,5,0 3500,5,3,1 3800,5,2,1 4200,6,4,0 5000,1,1,1 5000,5,3,1
5200,5,4,1 5500,6,3,1 7000,0,5,1 7000,1,5,1 9000,1,4,1 9001,0,4,1"""

#: Filter, preset, parameters, mask of the program that the preset follows.
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
    ("evflow", "emlb", {}, "000000010011000000010000"),
    ("evflow", "emlb", {"tau_us": 5000, "radius": 2}, "000001110110011111110000"),
    ("pfd", "pfds", {}, "000000000010000001010000"),
    ("pfd", "pfds", {"flicker": True}, "000000000010000001010000"),
]

#: The same with time that starts at 0, the initial value in the arrays of these programs.
MASKS_FROM_ZERO = [
    ("ynoise", "emlb", {}, "011111111111111101110111"),
    ("knoise", "emlb", {}, "011101101111011101110111"),
    ("ts", "emlb", {}, "001101100111111111110111"),
    ("pfd", "pfds", {}, "001101100111011111110111"),
    ("pfd", "pfds", {"flicker": True}, "001101100111011111110111"),
]


def toy(t_start):
    t, x, y, p = np.array([row.split(",") for row in TOY.split()], np.int64).T
    return Events(x=x, y=y, t=t + t_start, p=p, resolution=(8, 6))


def mask_of(labels):
    return "".join(str(int(keep)) for keep in labels.signal)


@pytest.mark.parametrize(("name", "preset", "params", "mask"), MASKS)
def test_preset_gives_mask_of_its_program(name, preset, params, mask):
    assert mask_of(denoise(toy(1_000_000), name, preset, **params)) == mask


@pytest.mark.parametrize(("name", "preset", "params", "mask"), MASKS_FROM_ZERO)
def test_preset_gives_mask_of_its_program_from_time_zero(name, preset, params, mask):
    assert mask_of(denoise(toy(0), name, preset, **params)) == mask
    by_default = denoise(toy(0), name)
    assert mask_of(by_default) == mask_of(denoise(toy(1_000_000), name))
    assert mask_of(by_default) != mask


#: Filter, preset, start of time, duration, PFD-B, kept events, start of the SHA-256 of the mask. The
#: masks come from PFDs.cpp and PFD.cpp of github.com/shicy17/PFD, commit 5618127, compiled for a
#: sensor of 40x30.
PFD_MASKS = [
    ("pfd", "pfds", 0, 100_000, False, 2612, "98076bef8108a2f7"),
    ("pfd", "pfds", 0, 100_000, True, 2698, "5fd44f9e82a0b0b1"),
    ("pfd", "pfds", 1_000_000, 100_000, False, 2204, "b1ab2fa219f859fa"),
    ("pfd", "pfds", 1_000_000, 100_000, True, 2281, "017ad435259cd93d"),
    ("pfd", "pfds", 1_000_000, 300_000, False, 318, "b61d6181b0507f72"),
    ("pfd", "pfds", 1_000_000, 300_000, True, 323, "9890df3b283c75c7"),
    ("pfdslices", "pfd", 1_000_000, 100_000, False, 1656, "3c36a0e01dae9998"),
    ("pfdslices", "pfd", 1_000_000, 100_000, True, 1787, "a43f16f2bfb28703"),
    ("pfdslices", "pfd", 1_000_000, 300_000, False, 233, "ba9fb3e7fd97f736"),
    ("pfdslices", "pfd", 1_000_000, 300_000, True, 235, "147de5703f1cff35"),
]


@pytest.mark.parametrize(
    ("name", "preset", "t_start", "duration_us", "flicker", "kept", "digest"), PFD_MASKS
)
def test_presets_of_pfd_give_masks_of_its_programs(
    make_events, name, preset, t_start, duration_us, flicker, kept, digest
):
    events = make_events(4000, resolution=(40, 30), t_start=t_start, duration_us=duration_us)
    signal = denoise(events, name, preset, flicker=flicker).signal
    assert np.count_nonzero(signal) == kept
    assert hashlib.sha256(signal.tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("name", "dv_name"), [("baf", "BackgroundActivityNoiseFilter"), ("knoise", "KNoiseFilter")]
)
@pytest.mark.parametrize("t_start", [0, 1_000_000])
def test_preset_dv_matches_dv_processing(make_events, name, dv_name, t_start):
    dv = pytest.importorskip("dv_processing", reason="dv-processing is the oracle")
    events = make_events(4000, resolution=(40, 30), t_start=t_start, duration_us=20_000)
    other = getattr(dv.noise, dv_name)(events.resolution)
    other.accept(events.to_dv())
    kept = Events.from_dv(other.generateEvents(), events.resolution)
    assert 0 < len(kept) < len(events)
    assert events[denoise(events, name, "dv").signal].equals(kept)


@pytest.mark.parametrize("t_start", [0, 1_000_000, 1_643_243_628_737_093])
@pytest.mark.parametrize("seed", range(3))
def test_fastdecay_matches_dv_processing(make_events, t_start, seed):
    dv = pytest.importorskip("dv_processing", reason="dv-processing is the oracle")
    events = make_events(5000, resolution=(50, 31), seed=seed, t_start=t_start, duration_us=100_000)
    other = dv.noise.FastDecayNoiseFilter(events.resolution)
    other.accept(events.to_dv())
    kept = Events.from_dv(other.generateEvents(), events.resolution)
    assert 0 < len(kept) < len(events)
    assert events[denoise(events, "fastdecay", "dv").signal].equals(kept)


@pytest.mark.parametrize("since_kept", [True, False])
def test_refractory_matches_eventcv(make_events, since_kept):
    pytest.importorskip("eventcv", reason="eventcv is the oracle")
    events = make_events(4000, resolution=(20, 15), duration_us=200_000)
    refresh = "kept" if since_kept else "all"
    kept = Events.from_eventcv(events.to_eventcv().refractory_filter(5_000, refresh=refresh))
    assert 0 < len(kept) < len(events)
    labels = denoise(events, "refractory", period_us=5_000, since_kept=since_kept)
    assert events[labels.signal].equals(kept)


@pytest.mark.parametrize("cross", [False, True])
def test_baf_matches_eventcv(make_events, cross):
    pytest.importorskip("eventcv", reason="eventcv is the oracle")
    events = make_events(4000, resolution=(40, 30), duration_us=20_000)
    neighborhood = "cross" if cross else "block"
    stream = events.to_eventcv().background_activity_filter(500, neighbourhood=neighborhood)
    kept = Events.from_eventcv(stream)
    assert 0 < len(kept) < len(events)
    assert events[denoise(events, "baf", tau_us=500, cross=cross).signal].equals(kept)


def test_activity_equals_baf_with_preset_metavision(make_events):
    events = make_events(3000, resolution=(60, 40))
    ours, baf = denoise(events, "activity"), denoise(events, "baf", "metavision")
    np.testing.assert_array_equal(ours.signal, baf.signal)
    np.testing.assert_array_equal(ours.score, baf.score)
