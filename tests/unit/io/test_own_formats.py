"""Formats of other packages: given as objects, or registered by name."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, UnknownNameError
from evcrisp.io import READERS, WRITERS, Packet, Reader, Source, Writer, detect
from evcrisp.io.protocol import FileSink

RECORD = np.dtype([("t", "<i8"), ("x", "<u2"), ("y", "<u2"), ("p", "?")])


class RecordSource(Source):
    def packets(self):
        rows = np.fromfile(self.path, RECORD, offset=4)
        x, y, t, p = (np.ascontiguousarray(rows[name]) for name in "xytp")
        yield Packet(x, y, t, p, offset=4)


class RecordReader(Reader):
    name = "records"
    title = "Records with a magic number"
    suffixes = (".rec",)
    magic = (b"RECS",)

    def open(self, path):
        return RecordSource(resolution=(346, 260), path=path)


class RecordSink(FileSink):
    def write(self, events):
        rows = np.empty(len(events), RECORD)
        for name in "xytp":
            rows[name] = getattr(events, name)
        self.file.write(rows.tobytes())


class RecordWriter(Writer):
    name = "records"
    title = "Records with a magic number"
    suffixes = (".rec",)

    def open(self, path, resolution):
        file = path.open("wb")
        file.write(b"RECS")
        return RecordSink(file=file)


class PlainReader:
    """A reader that does not inherit from `Reader`, with the required attributes only."""

    name = "plain"
    suffixes = (".plain",)

    def recognizes(self, head, path):
        return False

    def open(self, path):
        return RecordSource(path=path)


class DamagedReader(PlainReader):
    foreign_errors = (KeyError,)

    def open(self, path):
        raise KeyError("no events")


class PlainWriter:
    """A writer that does not inherit from `Writer`."""

    name = "plain"
    suffixes = (".plain",)

    def open(self, path, resolution):
        return RecordWriter().open(path, resolution)


@pytest.fixture
def registered():
    READERS.register(RecordReader)
    WRITERS.register(RecordWriter)
    yield
    READERS.unregister("records")
    WRITERS.unregister("records")


@pytest.mark.parametrize("writer", [RecordWriter, RecordWriter()])
@pytest.mark.parametrize("reader", [RecordReader, RecordReader()])
def test_formats_are_given_as_objects(reader, writer, make_events, tmp_path):
    events = make_events(100)
    assert evcrisp.write(tmp_path / "a.bin", events, format=writer) == 100
    with evcrisp.open(tmp_path / "a.bin", format=reader) as recording:
        assert recording.format == "records"
        assert recording.read().equals(events)
    assert evcrisp.read(tmp_path / "a.bin", format=reader).equals(events)


def test_built_in_formats_are_given_as_objects(make_events, tmp_path):
    from evcrisp.io.arrays.npz import NpzReader, NpzWriter

    events = make_events(100)
    evcrisp.write(tmp_path / "a.dat", events, format=NpzWriter(compressed=True))
    assert evcrisp.read(tmp_path / "a.dat", format=NpzReader()).equals(events)
    with pytest.raises(
        evcrisp.ConfigError, match="is an object already; got the options compressed"
    ):
        evcrisp.write(tmp_path / "b.npz", events, format=NpzWriter(), compressed=True)


def test_formats_without_base_class_are_used(make_events, tmp_path, caplog):
    events = make_events(100)
    path = tmp_path / "a.plain"
    evcrisp.write(path, events.with_signal(events.p), format=PlainWriter())
    assert "Format 'plain' does not keep labels" in caplog.text
    assert evcrisp.read(path, format=PlainReader()).equals(events)
    with pytest.raises(evcrisp.FormatError, match="not readable as plain: 'no events'"):
        evcrisp.open(path, format=DamagedReader())


def test_values_that_are_not_formats_are_refused(make_events, tmp_path):
    evcrisp.write(tmp_path / "a.npz", make_events(3))
    for wrong in (7, b"npz", ["npz"]):
        with pytest.raises(UnknownNameError, match="Unknown format"):
            evcrisp.open(tmp_path / "a.npz", format=wrong)
        with pytest.raises(UnknownNameError, match="Unknown output format"):
            evcrisp.write(tmp_path / "b.npz", make_events(3), format=wrong)


@pytest.mark.usefixtures("registered")
def test_registered_formats_are_found_by_name_content_and_suffix(make_events, tmp_path):
    events = make_events(100)
    evcrisp.write(tmp_path / "a.rec", events)
    evcrisp.write(tmp_path / "b.bin", events, format="records")
    assert (tmp_path / "a.rec").read_bytes() == (tmp_path / "b.bin").read_bytes()
    assert evcrisp.read(tmp_path / "b.bin").equals(events)
    assert evcrisp.read(tmp_path / "b.bin", format="records").equals(events)
    (tmp_path / "c.rec").write_bytes(b"\0\0\0\0")
    assert detect(tmp_path / "c.rec").name == "records"


def test_registered_readers_precede_formats_without_magic_number(tmp_path):
    class Greedy(RecordReader):
        name = "greedy"

        def recognizes(self, head, path):
            return True

    (tmp_path / "a.csv").write_text("t,x,y,p\n1,2,3,1\n")
    evcrisp.write(tmp_path / "a.npz", Events.empty((4, 4)))
    READERS.register(Greedy())
    try:
        assert detect(tmp_path / "a.csv").name == "greedy"
        assert detect(tmp_path / "a.npz").name == "npz"
    finally:
        READERS.unregister("greedy")
    assert detect(tmp_path / "a.csv").name == "csv"
