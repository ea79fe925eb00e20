"""``evcrisp convert``: events, settings, time shift."""

import re
import subprocess

import numpy as np
import pytest

import evcrisp
from evcrisp.core.sensor_data import Imu


def test_convert_round_trip_keeps_events(run, sample, tmp_path, make_events):
    assert "Wrote 1,000 events" in run("convert", sample, tmp_path / "a.aedat4").stdout
    run("convert", tmp_path / "a.aedat4", tmp_path / "b.raw")
    run("convert", tmp_path / "b.raw", tmp_path / "c.out", "--to", "npz")
    assert evcrisp.read(tmp_path / "c.out").equals(make_events(1000))


def test_convert_passes_settings_to_format(run, sample, tmp_path):
    run("convert", sample, tmp_path / "a.npz", "--set", "compressed=true")
    assert (tmp_path / "a.npz").stat().st_size < sample.stat().st_size
    assert (
        "has no option 'level'"
        in run("convert", sample, tmp_path / "b.npz", "--set", "level=1", code=2).stderr
    )
    assert (
        "expects KEY=VALUE"
        in run("convert", sample, tmp_path / "b.npz", "--set", "x", code=2).stderr
    )


@pytest.mark.parametrize(
    "setting", ["format=dat", "overwrite=true", "path=z", "events=z", "on_chunk=z", "imu=z"]
)
def test_settings_do_not_set_arguments_of_write(run, sample, tmp_path, setting):
    result = run("convert", sample, tmp_path / "a.npz", "--set", setting, code=2)
    assert "has no option" in result.stderr


@pytest.mark.parametrize(
    ("setting", "message"),
    [("compressed=maybe", "must be true or false; got 'maybe'"), ("compressed=1", "true or false")],
)
def test_settings_of_wrong_type_are_refused(run, sample, tmp_path, setting, message):
    result = run("convert", sample, tmp_path / "a.npz", "--set", setting, code=2)
    assert message in result.stderr


def test_start_at_zero_shifts_events(run, sample, tmp_path, make_events):
    run("convert", sample, tmp_path / "a.es", "--start-at-zero")
    events = evcrisp.read(tmp_path / "a.es")
    assert events.t.tolist() == (make_events(1000).t - make_events(1000).t[0]).tolist()
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    run("convert", tmp_path / "none.npz", tmp_path / "none.es", "--start-at-zero")


def test_start_at_zero_shifts_sensor_data(run, data_dir, tmp_path):
    source, output = data_dir / "emlb" / "demo-01.aedat4", tmp_path / "a.aedat4"
    run("convert", source, output, "--start-at-zero")
    with evcrisp.open(source) as before, evcrisp.open(output) as after:
        shift = int(next(before.chunks()).t[0])
        assert int(next(after.chunks()).t[0]) == 0
        assert len(after.imu()) == 510
        assert (after.imu().t == before.imu().t - shift).all()
        assert (after.triggers().t == before.triggers().t - shift).all()
        times = [
            [(f.t, f.exposure_start, f.exposure_end) for f in r.frames()] for r in (before, after)
        ]
    assert [tuple(t - shift for t in frame) for frame in times[0]] == times[1]
    result = run("convert", source, tmp_path / "a.npz", "--start-at-zero")
    assert "left out: 510 IMU samples, 52 triggers, 13 frames." in result.stderr


def test_start_at_zero_gives_negative_times_before_first_event(run, tmp_path):
    imu = Imu(t=np.array([900, 1100]), gyro_rad_s=np.zeros((2, 3)), accel_m_s2=np.zeros((2, 3)))
    events = evcrisp.Events(x=[1], y=[1], t=[1000], p=[1], resolution=(8, 4))
    for name in ("a.aedat4", "a.zip"):
        evcrisp.write(tmp_path / name, events, imu=imu)
        run("convert", tmp_path / name, tmp_path / f"zero-{name}", "--start-at-zero")
        with evcrisp.open(tmp_path / f"zero-{name}") as recording:
            assert recording.imu().t.tolist() == [-100, 100]


def test_warning_has_own_line_beside_progress_bar(terminal, make_events, tmp_path):
    labeled = make_events(1000).with_signal([True] * 1000)
    evcrisp.write(tmp_path / "labeled.npz", labeled)
    words = ("convert", "labeled.npz", "a.aedat4")
    process = terminal.start(*words, cwd=tmp_path, stdout=subprocess.PIPE)
    shown = terminal.read_all()
    assert "Wrote 1,000 events" in process.communicate()[0]
    assert "Converting" in shown
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "\n").splitlines()
    assert any(line.startswith("Warning: Format 'aedat4' does not keep labels") for line in lines)
