"""HDF5 of Prophesee with the ECF codec, whose chunks are made by the oracle."""

import numpy as np
import pytest
from tests.oracles.io import ecf as oracle

import evcrisp
from evcrisp import FormatError

h5py = pytest.importorskip("h5py", reason="h5py is what reads HDF5")
pytest.importorskip("hdf5plugin", reason="the reader registers its filters")

ECF = 0x8ECF
DEFLATE = 1
EVENT_CD = np.dtype(
    {
        "names": ["x", "y", "p", "t"],
        "formats": ["<u2", "<u2", "<i2", "<i8"],
        "offsets": [0, 2, 4, 8],
        "itemsize": 16,
    }
)
EXT_TRIGGER = np.dtype(
    {
        "names": ["p", "t", "id"],
        "formats": ["<i2", "<i8", "<i2"],
        "offsets": [0, 8, 16],
        "itemsize": 24,
    }
)


def create(file, n, size, filters=(ECF,), dtype=EVENT_CD):
    """Create the dataset CD/events without data; h5py has no filter ECF."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_chunk((size,))
    for code in filters:
        options = (4,) if code == DEFLATE else ()  # older ones of h5py need the level
        settings.set_filter(code, h5py.h5z.FLAG_OPTIONAL, options)
    group = file.require_group("CD")
    space = h5py.h5s.create_simple((n,), (h5py.h5s.UNLIMITED,))
    kind = h5py.h5t.py_create(dtype, logical=True)
    return h5py.Dataset(h5py.h5d.create(group.id, b"events", kind, space, settings))


def as_records(events):
    records = np.zeros(len(events), EVENT_CD)
    for name in ("x", "y", "t", "p"):
        records[name] = getattr(events, name)
    return records


def block_of(events, layout):
    columns = (column.tolist() for column in (events.x, events.y, events.t, events.p))
    return oracle.encode_ecf(list(zip(*columns, strict=True)), layout)


def write(path, events, *, size=400, change=None, padded=False, plain=()):
    """Write events in chunks of all three layouts; ``change(number, block)`` damages blocks."""
    with h5py.File(path, "w") as file:
        dataset = create(file, len(events), size)
        for number, first in enumerate(range(0, len(events), size)):
            part = events[first : first + size]
            if number in plain:
                data = as_records(part).tobytes().ljust(size * 16, b"\0")
                dataset.id.write_direct_chunk((first,), data, filter_mask=1)
                continue
            block = block_of(part, number % 3)
            if padded:  # the vendor's writer fills the last chunk with zeros
                rest = [(0, 0, int(part.t[-1]), False)] * (size - len(part))
                columns = (c.tolist() for c in (part.x, part.y, part.t, part.p))
                whole = list(zip(*columns, strict=True)) + rest
                block = oracle.encode_ecf(whole, number % 3)
            block = block if change is None else change(number, block)
            dataset.id.write_direct_chunk((first,), block)
        triggers = np.zeros(3, EXT_TRIGGER)
        triggers["p"], triggers["t"], triggers["id"] = [1, 0, 1], [5, 6, 9], [0, 0, 2]
        file["EXT_TRIGGER/events"] = triggers
        file.attrs["geometry"] = "346x260"
    return path


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("size", [1, 7, 400, 5000])
@pytest.mark.parametrize("n", [1, 2000])
def test_events_and_triggers_are_read(make_events, tmp_path, n, size, padded):
    if n // size > 500 and padded:
        size = 3
    events = make_events(n)
    path = write(tmp_path / "a.hdf5", events, size=size, padded=padded)
    with evcrisp.open(path) as opened:
        assert opened.format == "prophesee-hdf5"
        assert opened.resolution == (346, 260)
        assert opened.read().equals(events)
        triggers = opened.triggers()
    assert triggers.t.tolist() == [5, 6, 9]
    assert triggers.kind.tolist() == [1, 2, 1]
    assert triggers.channel.tolist() == [0, 0, 2]


def test_layout_of_the_vendor_is_read(make_events, tmp_path):
    """Its writer encodes only the events of the last chunk, and stores whole chunks of triggers."""
    events = make_events(1000)
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        dataset = create(file, 1000, 400)
        for first in (0, 400, 800):
            dataset.id.write_direct_chunk((first,), block_of(events[first : first + 400], 1))
        triggers = np.zeros(400, EXT_TRIGGER)
        triggers["p"], triggers["t"] = 1, np.arange(400)
        options = {"chunks": (400,), "maxshape": (None,), "dtype": EXT_TRIGGER}
        edges = file.create_dataset("EXT_TRIGGER/events", (2,), **options)
        edges.id.write_direct_chunk((0,), triggers.tobytes())
        index = np.dtype([("id", "<u8"), ("ts", "<i8")])
        for group in ("CD", "EXT_TRIGGER"):
            file.create_dataset(f"{group}/indexes", (0,), index, chunks=(400,), maxshape=(None,))
            file[f"{group}/indexes"].attrs["offset"] = "0"
        file.attrs["geometry"], file.attrs["format"] = "346x260", "ECF"
    with evcrisp.open(path) as opened:
        assert opened.format == "prophesee-hdf5"
        assert opened.read().equals(events)
        assert opened.triggers().t.tolist() == [0, 1]


def test_table_without_rows_is_an_empty_recording(tmp_path):
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        create(file, 0, 400)
        file.attrs["geometry"] = "346x260"
    assert len(evcrisp.read(tmp_path / "a.hdf5")) == 0


def test_chunks_span_packets(make_events, tmp_path, monkeypatch):
    monkeypatch.setattr("evcrisp.io.hdf5.datasets.PACKET_EVENTS", 150)
    events = make_events(1000)
    path = write(tmp_path / "a.hdf5", events)
    assert evcrisp.read(path).equals(events)


def test_chunk_without_filter_is_read(make_events, tmp_path):
    events = make_events(1000)
    path = write(tmp_path / "a.hdf5", events, plain=(1, 2))
    assert evcrisp.read(path).equals(events)


def cut(block):
    return block[:-2]


def fewer(block):
    return oracle.encode_ecf([(1, 1, 10**7, True)] * 5, 0)


def more(block):
    return oracle.encode_ecf([(1, 1, 10**7, True)] * 401, 0)


@pytest.mark.parametrize("damaged", [0, 1, 3])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "a chunk of 'CD/events' is damaged"),
        (fewer, "a chunk of 'CD/events' has 5 rows; expected 400"),
        (more, "a chunk of 'CD/events' has 401 rows; expected 400"),
        (lambda block: b"\xff" * 40, "is damaged"),
    ],
)
def test_events_before_a_damaged_chunk_are_delivered(
    make_events, tmp_path, damaged, damage, message
):
    events = make_events(2000)

    def change(number, block):
        return damage(block) if number == damaged else block

    path = write(tmp_path / "a.hdf5", events, change=change)
    n = damaged * 400
    with pytest.raises(FormatError, match=f"{message}.*after {n} events") as caught:
        evcrisp.read(path)
    assert caught.value.offset > 0
    assert evcrisp.read(path, on_error="truncate").equals(events[:n])


def test_missing_chunks_are_damage(make_events, tmp_path):
    events = make_events(800)
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        dataset = create(file, 800, 400)
        dataset.id.write_direct_chunk((0,), block_of(events[:400], 2))
        file.attrs["geometry"] = "346x260"
    with pytest.raises(FormatError, match="states 800 rows, but has 400"):
        evcrisp.read(tmp_path / "a.hdf5")
    kept = evcrisp.read(tmp_path / "a.hdf5", on_error="truncate")
    assert kept.equals(events[:400])


def test_other_filters_and_fields_beside_ecf_are_refused(tmp_path):
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        create(file, 10, 10, filters=(ECF, DEFLATE))
    with pytest.raises(FormatError, match=r"the HDF5 filters \[36559, 1\]"):
        evcrisp.read(tmp_path / "a.hdf5")
    with h5py.File(tmp_path / "b.hdf5", "w") as file:
        create(file, 10, 10, dtype=np.dtype([("x", "<u2"), ("time", "<i8")]))
    with pytest.raises(FormatError, match="has ECF for x, y, p and t only"):
        evcrisp.read(tmp_path / "b.hdf5")


def test_conversion_keeps_the_triggers(run, make_events, tmp_path):
    path = write(tmp_path / "a.hdf5", make_events(500))
    run("convert", path, tmp_path / "a.raw")
    with evcrisp.open(tmp_path / "a.raw") as opened:
        assert opened.read().equals(make_events(500))
        assert opened.triggers().t.tolist() == [5, 6, 9]
