"""`evcrisp.live` on recordings, pipes and files."""

import io
import sys
import time

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, OutputError, UnknownNameError, Windowing
from evcrisp.filters import denoise
from evcrisp.streaming.sinks.stdout import StdoutSink
from evcrisp.streaming.sources.playback import Playback
from evcrisp.streaming.sources.stdin import StdinSource


@pytest.fixture
def events(make_events):
    return make_events(30_000, resolution=(80, 60))


@pytest.fixture
def file(events, tmp_path):
    evcrisp.write(tmp_path / "a.npz", events)
    return tmp_path / "a.npz"


@pytest.mark.parametrize("method", ["baf", "stcf", "dbscan"])
def test_filter_keeps_what_it_keeps_of_the_recording(file, events, tmp_path, method):
    summary = evcrisp.live(file, tmp_path / "b.npz", method, speed="max")
    kept = events[denoise(events, method).signal]
    assert evcrisp.read(tmp_path / "b.npz").equals(kept)
    assert (summary.n_events, summary.n_labeled, summary.n_kept) == (30_000, 30_000, len(kept))
    assert summary.n_windows == 0


def test_estimator_gives_the_windows_of_track():
    scene = evcrisp.simulate(
        resolution=(80, 60), theta=(250.0, -100.0), duration_us=150_000, noise_hz=5.0, seed=4
    )
    windowing = Windowing(max_latency_us=40_000)
    parts = []
    source = StdinSource(file=pipe_of(scene.events))
    summary = evcrisp.live(source, windowing=windowing, on_part=parts.append)
    expected = list(evcrisp.track(scene.events.with_signal(None), windowing=windowing))
    assert summary.n_windows == len(parts) == len(expected) > 2
    for part, result in zip(parts, expected, strict=True):
        np.testing.assert_allclose(part.estimate.theta, result.theta)
        assert part.kept.equals(result.window.events[result.signal])


def pipe_of(events, form="aedat4"):
    pipe = io.BytesIO()
    sink = StdoutSink(form, pipe)
    sink.open(events.resolution)
    sink.write(events.with_signal(None))
    return io.BytesIO(pipe.getvalue())


@pytest.mark.parametrize(("form", "suffix"), [("aedat4", ".aedat4"), ("csv", ".csv")])
def test_standard_output_is_a_file_of_its_format(events, tmp_path, form, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pipe_of(events, form).getvalue())
    assert evcrisp.read(path).equals(events)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_standard_input_takes_a_complete_file(events, tmp_path, compression):
    evcrisp.write(tmp_path / "a.aedat4", events, compression=compression)
    parts = []
    with (tmp_path / "a.aedat4").open("rb") as pipe:
        summary = evcrisp.live(StdinSource(file=pipe), method="raw", on_part=parts.append)
    assert Events.concatenate([part.kept for part in parts]).equals(events)
    assert summary.n_damaged == 0


def test_playback_takes_the_time_of_the_recording(file, events):
    with evcrisp.open(file) as recording:
        source = Playback(recording, speed=0.5)
        start = time.monotonic()
        played = Events.concatenate(source.chunks())
        took_us = 1e6 * (time.monotonic() - start)
    first = np.searchsorted(events.t, events.t[0] + 5_000)
    assert played.equals(events)
    assert took_us >= 2 * (events.duration_us - 5_000)
    assert first > 0


def test_no_sink_is_needed(file):
    assert evcrisp.live(file, method="raw", speed="max").n_kept == 30_000


def test_recording_without_events_gives_an_empty_file(tmp_path):
    evcrisp.write(tmp_path / "a.npz", Events.empty((8, 4)))
    for method in ("baf", "auto"):
        path = tmp_path / f"{method}.npz"
        summary = evcrisp.live(tmp_path / "a.npz", path, method)
        assert (summary.n_events, summary.latency_p50_ms) == (0, None)
        assert evcrisp.read(path).resolution == (8, 4)


def test_input_and_existing_files_are_kept(file, tmp_path):
    before = file.read_bytes()
    with pytest.raises(OutputError, match="input itself"):
        evcrisp.live(file, file, "raw", overwrite=True)
    (tmp_path / "b.npz").write_bytes(b"old")
    with pytest.raises(OutputError, match="exists already"):
        evcrisp.live(file, [tmp_path / "c.npz", tmp_path / "b.npz"], "raw")
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": 0}, "speed"),
        ({"speed": "fast"}, "'max'"),
        ({"method": "nothing"}, "nothing"),
        ({"max_waiting_events": 0}, "max_waiting_events"),
        ({"method": "auto", "windowing": Windowing(overlap=0.5)}, "overlap"),
        ({"stdout_format": "png", "sinks": "-"}, "stdout_format"),
        ({"sinks": "tcp://nowhere"}, "tcp://HOST:PORT"),
        ({"sinks": "tcp://0.0.0.0:0"}, "admits other machines"),
    ],
)
def test_wrong_arguments_are_named(file, options, message):
    with pytest.raises(evcrisp.EvError, match=message):
        evcrisp.live(file, **{"method": "raw", **options})


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "unix:///nowhere/at/all"])
def test_absent_server_is_an_error(address, tmp_path):
    with pytest.raises(evcrisp.EvError, match="cannot be reached"):
        evcrisp.live(address, tmp_path / "b.npz", "raw")
    assert not list(tmp_path.iterdir())


def test_taken_port_is_an_error(file):
    from evcrisp.streaming.addresses import Address
    from evcrisp.streaming.sinks.server import ServerSink

    first = ServerSink(Address.parse("tcp://127.0.0.1:0"))
    with pytest.raises(OutputError, match="No server can be started"):
        evcrisp.live(file, first.name, "raw")
    first.close(is_complete=True)


def test_other_machines_are_admitted_with_a_warning(file, caplog):
    summary = evcrisp.live(file, "tcp://:0", "raw", speed="max", bind="0.0.0.0")
    assert summary.n_kept == 30_000
    assert "admits other machines" in caplog.text


def test_own_sink_error_passes_and_removes_files(file, tmp_path):
    class Broken:
        name, n_dropped = "broken", 0

        def open(self, resolution):
            raise ConfigError("no space")

        def close(self, *, is_complete):
            self.is_complete = is_complete

    broken = Broken()
    with pytest.raises(ConfigError, match="no space"):
        evcrisp.live(file, [tmp_path / "b.npz", broken], "raw")
    assert not broken.is_complete
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_filters_are_among_the_names_of_methods(file):
    with pytest.raises(UnknownNameError, match="method or filter 'stcff'. Did you mean 'stcf'"):
        evcrisp.live(file, method="stcff", speed="max")


def test_long_preparation_is_announced(file, monkeypatch, caplog):
    module = sys.modules["evcrisp.streaming.live"]  # the package has a function of that name
    monkeypatch.setattr(module, "_ANNOUNCED_S", 0.05)
    monkeypatch.setattr(module, "load_kernels", lambda: time.sleep(0.5))
    with caplog.at_level("INFO", "evcrisp"):
        evcrisp.live(file, method="raw", speed="max")
    texts = [record.getMessage() for record in caplog.records]
    assert [text for text in texts if "compiled" in text] == texts[:1]
