"""``evcrisp info``: JSON and text."""

import gzip
import json
import re

import numpy as np
import pytest

import evcrisp


def test_info_prints_json(run, sample, make_events):
    facts = json.loads(run("info", sample, "--json").stdout)
    events = make_events(1000)
    assert facts["format"] == "npz"
    assert (facts["width"], facts["height"]) == (346, 260)
    assert (facts["n_events"], facts["n_on"], facts["n_off"]) == (
        1000,
        events.n_on,
        1000 - events.n_on,
    )
    assert (facts["t_first_us"], facts["t_last_us"]) == (events.t[0], events.t[-1])
    assert facts["duration_s"] == pytest.approx(events.duration_us / 1e6)
    assert facts["imu_samples"] == 0


def test_info_of_empty_recording_has_no_times(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    facts = json.loads(run("info", tmp_path / "none.npz", "--json").stdout)
    assert (facts["n_events"], facts["t_first_us"], facts["duration_s"]) == (0, None, 0.0)
    assert "events" in run("info", tmp_path / "none.npz").stdout


def test_info_prints_format_and_counts(run, sample):
    page = run("info", sample).stdout
    for word in ("npz", "346 x 260 px", "1,000", "% ON", "thousand events/s"):
        assert word in page


def test_info_counts_labels(run, sample, make_events, tmp_path):
    assert "signal / noise" not in run("info", sample).stdout
    labeled = make_events(1000).with_signal(np.arange(1000) < 250)
    evcrisp.write(tmp_path / "labeled.npz", labeled)
    page = run("info", tmp_path / "labeled.npz").stdout
    assert re.search(r"^signal / noise +250 / 750 \(25.0% signal\)$", page, re.M)


@pytest.mark.parametrize(
    ("t", "rate"),
    [
        ([7], "-"),
        ([7, 7], "-"),
        ([0, 1_000_000], "2 events/s"),
        ([0, 600_000_000], "0.00333 events/s"),
        ([0, 2_001], "1000 events/s"),
        ([0, 1_000], "2.0 thousand events/s"),
        ([0, 1], "2.0 million events/s"),
    ],
)
def test_info_scales_units_of_rate(run, tmp_path, t, rate):
    n = len(t)
    events = evcrisp.Events(x=[0] * n, y=[0] * n, t=t, p=[1] * n, resolution=(8, 4))
    evcrisp.write(tmp_path / "slow.npz", events)
    page = run("info", tmp_path / "slow.npz").stdout
    assert re.search(rf"^rate +{rate}$", page, re.M), page


def test_info_truncate_counts_events_before_damage(run, sample, tmp_path):
    text = tmp_path / "cut.txt"
    run("convert", sample, text)
    text.write_bytes(text.read_bytes()[:-3])
    result = run("info", text, "--resolution", "346x260", code=1)
    assert "after 999 events" in result.stderr
    assert "Keep the events before the damage with --on-error truncate." in result.stderr
    result = run("info", text, "--resolution", "346x260", "--on-error", "truncate", "--json")
    facts = json.loads(result.stdout)
    assert facts["n_events"] == 999
    assert "kept the 999 events" in facts["damage"]
    assert "Warning: " in result.stderr


def test_guessed_sensor_size_suggests_resolution(run, sample, tmp_path):
    run("convert", sample, tmp_path / "a.txt")
    result = run("info", tmp_path / "a.txt", "--json")
    facts = json.loads(result.stdout)
    assert facts["resolution_source"] == "guessed"
    assert "If this is wrong, set the sensor size with --resolution WxH." in result.stderr


@pytest.mark.parametrize("name", ["a.npz", "a.zip"])
def test_truncated_archive_is_explained(run, sample, tmp_path, name):
    path = tmp_path / name
    run("convert", sample, path)
    path.write_bytes(path.read_bytes()[:-40])
    message = run("info", path, code=1).stderr
    assert "cut short; copy it again (its directory is missing)" in message
    assert "not a zip" not in message
    labels = tmp_path / "labels.npz"
    np.savez(labels, signal=np.ones(1000, bool))
    labels.write_bytes(labels.read_bytes()[:-40])
    message = run("evaluate", sample, "--labels", labels, "--no-aocc", code=1).stderr
    assert "the archive is cut short" in message


@pytest.mark.parametrize("name", ["a.aedat4", "a.raw"])
def test_gzip_recording_suggests_gunzip(run, sample, tmp_path, name):
    run("convert", sample, tmp_path / name)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert (
        f"unpack it first, such as with `gunzip -k {name}.gz`" in run("info", packed, code=1).stderr
    )


def test_info_tells_of_empty_parts_of_the_sensor(run, sample, make_events, tmp_path):
    assert "live area" not in run("info", sample).stdout
    events = make_events(5000)
    wide = evcrisp.Events(x=events.x, y=events.y, t=events.t, p=events.p, resolution=(1280, 720))
    evcrisp.write(tmp_path / "wide.npz", wide)
    page = run("info", tmp_path / "wide.npz").stdout
    assert re.search(r"^live area +90% of the sensor of 1280x720 px has no events\.", page, re.M)
    area = json.loads(run("info", tmp_path / "wide.npz", "--json").stdout)["live_area"]
    assert (area["width"], area["height"]) == (346, 260)
    assert area["empty_share"] == pytest.approx(0.9024, abs=1e-3)


def test_info_shows_camera_streams_and_clock(run, make_events, tmp_path):
    from evcrisp.io.aedat.aedat4_writer import Aedat4Writer

    path = tmp_path / "a.aedat4"
    events = make_events(1000, t_start=1_643_243_628_737_093)
    evcrisp.write(path, events, format=Aedat4Writer(camera="DAVIS346_00000391"))
    page = run("info", path).stdout
    for name, value in {
        "camera": "DAVIS346_00000391",
        "serial number": "00000391",
        "compression": "LZ4",
        "contents": r"0: events \(EVTS\) 346x260 px",
        "clock": r"Unix time; the first event is at 2022-01-27T00:33:48\.\d{6}Z",
    }.items():
        assert re.search(rf"^{name} +{value}$", page, re.M), page
    facts = json.loads(run("info", path, "--json").stdout)
    assert facts["serial_number"] == "00000391"
    assert facts["utc_first"].startswith("2022-01-27T00:33:48.")


def test_info_leaves_out_what_the_file_does_not_state(run, sample, tmp_path):
    page = run("info", sample).stdout
    for name in ("camera", "serial number", "compression", "contents", "recorded"):
        assert not re.search(rf"^{name}\b", page, re.M)
    assert re.search("^clock +counts from a start that is not stated$", page, re.M)
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    assert "clock" not in run("info", tmp_path / "none.npz").stdout


def test_long_pause_is_shown_with_the_rate_without_it(run, tmp_path):
    t = [*range(0, 100_000, 10), *range(3_600_000_000, 3_600_100_000, 10)]
    zeros = [0] * len(t)
    evcrisp.write(
        tmp_path / "a.npz", evcrisp.Events(x=zeros, y=zeros, t=t, p=zeros, resolution=(8, 4))
    )
    page = run("info", tmp_path / "a.npz").stdout
    (row,) = [line for line in page.splitlines() if line.startswith("longest pause")]
    assert row.split(maxsplit=2)[2] == (
        "3599.900 s, 0.100 s after the first event; 100.0 thousand events/s without it"
    )
    facts = json.loads(run("info", "--json", tmp_path / "a.npz").stdout)
    assert (facts["longest_pause_start_us"], facts["longest_pause_us"]) == (99_990, 3_599_900_010)


def test_short_pauses_are_not_shown(run, sample):
    assert "longest pause" not in run("info", sample).stdout
