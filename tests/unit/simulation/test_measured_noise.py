"""Noise from files of measured intervals: distributions, silent pixels, wrong files."""

import numpy as np
import pytest

from evcrisp.core.errors import ConfigError
from evcrisp.simulation import NoiseConfig, Origin, load_measured, simulate
from evcrisp.simulation.measured import EDGES_HZ, Intervals

VIEW = (60, 40)
STILL = {"resolution": VIEW, "theta": (0.0, 0.0)}


def row_of(**counts):
    """Return cumulative counts as in the published files; ``hz_20=5``: 5 intervals from 20 Hz on."""
    bins = np.zeros(72)
    for name, count in counts.items():
        bins[np.flatnonzero(EDGES_HZ[:-1] == float(name[3:]))[0]] = count
    total = np.cumsum(bins)
    total[-1] = 0.0
    return total


SILENT, SLOW = row_of(), row_of(hz_2=10, hz_5=5)
FAST, MIXED = row_of(hz_40=7, hz_60=3), row_of(hz_5=6, hz_20=30, hz_300=4)


def write_pair(folder, on, off, lux="0.1lux"):
    for sign, rows in (("pos", on), ("neg", off)):
        np.save(folder / f"noise_{sign}_{lux}.npy", np.array(rows).reshape(2, -1, 72))


def cumulative(share, interval_s):
    """Return the chance of an interval up to some lengths: a mixture of log-uniform bins."""
    lengths = np.atleast_1d(interval_s)[:, None]
    longest, shortest = 1.0 / EDGES_HZ[:-1], 1.0 / EDGES_HZ[1:]
    within = np.log(lengths / shortest) / np.log(longest / shortest)
    return (share * np.clip(within, 0.0, 1.0)).sum(axis=1)


def ks_distance(found_s, share):
    """Return the largest distance between drawn and true cumulative distribution."""
    found = np.sort(found_s)
    expected = cumulative(share, found)
    n = found.size
    above, below = np.arange(1, n + 1) / n - expected, expected - np.arange(n) / n
    return max(above.max(), below.max())


def test_bins_are_those_of_the_files():
    assert EDGES_HZ.size == 73
    np.testing.assert_allclose(EDGES_HZ[[0, 8, 9, 27, 71, 72]], (1e-3, 9e-3, 1e-2, 1.0, 9e4, 1e5))


def test_shares_are_read_from_cumulative_counts(tmp_path):
    write_pair(tmp_path, [SLOW, SILENT], [FAST, MIXED])
    noise = load_measured(tmp_path)
    assert noise.on.share[0].nonzero()[0].size == 2
    assert noise.on.share[0].sum() == pytest.approx(1.0)
    assert noise.on.share[0].max() == pytest.approx(10 / 15)
    assert noise.on.is_silent.tolist() == [False, True]
    assert not noise.off.is_silent.any()


@pytest.mark.parametrize("row", [SLOW, FAST, MIXED])
def test_drawn_intervals_have_the_distribution_of_the_file(row):
    counts = np.diff(np.append(row[:-1], row[-2]), prepend=0.0)
    intervals = Intervals(np.stack((np.zeros(72), counts / counts.sum(), np.zeros(72))))
    n = 20_000
    found_us = intervals.draw_us(np.ones(n, np.int64), np.random.default_rng(1))
    # Kolmogorov-Smirnov: beyond 1.95 / sqrt(n) with a chance of 0.1 %.
    assert ks_distance(1e-6 * found_us, intervals.share[1]) < 1.95 / np.sqrt(n)
    assert intervals.rate_hz[1] == pytest.approx(1e6 / found_us.mean(), rel=0.03)
    assert intervals.rate_hz[0] == 0.0


@pytest.mark.parametrize("row", [SLOW, FAST, MIXED])
def test_first_event_comes_as_from_any_moment_of_a_long_record(row):
    counts = np.diff(np.append(row[:-1], row[-2]), prepend=0.0)
    intervals = Intervals((counts / counts.sum())[None])
    rng = np.random.default_rng(2)
    first_us = intervals.draw_first_us(np.zeros(20_000, np.int64), rng)
    record = np.cumsum(intervals.draw_us(np.zeros(200_000, np.int64), rng))
    moments = rng.uniform(0, 0.99 * record[-1], 20_000)
    waits_us = record[np.searchsorted(record, moments)] - moments
    both = np.sort(np.concatenate((first_us, waits_us)))
    gap = np.searchsorted(np.sort(first_us), both) - np.searchsorted(np.sort(waits_us), both)
    # Two samples of n: 1.95 sqrt(2 / n).
    assert np.abs(gap).max() / 20_000 < 1.95 * np.sqrt(2 / 20_000)


def test_intervals_of_a_recording_have_the_distribution_of_the_file(tmp_path):
    write_pair(tmp_path, [FAST, FAST], [SILENT, SILENT])
    duration_us = 4_000_000
    simulation = simulate(**STILL, duration_us=duration_us, measured=tmp_path)
    events = simulation.events
    assert (simulation.origin == Origin.MEASURED).all()
    assert not events.signal.any()
    assert events.p.all()
    pixel = events.y.astype(np.int64) * VIEW[0] + events.x
    order = np.lexsort((events.t, pixel))
    same = np.diff(pixel[order]) == 0
    gaps = np.diff(events.t[order])[same]
    share = load_measured(tmp_path).on.share[0]
    # Intervals that the end cuts off are missing: about the longest of each pixel.
    assert ks_distance(1e-6 * gaps, share) < 0.01
    assert len(events) == pytest.approx(load_measured(tmp_path).on.rate_hz[0] * 4 * 2400, rel=0.01)


def test_rate_is_the_same_from_the_first_moment_on(tmp_path):
    write_pair(tmp_path, [MIXED, MIXED], [MIXED, MIXED])
    simulation = simulate(**STILL, duration_us=800_000, measured=tmp_path)
    counts = np.bincount(simulation.events.t // 100_000, minlength=8)
    expected = load_measured(tmp_path).rate_hz * 0.1 * 2400
    # Bursts: the counts vary more than those of a Poisson process.
    np.testing.assert_allclose(counts, expected, rtol=0.1)


def test_silent_pixels_stay_silent_and_polarities_are_apart(tmp_path):
    # Measured pixels: none, ON only, OFF only, both.
    write_pair(tmp_path, [SILENT, FAST, SILENT, FAST], [SILENT, SILENT, FAST, FAST])
    simulation = simulate(**STILL, duration_us=1_000_000, measured=tmp_path, seed=3)
    events = simulation.events
    pixel = events.y.astype(np.int64) * VIEW[0] + events.x
    on = np.bincount(pixel[events.p], minlength=2400) > 0
    off = np.bincount(pixel[~events.p], minlength=2400) > 0
    kinds = [(~on & ~off).mean(), (on & ~off).mean(), (~on & off).mean(), (on & off).mean()]
    np.testing.assert_allclose(kinds, 0.25, atol=0.04)


def test_measured_noise_changes_neither_signal_nor_other_noise(tmp_path):
    write_pair(tmp_path, [FAST, MIXED], [MIXED, SLOW])
    settings = {"resolution": VIEW, "duration_us": 60_000, "noise_hz": 20.0, "shot_hz": 5.0}
    plain = simulate(**settings)
    noisy = simulate(**settings, measured=tmp_path)
    others = noisy.origin != Origin.MEASURED
    assert 0 < others.sum() < len(noisy.events)
    assert noisy.events[others].equals(plain.events)


def test_equal_seeds_and_files_give_equal_noise(tmp_path):
    write_pair(tmp_path, [FAST, MIXED], [MIXED, SLOW])
    settings = {**STILL, "duration_us": 100_000}
    first = simulate(**settings, measured=tmp_path, seed=5)
    assert first.events.equals(simulate(**settings, measured=str(tmp_path), seed=5).events)
    pair = [tmp_path / "noise_pos_0.1lux.npy", tmp_path / "noise_neg_0.1lux.npy"]
    again = simulate(**settings, measured=pair, seed=5)
    assert first.events.equals(again.events)
    assert first.config == again.config
    assert hash(first.config) == hash(again.config)
    assert not first.events.equals(simulate(**settings, measured=tmp_path, seed=6).events)
    truth = first.as_dict()["settings"]["noise"]
    assert truth["measured_digest"] == load_measured(tmp_path).digest
    assert "measured" not in truth


def test_configs_with_other_files_are_different(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_pair(tmp_path / "a", [FAST, SLOW], [SLOW, FAST])
    write_pair(tmp_path / "b", [SLOW, FAST], [SLOW, FAST])
    assert NoiseConfig(measured=tmp_path / "a") == NoiseConfig(measured=tmp_path / "a")
    assert NoiseConfig(measured=tmp_path / "a") != NoiseConfig(measured=tmp_path / "b")
    assert NoiseConfig(measured=tmp_path / "a") != NoiseConfig()


def test_illumination_selects_the_files(tmp_path):
    write_pair(tmp_path, [FAST, FAST], [FAST, FAST], lux="0.1lux")
    write_pair(tmp_path, [SLOW, SLOW], [SLOW, SLOW], lux="161lux")
    dark, light = (load_measured(tmp_path, lux) for lux in (0.1, "161lux"))
    assert dark.rate_hz > 5 * light.rate_hz
    assert load_measured(tmp_path, "0.1lux").digest == dark.digest
    for lux in (None, 5.0):
        with pytest.raises(ConfigError, match="`measured_lux` must be one of .*: 0.1lux, 161lux"):
            load_measured(tmp_path, lux)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 72)), r"of shape \(rows, columns, 72\); got shape \(2, 72\)"),
        (np.zeros((2, 2, 71)), r"got shape \(2, 2, 71\)"),
        (np.zeros((0, 2, 72)), r"got shape \(0, 2, 72\)"),
        (np.full((2, 2, 72), "a"), "measured noise must be cumulative counts .*; got <U1"),
        (np.full((2, 2, 72), np.nan), "finite and do not decrease"),
        (np.full((2, 2, 72), -1.0), "finite and do not decrease"),
        (np.tile(np.arange(72.0)[::-1], (2, 2, 1)), "finite and do not decrease"),
    ],
)
def test_wrong_content_raises(tmp_path, array, message):
    write_pair(tmp_path, [FAST, FAST], [FAST, FAST])
    np.save(tmp_path / "noise_neg_0.1lux.npy", array)
    with pytest.raises(ConfigError, match=f"noise_neg_0.1lux.npy: .*{message}"):
        load_measured(tmp_path)


def test_files_of_different_sensors_raise(tmp_path):
    write_pair(tmp_path, [FAST, FAST], [FAST] * 4)
    with pytest.raises(ConfigError, match="as many pixels for ON as for OFF; got 2 and 4"):
        load_measured(tmp_path)


def test_missing_files_raise(tmp_path):
    with pytest.raises(ConfigError, match="`measured` holds no file noise_pos_<lux>.npy"):
        simulate(**STILL, measured=tmp_path)
    with pytest.raises(ConfigError, match="`measured` must be a folder with noise_pos_<lux>.npy"):
        simulate(**STILL, measured=tmp_path / "none")
    np.save(tmp_path / "noise_pos_1lux.npy", np.zeros((1, 1, 72)))
    with pytest.raises(ConfigError, match="noise_neg_1lux.npy: not readable as measured noise"):
        simulate(**STILL, measured=tmp_path)
    for source in (3.0, [tmp_path], ["a", "b", "c"]):
        with pytest.raises(ConfigError, match="`measured` must be a folder, or the two files"):
            simulate(**STILL, measured=source)


def test_damaged_file_raises(tmp_path):
    write_pair(tmp_path, [FAST, FAST], [FAST, FAST])
    (tmp_path / "noise_pos_0.1lux.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(ConfigError, match="noise_pos_0.1lux.npy: not readable as measured noise"):
        load_measured(tmp_path)
