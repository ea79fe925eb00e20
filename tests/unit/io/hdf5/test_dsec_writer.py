"""The DSEC layout as written, checked with h5py."""

from itertools import pairwise

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, OutputError
from evcrisp.io.hdf5 import dsec as hdf5_dsec

h5py = pytest.importorskip("h5py", reason="h5py is what writes HDF5")
pytest.importorskip("hdf5plugin", reason="hdf5plugin brings Blosc")


@pytest.mark.parametrize("compression", ["blosc", "gzip", "none"])
def test_h5py_reads_written_files(make_events, tmp_path, compression):
    events = make_events(70_000, t_start=1_700_000_000_000_123)
    evcrisp.write(tmp_path / "a.h5", events, compression=compression)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["t_offset"][()] == events.t[0]
        np.testing.assert_array_equal(file["events/t"][:] + file["t_offset"][()], events.t)
        for name in ("x", "y", "p"):
            np.testing.assert_array_equal(file[f"events/{name}"][:], getattr(events, name))
        assert file["events/x"].dtype == np.uint16
        assert file["events/p"].dtype == np.uint8
        assert file.attrs["creator"] == "evcrisp"
        assert file.attrs["resolution"].tolist() == [346, 260]
        assert "signal" not in file["events"]
    assert evcrisp.read(tmp_path / "a.h5").equals(events)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 50])
def test_index_has_the_first_event_at_or_after_each_millisecond(make_events, tmp_path, n_parts):
    events = make_events(3000, t_start=5_000_000, duration_us=40_000)
    gap = np.where(np.arange(3000) < 1500, 0, 25_000)  # 25 ms without an event
    events = Events(x=events.x, y=events.y, t=events.t + gap, p=events.p, resolution=(346, 260))
    bounds = np.linspace(0, 3000, n_parts + 1).astype(int)
    parts = [events[a:b] for a, b in pairwise(bounds)]
    evcrisp.write(tmp_path / "a.h5", parts)
    with h5py.File(tmp_path / "a.h5") as file:
        t, index = file["events/t"][:], file["ms_to_idx"][:].astype(int)
    assert len(index) == t[-1] // 1000 + 1
    for ms, first in enumerate(index):
        assert t[first] >= ms * 1000
        assert first == 0 or t[first - 1] < ms * 1000


def test_labels_are_kept(make_events, tmp_path):
    events = make_events(500)
    events = events.with_signal(events.x % 3 > 0)
    evcrisp.write(tmp_path / "a.h5", (events[:200], events[200:]))
    assert evcrisp.read(tmp_path / "a.h5").equals(events)
    empty = Events.empty((346, 260)).with_signal(np.empty(0, bool))
    evcrisp.write(tmp_path / "empty.h5", empty)
    assert evcrisp.read(tmp_path / "empty.h5").equals(empty)


def test_partial_labels_are_refused(make_events, tmp_path):
    events = make_events(500)
    parts = (events[:200].with_signal(np.ones(200, bool)), events[200:])
    with pytest.raises(ConfigError, match="Either all events or none must have labels"):
        evcrisp.write(tmp_path / "a.h5", parts)
    assert list(tmp_path.iterdir()) == []


def test_file_without_events_is_complete(tmp_path):
    evcrisp.write(tmp_path / "a.h5", Events.empty((640, 480)))
    assert evcrisp.read(tmp_path / "a.h5").equals(Events.empty((640, 480)))
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["ms_to_idx"].shape == (0,)
        assert file["t_offset"][()] == 0


def test_same_events_give_the_same_bytes(make_events, tmp_path):
    events = make_events(5000)
    for name in ("a", "b"):
        evcrisp.write(tmp_path / f"{name}.h5", events)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("compression", ["blosc", "none"])
@pytest.mark.parametrize("n_parts", [2, 50])
def test_bytes_do_not_depend_on_the_chunks(make_events, tmp_path, compression, n_parts):
    events = make_events(1_500_000, duration_us=3_000_000)  # more than the cache of HDF5
    events = events.with_signal(events.x % 2 == 0)
    evcrisp.write(tmp_path / "whole.h5", events, compression=compression)
    bounds = np.linspace(0, len(events), n_parts + 1).astype(int)
    parts = [events[a:b] for a, b in pairwise(bounds)]
    evcrisp.write(tmp_path / "parts.h5", parts, compression=compression)
    assert (tmp_path / "parts.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert evcrisp.read(tmp_path / "parts.h5").equals(events)


def test_reused_buffer_does_not_change_pending_events(make_events, tmp_path):
    events = make_events(300)
    buffer = np.empty(100, np.uint16)

    def chunks():
        for first in range(0, 300, 100):
            part = events[first : first + 100]
            buffer[:] = part.x
            yield Events.trusted(buffer, part.y, part.t, part.p, part.resolution)

    evcrisp.write(tmp_path / "a.h5", chunks())
    assert evcrisp.read(tmp_path / "a.h5").equals(events)


@pytest.mark.parametrize("t", [-(2**62), 2**62 - 1])
def test_round_trip_keeps_any_time(tmp_path, t):
    events = Events(x=[1], y=[1], t=[t], p=[1], resolution=(64, 48))
    evcrisp.write(tmp_path / "a.h5", events)
    assert evcrisp.read(tmp_path / "a.h5").equals(events)


def test_unknown_compression_is_refused(make_events, tmp_path):
    with pytest.raises(
        ConfigError, match="`compression` must be one of 'blosc', 'gzip', 'none'; got 'x'"
    ):
        evcrisp.write(tmp_path / "a.h5", make_events(3), compression="x")


def test_span_of_years_is_refused(tmp_path):
    for t, n_days in {(0, 10**15): "11574", (-(2**62), 2**62 - 1): "106751991"}.items():
        events = Events(x=[1, 2], y=[1, 2], t=t, p=[0, 1], resolution=(8, 8))
        with pytest.raises(OutputError, match=f"one index entry per millisecond.*{n_days} days"):
            evcrisp.write(tmp_path / "a.h5", events)
    assert list(tmp_path.iterdir()) == []


def test_long_gap_is_indexed_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(hdf5_dsec, "_INDEX_BLOCK", 1000)
    events = Events(x=[1, 2, 3], y=[1, 2, 3], t=[7, 9, 5_000_007], p=[0, 1, 0], resolution=(8, 8))
    evcrisp.write(tmp_path / "a.h5", events)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["ms_to_idx"][:].tolist() == [0] + [2] * 5000


def test_eventcv_reads_written_files(make_events, tmp_path):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    events = make_events(2000, t_start=0)
    evcrisp.write(tmp_path / "a.h5", events, compression="none")
    theirs = eventcv.load(str(tmp_path / "a.h5"), sensor_size=(346, 260), time_unit="microseconds")
    columns = theirs.numpy()
    np.testing.assert_array_equal(columns[:, 0], events.x)
    np.testing.assert_array_equal(columns[:, 1], events.y)
    np.testing.assert_array_equal(columns[:, 3] > 0, events.p)
