"""Metrics without truth: known values, slices, controls and streams."""

import math

import numpy as np
import pytest

from evcrisp import ConfigError, EventDataError, Events
from evcrisp.metrics import (
    AoccMeter,
    EsrMeter,
    QualityMeter,
    aocc,
    block_entropy,
    entropy_reduction,
    esr,
    random_chunks,
    random_subset,
)


def with_counts(counts, width=8):
    """Return events with given counts per pixel."""
    x = np.repeat(np.arange(len(counts)), counts)
    return Events(x=x % width, y=x // width, t=np.arange(x.size), p=x % 2, resolution=(width, 6))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([2, 1, 3], 0.819515),
        ([2, 1, 3, 1, 2, 1], 0.700476),
        ([2], 0.866025),
        ([1], 0.0),
        ([1, 1, 1, 1], 0.0),
    ],
)
def test_esr_known_values(counts, expected):
    report = esr(with_counts(counts), slice_events=sum(counts))
    assert report.esr == pytest.approx(expected, abs=5e-7)
    assert report.slices.occupied.tolist() == [len(counts)]
    assert report.n_slices == 1


def test_esr_factors_known_values():
    slices = esr(with_counts([2, 1, 3]), slice_events=6).slices
    assert slices.ntss[0] == pytest.approx(8 / 30)
    assert slices.l_n[0] == pytest.approx(2.518519, abs=5e-7)


def test_esr_of_uniform_noise(make_events):
    n_pixels = 346 * 260
    report = esr(make_events(300_000))
    assert report.n_slices == 10
    assert report.esr == pytest.approx(
        math.sqrt(1 - math.exp(-2 * 30_000 / 3 / n_pixels)), abs=0.01
    )


def test_esr_v2_of_isolated_events_is_zero():
    assert esr(with_counts([5, 0, 0, 4]), slice_events=9).esr_v2 == 0.0


def test_esr_v2_of_block_follows_medians():
    x, y = np.meshgrid(np.arange(2, 5), np.arange(2, 5))
    events = Events(x=x.ravel(), y=y.ravel(), t=np.arange(9), p=[1] * 9, resolution=(8, 8))
    # Five of nine counts are 1 at the center and its four neighbors; four at the corners.
    expected = 1000 * math.sqrt(5 / 81 * (5 * 0.5) / 64)
    assert esr(events, slice_events=9).esr_v2 == pytest.approx(expected)


def test_incomplete_last_slice_is_dropped(make_events):
    events = make_events(250)
    report = esr(events, slice_events=100)
    assert (report.n_slices, report.n_events) == (2, 250)
    assert report.slicing == "100 events"
    assert report.slices.n_events.tolist() == [100, 100]


def test_time_slices_start_at_first_event_and_drop_last():
    t = [100, 101, 109, 110, 111, 135]
    events = Events(x=[0] * 6, y=[0] * 6, t=t, p=[1] * 6, resolution=(1, 1))
    report = esr(events, slice_us=10)
    assert report.slices.n_events.tolist() == [3, 2]
    assert report.n_empty == 1
    assert report.slicing == "10 us"


def test_long_pause_is_skipped():
    events = Events(x=[0, 0], y=[0, 0], t=[0, 2**60], p=[1, 1], resolution=(1, 1))
    assert esr(events, slice_us=1).n_empty == 2**60 - 1
    assert np.isfinite(aocc(events).aocc)


def test_esr_without_complete_slice_is_nan(make_events):
    report = esr(make_events(10))
    assert report.n_slices == 0
    assert math.isnan(report.esr)
    assert math.isnan(report.esr_v2)
    assert math.isnan(esr(Events.empty((4, 4)), slice_us=1000).esr)
    assert math.isnan(esr([]).esr)


def test_esr_report_has_retention_and_random_control(make_events):
    raw = make_events(4000, (40, 30))
    clean = raw[raw.x < 10]
    report = esr(clean, raw=raw, slice_events=500, seed=3)
    assert report.retention == len(clean) / 4000
    assert report.raw_esr == esr(raw, slice_events=500).esr
    control = random_subset(raw, len(clean), seed=3)
    assert report.random_esr == esr(control, slice_events=500).esr
    assert report.random_esr_v2 == esr(control, slice_events=500).esr_v2
    assert report.esr > report.random_esr
    assert math.isnan(esr(clean, slice_events=500).retention)


def test_more_events_than_raw_raise(make_events):
    with pytest.raises(EventDataError, match="must be a subset of the raw ones"):
        esr(make_events(20), raw=make_events(10), slice_events=5)


def test_raw_iterator_raises(make_events):
    raw = make_events(400)
    pieces = [raw[:150], raw[150:]]
    with pytest.raises(EventDataError, match="`raw` is read twice.*got a generator.*a list of chu"):
        esr(raw[::2], raw=(piece for piece in pieces), slice_events=50)
    with pytest.raises(EventDataError, match="`raw` is read twice.*got a list_iterator"):
        esr(raw[::2], raw=iter(pieces), slice_events=50)
    in_pieces = esr(raw[::2], raw=pieces, slice_events=50)
    assert in_pieces.random_esr == esr(raw[::2], raw=raw, slice_events=50).random_esr


@pytest.mark.parametrize("setting", [{"slice_events": 0}, {"slice_us": 0}, {"slice_events": 1.5}])
def test_invalid_slices_raise(make_events, setting):
    with pytest.raises(ConfigError, match="must be a positive whole number"):
        esr(make_events(5), **setting)
    with pytest.raises(ConfigError, match="below"):
        esr(make_events(5), slice_events=2**31)


@pytest.mark.parametrize("meter", [EsrMeter, AoccMeter, QualityMeter])
def test_chunks_of_other_sensor_raise(make_events, meter):
    started = meter((346, 260))
    started.add(make_events(5))
    with pytest.raises(EventDataError, match="one resolution"):
        started.add(make_events(5, (10, 10)))


def test_random_subset_has_exact_size_seed_and_order(make_events):
    events = make_events(1000)
    subset = random_subset(events, 300, seed=1)
    assert len(subset) == 300
    assert subset.equals(random_subset(events, 300, seed=1))
    assert not subset.equals(random_subset(events, 300, seed=2))
    assert len(random_subset(events, 0)) == 0
    assert random_subset(events, 1000).equals(events)
    with pytest.raises(ConfigError, match=r"must lie in 0..1000"):
        random_subset(events, 1001)


def test_random_subset_is_uniform():
    events = Events(x=range(40), y=[0] * 40, t=range(40), p=[1] * 40, resolution=(40, 1))
    drawn = np.zeros(40)
    for seed in range(2000):
        drawn[random_subset(events, 10, seed=seed).x] += 1
    assert np.abs(drawn / 2000 - 0.25).max() < 0.04  # four standard deviations


def test_random_chunks_do_not_depend_on_cuts(make_events):
    events = make_events(1000)
    pieces = (events[:1], events[1:1], events[1:700], events[700:])
    drawn = Events.concatenate(random_chunks(pieces, 300, n_total=1000, seed=1))
    assert drawn.equals(random_subset(events, 300, seed=1))


@pytest.mark.parametrize(
    ("n_total", "n_found"), [(200, "700 or more"), (999, "1000 or more"), (1001, "1000")]
)
def test_random_chunks_with_wrong_total_raise(make_events, n_total, n_found):
    events = make_events(1000)
    chunks = random_chunks((events[:700], events[700:]), 100, n_total=n_total)
    with pytest.raises(ConfigError, match=f"which has {n_found}; got {n_total}. Count them"):
        list(chunks)


def test_aocc_of_edge_equals_blurred_line():
    edge = Events(x=[4] * 8, y=range(8), t=range(8), p=[1] * 8, resolution=(9, 8))
    profile = np.array([0, 0, 39, 57, 64, 57, 39, 0, 0])  # 255 times the weights, rounded
    slopes = 4 * np.diff(np.concatenate((profile[1:2], profile, profile[-2:-1])), n=1)
    slopes = slopes[:-1] + slopes[1:]
    curve = aocc(edge)
    assert curve.contrast == pytest.approx([np.abs(slopes).std()] * 100)
    assert curve.aocc == pytest.approx(np.abs(slopes).std() * 198_000)
    assert curve.n_frames.tolist() == [1] * 100


def test_aocc_ignores_frames_without_events():
    events = Events(x=[3, 3], y=[3, 3], t=[0, 9_000], p=[1, 1], resolution=(8, 8))
    curve = aocc(events)
    assert curve.durations_us[:5].tolist() == [2000, 4000, 6000, 8000, 10_000]
    assert curve.n_frames[:5].tolist() == [2, 2, 2, 2, 1]
    np.testing.assert_allclose(curve.contrast, curve.contrast[0])


def test_aocc_without_events_is_nan():
    for source in (Events.empty((8, 8)), []):
        curve = aocc(source)
        assert math.isnan(curve.aocc)
        assert np.isnan(curve.contrast).all()


def test_aocc_curve_is_available_between_chunks(make_events):
    events = make_events(200, (16, 12))
    meter = AoccMeter((16, 12))
    meter.add(events[:120])
    assert meter.curve().aocc == aocc(events[:120]).aocc
    meter.add(events[120:])
    assert meter.curve().aocc == pytest.approx(aocc(events).aocc, rel=1e-12)


def test_block_entropy_known_values():
    events = Events(x=[0, 20, 0, 20], y=[0, 0, 20, 20], t=range(4), p=[1] * 4, resolution=(33, 33))
    assert block_entropy(events) == 2.0
    assert block_entropy(events, block_px=64) == 0.0
    assert block_entropy([events[:2], events[2:]]) == 2.0
    assert entropy_reduction(events[:2], raw=events) == 1.0
    assert math.isnan(block_entropy(Events.empty((33, 33))))
    assert math.isnan(block_entropy([]))
    with pytest.raises(ConfigError, match="block_px"):
        block_entropy(events, block_px=0)


def test_quality_equals_single_functions(make_events):
    events = make_events(3000, (60, 40)).with_signal(np.arange(3000) % 3 == 0)
    meter = QualityMeter((60, 40), slice_events=500)
    for piece in (events[:700], events[700:700], events[700:]):
        meter.add(piece)
    quality = meter.quality()
    assert (quality.n_events, quality.n_signal) == (3000, 1000)
    assert quality.duration_s == events.duration_us / 1e6
    assert quality.rate_hz == 3000 / quality.duration_s
    assert quality.esr.esr == esr(events, slice_events=500).esr
    assert quality.aocc.aocc == pytest.approx(aocc(events).aocc, rel=1e-12)
    assert quality.entropy_bits == block_entropy(events)
    assert quality.as_dict()["n_slices"] == 6


def test_quality_without_events_is_nan():
    quality = QualityMeter((8, 8)).quality()
    assert quality.n_events == 0
    assert quality.n_signal is None
    unknown = ("rate_hz", "esr", "esr_v2", "ntss", "l_n", "occupied_px", "aocc", "entropy_bits")
    assert all(math.isnan(quality.as_dict()[name]) for name in unknown)
