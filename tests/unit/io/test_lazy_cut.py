"""Cuts read little of a file: counted in bytes that the process reads, not in time."""

from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.io import WRITERS, byte_blocks
from evcrisp.io.aedat import aedat4, aedat4_packets
from evcrisp.io.arrays import npy
from evcrisp.io.hdf5 import datasets, dsec
from evcrisp.io.other import es
from evcrisp.io.prophesee import evt
from evcrisp.io.text import event_text

IO_COUNTS = Path("/proc/self/io")
needs_counts = pytest.mark.skipif(not IO_COUNTS.exists(), reason="needs the counts of Linux")

SIZE = (346, 260)
N, LENGTH_US = 600_000, 10_000_000
PACKET = 1 << 12

#: Formats that find the start without reading what is before it.
SEEKING = ("npz", "aedat4", "dsec", "evt2", "dat", "columns")


@pytest.fixture(autouse=True)
def small_packets(monkeypatch):
    """Read in small pieces, so that a small file has many of them."""
    for module in (npy, datasets, byte_blocks, event_text):
        monkeypatch.setattr(module, "PACKET_EVENTS", PACKET)
    monkeypatch.setattr(byte_blocks, "BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(es, "_BLOCK_BYTES", 5 * PACKET)
    monkeypatch.setattr(evt, "_PIECE_BYTES", 1 << 14)
    monkeypatch.setattr(aedat4, "_BATCH_EVENTS", PACKET)
    monkeypatch.setattr(aedat4_packets, "BUFFER_BYTES", 1 << 12)
    monkeypatch.setattr(dsec, "_CHUNK_ROWS", PACKET)


@pytest.fixture(scope="module")
def events():
    rng = np.random.default_rng(5)
    return Events(
        x=rng.integers(0, SIZE[0], N),
        y=rng.integers(0, SIZE[1], N),
        t=1_000_000 + np.sort(rng.integers(0, LENGTH_US, N)),
        p=rng.integers(0, 2, N),
        resolution=SIZE,
    )


@pytest.fixture(scope="module")
def files(events, tmp_path_factory):
    """Return a function that writes the events in a format, once."""
    folder = tmp_path_factory.mktemp("files")

    def written(name):
        path = folder / f"{name}{WRITERS[name].suffixes[0]}"
        if not path.exists():
            evcrisp.write(path, events, format=name)
        return path

    return written


def n_bytes_read(call):
    """Return the number of bytes that the process reads in a call; it imports nothing new."""
    call()
    before = _count()
    call()
    return _count() - before


def _count():
    return int(IO_COUNTS.read_text().splitlines()[0].removeprefix("rchar: "))


def n_bytes(path):
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def read_chunks(path, **options):
    with evcrisp.open(path, **options) as opened:
        return Events.concatenate([Events.empty(SIZE), *opened.chunks()])


def counted_reader(name):
    """Return a reader that works in this process, where bytes are counted; None for the default."""
    return dsec.DsecReader(trusted=True) if name == "dsec" else None


@needs_counts
@pytest.mark.parametrize("reading", [evcrisp.read, read_chunks])
@pytest.mark.parametrize("name", WRITERS)
def test_all_formats_stop_after_the_end(name, reading, files, events):
    path = files(name)

    def read_start():
        return reading(
            path, format=counted_reader(name), resolution=SIZE, start_us=20_000, duration_us=200_000
        )

    t_first = int(events.t[0])
    assert read_start().equals(events.between(t_first + 20_000, t_first + 220_000))
    assert n_bytes_read(read_start) < 0.25 * n_bytes(path)


@needs_counts
@pytest.mark.parametrize("reading", [evcrisp.read, read_chunks])
@pytest.mark.parametrize("name", SEEKING)
def test_formats_with_an_index_or_fixed_records_do_not_read_what_is_before(
    name, reading, files, events
):
    path = files(name)

    def read_end():
        return reading(
            path,
            format=counted_reader(name),
            resolution=SIZE,
            start_us=9_000_000,
            duration_us=200_000,
        )

    t_first = int(events.t[0])
    assert read_end().equals(events.between(t_first + 9_000_000, t_first + 9_200_000))
    assert n_bytes_read(read_end) < 0.25 * n_bytes(path)
    assert n_bytes_read(
        lambda: read_chunks(path, format=counted_reader(name), resolution=SIZE)
    ) > 0.9 * n_bytes(path)


@needs_counts
@pytest.mark.parametrize("name", ["npy", "npy rows", "npy seconds", "mvsec", "records"])
def test_other_tables_are_searched_by_their_times(name, events, tmp_path):
    path = tmp_path / ("a.npy" if "npy" in name else "a.h5")
    if name == "npy":
        np.save(path, np.array(events.to_structured()))
    elif "npy" in name:
        t = events.t / 1e6 if name == "npy seconds" else events.t
        np.save(path, np.stack([t, events.x, events.y, events.p], axis=1))
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            if name == "mvsec":
                columns = (events.x, events.y, events.t / 1e6, np.where(events.p, 1, -1))
                rows = np.stack([np.asarray(c, np.float64) for c in columns], axis=1)
                file.create_dataset("davis/left/events", data=rows)
            else:
                file.create_dataset("CD/events", data=np.array(events.to_structured()))

    def read_end():
        return evcrisp.read(path, resolution=SIZE, start_us=9_000_000, duration_us=200_000)

    t_first = int(events.t[0])
    assert read_end().equals(events.between(t_first + 9_000_000, t_first + 9_200_000))
    assert n_bytes_read(read_end) < 0.25 * n_bytes(path)


@needs_counts
def test_compressed_columns_are_read_from_the_start(events, tmp_path):
    path = tmp_path / "a.npz"
    evcrisp.write(path, events, compressed=True)
    t_first = int(events.t[0])
    part = evcrisp.read(path, start_us=9_000_000, duration_us=200_000)
    assert part.equals(events.between(t_first + 9_000_000, t_first + 9_200_000))


def test_only_packets_of_the_span_are_decompressed(files, monkeypatch):
    decoded = []
    real = aedat4_packets.event_records
    monkeypatch.setattr(
        aedat4_packets, "event_records", lambda data: decoded.append(1) or real(data)
    )
    with evcrisp.open(files("aedat4"), start_us=9_000_000, duration_us=10_000) as opened:
        assert sum(map(len, opened.chunks())) > 0
        # One for the time of the first event, one before the span, and one or two with the span.
        assert len(decoded) <= 4


def test_rows_of_hdf5_are_found_by_the_index_of_milliseconds(files, monkeypatch):
    rows_read = []
    real = datasets.Rows.read

    def counting(self, first, last, *more):
        if self.name == "events/t":
            rows_read.append(last - first)
        return real(self, first, last, *more)

    monkeypatch.setattr(datasets.Rows, "read", counting)
    reader = dsec.DsecReader(trusted=True)  # in this process, to count
    evcrisp.read(files("dsec"), format=reader, start_us=9_000_000, duration_us=1)
    # The first event, the unit of time, a row that proves the index, and the part.
    assert rows_read == [PACKET, PACKET, 1, PACKET]


def test_wrong_index_of_milliseconds_is_not_used(events, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    evcrisp.write(path, events, format="dsec", compression="none")
    with h5py.File(path, "r+") as file:
        file["ms_to_idx"][:] = N - 1
    t_first = int(events.t[0])
    part = evcrisp.read(path, start_us=5_000_000, duration_us=1_000)
    assert part.equals(events.between(t_first + 5_000_000, t_first + 5_001_000))


def test_wrong_times_in_a_data_table_are_not_used(events, tmp_path, monkeypatch):
    """A table that places the span too late is found out by the first event that it leads to."""
    path = tmp_path / "a.aedat4"
    evcrisp.write(path, events)
    real = aedat4_packets.read_table

    def too_early(file, header, file_size):
        table = real(file, header, file_size)
        names = [n for n in type(table).__slots__ if n not in ("t_first", "t_last")]
        columns = {name: getattr(table, name) for name in names}
        times = {name: getattr(table, name) - 3_000_000 for name in ("t_first", "t_last")}
        return aedat4_packets.PacketList(**columns, **times)

    monkeypatch.setattr(aedat4_packets, "read_table", too_early)
    t_first = int(events.t[0])
    for reading in (evcrisp.read, read_chunks):
        part = reading(path, start_us=5_000_000, duration_us=1_000)
        assert part.equals(events.between(t_first + 5_000_000, t_first + 5_001_000))
