"""Rules for every output format."""

import errno
import json
import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sensor_data import GivenData

import evcrisp
from evcrisp import Events
from evcrisp.core.sensor_data import Frame, Imu, TriggerKind, Triggers
from evcrisp.io import READERS, WRITERS

pytestmark = pytest.mark.slow


def path_for(name, folder, stem="a"):
    return folder / f"{stem}{WRITERS[name].suffixes[0]}"


@st.composite
def any_events(draw):
    width, height = draw(st.sampled_from([(1, 1), (2, 3), (128, 128), (346, 260), (1280, 720)]))
    n = draw(st.integers(0, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    start = draw(st.sampled_from([0, 1, 4095, 4096, 2**24 - 5, 2**24 + 9, 2**31 - 50, 2**31 + 7]))
    step = draw(st.sampled_from([1, 3, 100, 5000, 200_000]))
    return Events(
        x=rng.integers(0, width, n),
        y=rng.integers(0, height, n),
        t=start + np.cumsum(rng.integers(0, step, n)),
        p=rng.integers(0, 2, n).astype(bool),
        resolution=(width, height),
    )


@pytest.mark.parametrize("name", WRITERS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(events=any_events())
def test_round_trip_keeps_the_events(name, tmp_path_factory, events):
    path = path_for(name, tmp_path_factory.mktemp("law"))
    assert evcrisp.write(path, events, format=name) == len(events)
    assert evcrisp.read(path, resolution=events.resolution).equals(events)


@pytest.mark.parametrize("name", WRITERS)
def test_round_trip_keeps_the_sensor_size(name, make_events, tmp_path):
    events = make_events(50, resolution=(300, 200))
    evcrisp.write(path_for(name, tmp_path), events, format=name)
    with evcrisp.open(path_for(name, tmp_path)) as opened:
        assert opened.format == name
        if name != "ecd":  # plain text has no place for it
            assert opened.resolution == (300, 200)


@pytest.mark.parametrize("name", WRITERS)
def test_chunks_give_the_same_bytes_as_the_whole(name, make_events, tmp_path):
    events = make_events(5000)
    evcrisp.write(path_for(name, tmp_path, "whole"), events, format=name)
    evcrisp.write(path_for(name, tmp_path, "again"), events, format=name)
    assert content(path_for(name, tmp_path, "whole")) == content(path_for(name, tmp_path, "again"))
    parts = (events[:0], events[:7], events[7:4000], events[4000:4000], events[4000:])
    evcrisp.write(path_for(name, tmp_path, "parts"), parts, format=name)
    assert content(path_for(name, tmp_path, "parts")) == content(path_for(name, tmp_path, "whole"))
    assert evcrisp.read(path_for(name, tmp_path, "parts"), resolution=events.resolution).equals(
        events
    )


def content(path):
    if path.is_dir():
        return {p.name: p.read_bytes() for p in sorted(path.iterdir())}
    return path.read_bytes()


@pytest.mark.parametrize("name", WRITERS)
def test_labels_are_kept_or_their_loss_is_logged(name, make_events, tmp_path, caplog):
    events = make_events(300)
    events = events.with_signal(events.x % 3 > 0)
    evcrisp.write(path_for(name, tmp_path), events, format=name)
    back = evcrisp.read(path_for(name, tmp_path), resolution=events.resolution)
    if WRITERS[name].keeps_signal:
        assert back.equals(events)
        assert not caplog.records
    else:
        assert back.signal is None
        assert "does not keep labels" in caplog.text


def some_data():
    """Return four IMU samples, three edges and two gray frames."""
    vectors = np.arange(12.0).reshape(4, 3)
    samples = Imu(t=np.arange(4) * 500, gyro_rad_s=vectors, accel_m_s2=vectors + 1)
    kind = np.array([TriggerKind.RISING_EDGE, TriggerKind.FALLING_EDGE, TriggerKind.RISING_EDGE])
    t, channel = np.array([10, 1_000_020, 2_000_000]), np.zeros(3, np.uint8)
    edges = Triggers(t=t, kind=kind.astype(np.uint8), channel=channel)
    images = (Frame(t=t, image=np.full((4, 6), t % 251, np.uint8)) for t in (20, 1_050_000))
    return GivenData(samples, edges, tuple(images))


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("n", [0, 700])
def test_sensor_data_is_kept_or_its_loss_is_logged(name, n, make_events, tmp_path, caplog):
    events, data, keeps = make_events(n), some_data(), WRITERS[name].keeps
    evcrisp.write(path_for(name, tmp_path), events, format=name, sensor_data_from=data)
    lost = caplog.text.partition("left out: ")[2]
    with evcrisp.open(path_for(name, tmp_path), resolution=events.resolution) as opened:
        assert opened.read().equals(events)
        imu, triggers, frames = opened.imu(), opened.triggers(), list(opened.frames())
    assert ("4 IMU samples" in lost) == ("imu" not in keeps)
    assert ("3 triggers" in lost) == ("triggers" not in keeps)
    assert ("2 frames" in lost) == ("frames" not in keeps)
    if "imu" in keeps:
        assert imu.t.tolist() == data.imu().t.tolist()
        np.testing.assert_allclose(imu.gyro_rad_s, data.imu().gyro_rad_s, rtol=1e-6)
        np.testing.assert_allclose(imu.accel_m_s2, data.imu().accel_m_s2, rtol=1e-6)
    if "triggers" in keeps:
        assert triggers.t.tolist() == data.triggers().t.tolist()
        assert triggers.kind.tolist() == data.triggers().kind.tolist()
    if "frames" in keeps:
        assert [frame.t for frame in frames] == [20, 1_050_000]
        assert [int(frame.image[0, 0]) for frame in frames] == [20, 1_050_000 % 251]


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_overwritten_unless_allowed(name, make_events, tmp_path):
    path = path_for(name, tmp_path)
    first, second = make_events(10, seed=1), make_events(20, seed=2)
    evcrisp.write(path, first, format=name)
    with pytest.raises(evcrisp.OutputError, match="exists already"):
        evcrisp.write(path, second, format=name)
    assert len(evcrisp.read(path, resolution=first.resolution)) == 10
    evcrisp.write(path, second, format=name, overwrite=True)
    assert len(evcrisp.read(path, resolution=first.resolution)) == 20


@pytest.mark.parametrize("name", WRITERS)
def test_failure_keeps_the_old_file_and_leaves_no_temporary_one(name, make_events, tmp_path):
    path = path_for(name, tmp_path)
    evcrisp.write(path, make_events(10), format=name)
    before = content(path)

    def failing():
        yield make_events(1000)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        evcrisp.write(path, failing(), format=name, overwrite=True)
    assert content(path) == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


FULL_DISK = """
import resource, signal, sys, json
import numpy as np, evcrisp
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
n = 40_000
rng = np.random.default_rng(0)
events = evcrisp.Events(x=rng.integers(0, 346, n), y=rng.integers(0, 260, n),
    t=np.arange(n) * 7, p=rng.integers(0, 2, n), resolution=(346, 260))
try:
    evcrisp.write(sys.argv[1], events, format=sys.argv[2], overwrite=True)
except (OSError, evcrisp.EvError) as error:
    print(json.dumps({"kind": type(error).__name__, "errno": error.errno, "text": str(error)}))
"""


@pytest.mark.parametrize("limit", [20_000, 60_000])
@pytest.mark.parametrize("name", WRITERS)
def test_full_disk_is_an_error_and_keeps_the_old_file(name, limit, make_events, tmp_path):
    path = path_for(name, tmp_path)
    evcrisp.write(path, make_events(10), format=name)
    before = content(path)
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, path, name, str(limit)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert result.returncode == 0, result.stderr[-2000:]
    error = json.loads(result.stdout)
    assert error["kind"] == "OutputError"
    assert error["errno"] == errno.EFBIG
    assert error["text"] == f"{path} could not be written: {os.strerror(errno.EFBIG)}."
    assert content(path) == before
    assert {p.name for p in tmp_path.iterdir()} - {"cache"} == {path.name}


@pytest.mark.parametrize("name", WRITERS)
def test_chunks_of_different_sensors_or_times_are_refused(name, make_events, tmp_path):
    first, second = make_events(50), make_events(50, t_start=5_000_000)
    path = path_for(name, tmp_path)
    with pytest.raises(evcrisp.EventDataError, match="follow each other in time"):
        evcrisp.write(path, [second, first], format=name)
    with pytest.raises(evcrisp.EventDataError, match="of one sensor"):
        evcrisp.write(
            path, [first, make_events(5, resolution=(9, 9), t_start=6_000_000)], format=name
        )
    with pytest.raises(evcrisp.EventDataError, match="got str"):
        evcrisp.write(path, "scene.npz", format=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITERS)
def test_simultaneous_writers_do_not_disturb_each_other(name, make_events, tmp_path):
    path = path_for(name, tmp_path)
    versions = [make_events(3000 + i, seed=i) for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(evcrisp.write, path, events, format=name, overwrite=True)
            for events in versions
        ]
    assert [job.result() for job in jobs] == [len(events) for events in versions]
    back = evcrisp.read(path, resolution=(346, 260))
    assert any(back.equals(events) for events in versions)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_file_created_meanwhile_is_kept(make_events, tmp_path):
    path = tmp_path / "a.npz"

    def chunks():
        yield make_events(10)
        path.write_text("theirs")

    with pytest.raises(evcrisp.OutputError, match="in the meantime"):
        evcrisp.write(path, chunks())
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_link_is_followed_and_the_mode_is_kept(make_events, tmp_path):
    real, link = tmp_path / "real.npz", tmp_path / "link.npz"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    evcrisp.write(link, make_events(10), overwrite=True)
    assert link.is_symlink()
    assert len(evcrisp.read(real)) == 10
    assert real.stat().st_mode & 0o777 == 0o640


def test_labeled_folder_can_be_replaced_by_an_unlabeled_one(make_events, tmp_path):
    path = tmp_path / "a.columns"
    events = make_events(10)
    evcrisp.write(path, events.with_signal([True] * 10))
    evcrisp.write(path, events, overwrite=True)
    assert evcrisp.read(path).signal is None


def test_every_writer_has_a_reader_and_all_attributes():
    assert set(WRITERS) <= set(READERS)
    for table in (READERS, WRITERS):
        for name, entry in table.items():
            assert entry.name == name
            assert entry.title
            assert all(suffix.startswith(".") for suffix in entry.suffixes)
    for reader in READERS.values():
        areas = [width * height for width, height in reader.standard_sizes]
        assert areas == sorted(areas)


def test_unknown_formats_suffixes_and_options_are_explained(make_events, tmp_path):
    events = make_events(3)
    with pytest.raises(evcrisp.ConfigError, match="No output format has the suffix of 'a.xyz'"):
        evcrisp.write(tmp_path / "a.xyz", events)
    with pytest.raises(evcrisp.UnknownNameError, match="Did you mean 'npz'"):
        evcrisp.write(tmp_path / "a.npz", events, format="npzz")
    with pytest.raises(evcrisp.ConfigError, match="has no option 'zip'. Known: compressed"):
        evcrisp.write(tmp_path / "a.npz", events, zip=True)
    with pytest.raises(evcrisp.UnknownNameError, match="Unknown format 'nope'"):
        evcrisp.read(tmp_path, format="nope")
    with pytest.raises(evcrisp.OutputError, match="does not exist"):
        evcrisp.write(tmp_path / "no" / "a.npz", events)


def test_folder_with_other_files_is_never_replaced(make_events, tmp_path):
    folder = tmp_path / "photos.npz"
    folder.mkdir()
    (folder / "holiday.jpg").write_bytes(b"dear")
    with pytest.raises(evcrisp.OutputError, match="holds other files"):
        evcrisp.write(folder, make_events(3), format="npz", overwrite=True)
    assert (folder / "holiday.jpg").read_bytes() == b"dear"


@pytest.mark.parametrize("overwrite", [False, True])
def test_folder_in_place_of_a_file_is_reported_before_writing(make_events, tmp_path, overwrite):
    folder = tmp_path / "folder"
    folder.mkdir()
    message = f"^{folder} is an empty folder. Choose the name of a file, such as one in it.$"
    with pytest.raises(evcrisp.OutputError, match=message):
        evcrisp.write(folder, make_events(10), format="csv", overwrite=overwrite)
    (folder / "mine.txt").touch()
    with pytest.raises(
        evcrisp.OutputError, match=r"is a folder that holds other files \(mine.txt\)"
    ):
        evcrisp.write(folder, make_events(10), format="csv", overwrite=overwrite)


def test_lost_sensor_data_is_named(tmp_path, data_dir, caplog):
    caplog.set_level(logging.WARNING)
    with evcrisp.open(data_dir / "emlb" / "demo-01.aedat4") as opened:
        evcrisp.write(tmp_path / "a.npz", opened)
    assert "510 IMU samples" in caplog.text
