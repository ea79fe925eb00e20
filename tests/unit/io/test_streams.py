"""One of several streams of events of a file."""

import numpy as np
import pytest

import evcrisp
from evcrisp import UnknownNameError
from evcrisp.io.protocol import Source, Stream
from evcrisp.io.streams import choose_stream


class TwoCameras(Source):
    chosen = None

    def streams(self):
        return [
            Stream("0", aliases=("front",)),
            Stream("1", aliases=("rear",)),
            Stream("imu", "imu", aliases=("front",)),
        ]

    def choose(self, stream):
        made = TwoCameras()
        TwoCameras.chosen = stream
        return made


@pytest.mark.parametrize("wanted", ["1", 1, "rear"])
def test_stream_is_chosen_by_name_number_or_alias(wanted, caplog, tmp_path):
    _, name = choose_stream(TwoCameras(), wanted, tmp_path)
    assert (name, TwoCameras.chosen) == ("1", "1")
    assert not caplog.records


def test_first_of_several_streams_is_the_default_and_is_named(caplog, tmp_path):
    source = TwoCameras()
    assert choose_stream(source, None, tmp_path) == (source, "0")
    expected = "2 streams of events (0 (front), 1 (rear)); reading 0. Choose another with `stream`."
    assert expected in caplog.text


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("2", r"has no stream of events '2'. Known: 0 \(front\), 1 \(rear\)\."),
        ("imu", r"The stream 'imu' of .* holds imu, not events. Known: 0 \(front\)"),
        ("", "has no stream of events ''"),
    ],
)
def test_unknown_streams_list_the_known_ones(wanted, message, tmp_path):
    with pytest.raises(UnknownNameError, match=message):
        choose_stream(TwoCameras(), wanted, tmp_path)


def test_file_with_one_stream_has_one(make_events, tmp_path, caplog):
    events = make_events(50)
    evcrisp.write(tmp_path / "a.npz", events)
    with evcrisp.open(tmp_path / "a.npz") as opened:
        assert opened.streams == [Stream("events", "events", (346, 260), 50)]
        assert opened.stream == "events"
    assert evcrisp.read(tmp_path / "a.npz", stream="events").equals(events)
    with pytest.raises(UnknownNameError, match="has no stream of events 'left'. Known: events."):
        evcrisp.open(tmp_path / "a.npz", stream="left")
    assert not caplog.records


def mvsec(path, events, sides):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for side, part in zip(sides, events, strict=True):
            columns = (part.x, part.y, part.t / 1e6, np.where(part.p, 1, -1))
            rows = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
            file.create_dataset(f"davis/{side}/events", data=rows)
            file.create_dataset(
                f"davis/{side}/image_raw", data=np.full((3, 260, 346), len(part), "u1")
            )
            file.create_dataset(f"davis/{side}/image_raw_ts", data=[1.0, 1.05, 1.2])
    return path


def m3ed(path, events, sides):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for side, part in zip(sides, events, strict=True):
            for name in "xytp":
                file.create_dataset(f"prophesee/{side}/{name}", data=getattr(part, name))
            file.create_dataset(f"prophesee/{side}/calib/resolution", data=[346, 260])
    return path


@pytest.mark.parametrize("write", [mvsec, m3ed])
@pytest.mark.parametrize("format", [None, "hdf5"])
def test_cameras_of_data_sets_are_left_and_right(write, format, make_events, tmp_path, caplog):
    left, right = make_events(70, seed=1), make_events(80, seed=2)
    path = write(tmp_path / "a.h5", (left, right), ("left", "right"))
    assert evcrisp.read(path, format=format).equals(left)
    assert "2 streams of events (left, right); reading left" in caplog.text
    caplog.clear()
    with evcrisp.open(path, format=format, stream="right") as opened:
        assert opened.read().equals(right)
        assert opened.metadata["camera"] == "right"
        assert opened.metadata["cameras"] == ["left", "right"]
        assert {stream.name for stream in opened.streams} == {"left", "right"}
        assert next(s for s in opened.streams if s.name == "right").n_elements == 80
    assert evcrisp.read(path, stream="left").equals(left)
    assert not caplog.records
    with pytest.raises(UnknownNameError, match="'middle'. Known: left, right."):
        evcrisp.open(path, stream="middle")


def test_frames_of_mvsec_follow_the_camera_and_the_part(make_events, tmp_path):
    events = make_events(70, seed=1), make_events(80, seed=2)
    path = mvsec(tmp_path / "a.h5", events, ("left", "right"))
    cut = {"start_us": 20_000, "duration_us": 60_000, "roi": (10, 20, 30, 40)}
    with evcrisp.open(path, stream="right", **cut) as opened:
        frames = list(opened.frames())
    assert [frame.t for frame in frames] == [1_050_000]
    assert frames[0].image.shape == (40, 30)
    assert frames[0].image.max() == 80


def test_only_camera_of_a_data_set_needs_no_message(make_events, tmp_path, caplog):
    events = make_events(40)
    path = mvsec(tmp_path / "a.h5", (events,), ("right",))
    with evcrisp.open(path) as opened:
        assert (opened.stream, opened.metadata["camera"]) == ("right", "right")
        assert opened.read().equals(events)
    assert not caplog.records
