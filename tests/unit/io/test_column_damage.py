"""Columns of numbers in all formats: the rows before the first wrong value are delivered."""

import io
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError
from evcrisp.io import READERS

h5py = pytest.importorskip("h5py", reason="h5py writes some of the files")
scipy_io = pytest.importorskip("scipy.io", reason="scipy writes some of the files")

SIZE = (346, 260)


def columns_of(events):
    return {
        "x": events.x.astype(np.int64),
        "y": events.y.astype(np.int64),
        "t": events.t.copy(),
        "p": events.p.astype(np.int64),
    }


def save_npz(path, columns):
    np.savez(path, **columns)


def save_structured(path, columns):
    rows = np.zeros(len(columns["t"]), [(name, c.dtype) for name, c in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    np.save(path, rows)


def save_matrix(path, columns):
    np.save(path, np.stack([columns[name] for name in "xypt"], axis=1))


def save_folder(path, columns):
    path.mkdir()
    for name, column in columns.items():
        np.save(path / f"{name}.npy", column)


def save_mat_matrix(path, columns):
    scipy_io.savemat(path, {"events": np.stack([columns[name] for name in "xypt"], axis=1)})


def save_mat_struct(path, columns):
    scipy_io.savemat(path, {"TD": columns})


def save_hdf5(path, columns):
    with h5py.File(path, "w") as file:
        for name, column in columns.items():
            file[f"events/{name}"] = column


SAVERS = {
    "a.npz": save_npz,
    "structured.npy": save_structured,
    "matrix.npy": save_matrix,
    "a.columns": save_folder,
    "matrix.mat": save_mat_matrix,
    "struct.mat": save_mat_struct,
    "a.h5": save_hdf5,
}
LABELED = sorted(set(SAVERS) - {"matrix.npy", "matrix.mat"})


def saved(tmp_path, name, columns):
    SAVERS[name](tmp_path / name, columns)
    return tmp_path / name


@pytest.mark.parametrize("name", SAVERS)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("p", 7, r"polarity must be 0/1 or -1/\+1; found 7"),
        ("x", -1, "x must lie in 0..65535; found -1"),
        ("y", 70_000, "y must lie in 0..65535; found 70000"),
    ],
)
@pytest.mark.parametrize("row", [999, 700])
def test_rows_before_a_wrong_value_are_delivered(
    tmp_path, make_events, name, column, value, message, row
):
    events = make_events(1000)
    columns = columns_of(events)
    columns[column][row] = value
    path = saved(tmp_path, name, columns)
    with pytest.raises(FormatError, match=f"{message}.*after {row} events"):
        evcrisp.read(path, resolution=SIZE)
    assert evcrisp.read(path, resolution=SIZE, on_error="truncate").equals(events[:row])


@pytest.mark.parametrize("name", sorted(set(SAVERS) - {"matrix.npy", "matrix.mat"}))
@pytest.mark.parametrize("value", [2**63, 2**64 - 1])
def test_time_beyond_64_bits_is_refused(tmp_path, name, value):
    columns = {"x": np.arange(5), "y": np.arange(5), "p": np.ones(5, np.uint8)}
    columns["t"] = np.array([1, 2, 3, value, value], np.uint64)
    path = saved(tmp_path, name, columns)
    with pytest.raises(FormatError, match=f"t does not fit 64 bits; found {value}.*after 3 events"):
        evcrisp.read(path, resolution=SIZE)


def test_time_offset_beyond_64_bits_is_refused(tmp_path):
    columns = {"x": np.arange(3), "y": np.arange(3), "p": np.ones(3, np.uint8)}
    columns["t"] = np.array([1, 2, 2**63 - 5], np.int64)
    path = saved(tmp_path, "a.h5", columns)
    with h5py.File(path, "a") as file:
        file["t_offset"] = 10
    with pytest.raises(FormatError, match="t does not fit 64 bits.*after 2 events"):
        evcrisp.read(path, resolution=SIZE)


@pytest.mark.parametrize("name", LABELED)
@pytest.mark.parametrize("value", [7, 0.5, np.nan, -2])
def test_labels_must_be_flags(tmp_path, make_events, name, value):
    events = make_events(100)
    labels = (events.x % 2).astype(np.float64 if value != 7 else np.int64)
    labels[60] = value
    path = saved(tmp_path, name, columns_of(events) | {"signal": labels})
    with pytest.raises(FormatError, match=r"signal must be 0/1 or -1/\+1; found .*after 60 events"):
        evcrisp.read(path, resolution=SIZE)


@pytest.mark.parametrize("name", LABELED)
def test_labels_of_plus_and_minus_one_are_read(tmp_path, make_events, name):
    events = make_events(100)
    labels = events.x % 2 == 0
    path = saved(tmp_path, name, columns_of(events) | {"signal": np.where(labels, 1, -1)})
    assert evcrisp.read(path, resolution=SIZE).equals(events.with_signal(labels))


# ---------------------------------------------------------------- floating-point time


@pytest.mark.parametrize("name", SAVERS)
def test_floating_point_time_with_a_fraction_is_in_seconds(tmp_path, make_events, name):
    events = make_events(400)
    columns = {n: c.astype(np.float64) for n, c in columns_of(events).items()}
    path = saved(tmp_path, name, columns | {"t": events.t / 1e6})
    assert evcrisp.read(path, resolution=SIZE).equals(events)


@pytest.mark.parametrize("name", SAVERS)
def test_floating_point_time_without_fractions_is_in_microseconds(tmp_path, make_events, name):
    events = make_events(400)
    columns = {n: c.astype(np.float64) for n, c in columns_of(events).items()}
    assert evcrisp.read(saved(tmp_path, name, columns), resolution=SIZE).equals(events)


@pytest.mark.parametrize("name", SAVERS)
def test_fraction_that_contradicts_the_first_rows_is_damage(
    tmp_path, make_events, name, monkeypatch
):
    for module in ("arrays.npy", "arrays.mat", "hdf5.datasets"):
        monkeypatch.setattr(f"evcrisp.io.{module}.PACKET_EVENTS", 100)
    events = make_events(400)
    columns = {n: c.astype(np.float64) for n, c in columns_of(events).items()}
    columns["t"][250] += 0.5
    path = saved(tmp_path, name, columns)
    with pytest.raises(
        FormatError, match="whole microseconds, as in the rows before.*after 250 event"
    ):
        evcrisp.read(path, resolution=SIZE)
    assert evcrisp.read(path, resolution=SIZE, on_error="truncate").equals(events[:250])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("unit", [1e-6, 1.0])
def test_nan_time_is_damage_and_does_not_decide_the_unit(tmp_path, make_events, value, unit):
    events = make_events(50)
    columns = columns_of(events) | {"t": events.t * unit}
    columns["t"][40] = value
    path = saved(tmp_path, "a.npz", columns)
    with pytest.raises(FormatError, match="t is not a finite number of .*after 40 events"):
        evcrisp.read(path, resolution=SIZE)
    assert evcrisp.read(path, resolution=SIZE, on_error="truncate").equals(events[:40])


@pytest.mark.parametrize("name", sorted(set(SAVERS) - {"matrix.mat", "struct.mat"}))
@pytest.mark.parametrize("dtype", [np.float16, ">f4", np.uint8])
def test_numbers_of_unusual_types_are_read(tmp_path, name, dtype):
    t = np.arange(50)
    columns = {"x": 200 - t, "y": t % 7, "t": t * 3, "p": t % 2}
    path = saved(tmp_path, name, {n: c.astype(dtype) for n, c in columns.items()})
    assert evcrisp.read(path, resolution=SIZE).equals(Events(**columns, resolution=SIZE))


# ---------------------------------------------------------------- HDF5 chunks


@pytest.mark.parametrize("broken", [0, 3, 9])
@pytest.mark.parametrize("column", ["x", "t"])
def test_rows_before_a_damaged_chunk_are_delivered(tmp_path, make_events, broken, column):
    events = make_events(1000)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for name, values in columns_of(events).items():
            file.create_dataset(f"events/{name}", data=values, chunks=(100,), compression="gzip")
        chunk = file[f"events/{column}"].id.get_chunk_info(broken)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset : chunk.byte_offset + chunk.size] = b"\xff" * chunk.size
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"damaged .gzip.*after {100 * broken} events"):
        evcrisp.read(path, resolution=SIZE)
    kept = evcrisp.read(path, resolution=SIZE, on_error="truncate")
    assert kept.equals(events[: 100 * broken])


# ---------------------------------------------------------------- headers of npy


def npy_bytes(descr, shape, data=b""):
    file = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + data


def padded(n_bytes):
    """Return a record type of events with a large gap."""
    return [("x", "<u2"), ("y", "<u2"), ("t", "<i8"), ("p", "?"), ("", f"|V{n_bytes}")]


@pytest.mark.parametrize(
    ("descr", "shape", "message"),
    [
        ("|S0", (5, 4), "elements of 0 bytes"),
        ("|S0", (5,), "elements of 0 bytes"),
        ([("x", "|S0"), ("y", "|S0"), ("t", "|S0"), ("p", "|S0")], (5,), "elements of 0 bytes"),
        (padded(2**30), (2**18,), "rows of 1,073,741,837 bytes"),
        ("<i8", (2**18, 2**40), "rows of 8,796,093,022,208 bytes"),
        ("<i8", (2**18, 2**40, 2**40), "rows of "),
    ],
)
def test_elements_of_impossible_size_are_refused(tmp_path, descr, shape, message):
    (tmp_path / "a.npy").write_bytes(npy_bytes(descr, shape, bytes(1000)))
    with pytest.raises(FormatError, match=message):
        evcrisp.read(tmp_path / "a.npy")


def test_wide_records_are_read_in_smaller_pieces(tmp_path, make_events, monkeypatch):
    events = make_events(50)
    rows = np.zeros(50, [("x", "i4"), ("y", "i4"), ("t", "i8"), ("p", "?"), ("w", "f8", 1000)])
    for name in "xytp":
        rows[name] = getattr(events, name)
    np.save(tmp_path / "a.npy", rows)
    monkeypatch.setattr("evcrisp.io.arrays.npy.READ_BYTES", 100_000)
    source = READERS["npy"].open(tmp_path / "a.npy")
    assert [packet.t.size for packet in source.packets()] == [12, 12, 12, 12, 2]
    assert evcrisp.read(tmp_path / "a.npy", resolution=SIZE).equals(events)


def test_resolution_that_is_a_large_array_takes_no_memory(tmp_path):
    path = tmp_path / "a.npz"
    save_npz(path, columns_of(Events.empty(SIZE)))
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("resolution.npy", "w") as member,
    ):
        member.write(npy_bytes("<i8", (2, 2**26)))
        for _ in range(64):
            member.write(bytes(1 << 22))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="'resolution' states rows of 536,870,912 bytes"):
            evcrisp.read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10e6


# ---------------------------------------------------------------- archives and handles


@pytest.mark.parametrize("error", [NotImplementedError, RuntimeError, ValueError, OSError])
def test_unlistable_archive_is_recognized_by_its_first_bytes(tmp_path, monkeypatch, error):
    def failing(*args, **options):
        raise error("zip file version 9.9")

    np.savez(tmp_path / "a.npz", a=[1])
    monkeypatch.setattr("zipfile.ZipFile", failing)
    head = (tmp_path / "a.npz").read_bytes()
    assert READERS["npz"].recognizes(head, tmp_path / "a.npz")
    assert not READERS["npz"].recognizes(b"PK\x03\x04 something", tmp_path / "a.npz")


def test_archive_without_events_is_closed(tmp_path):
    np.savez(tmp_path / "a.npz", weights=[1])
    with pytest.raises(FormatError, match="no column for 'x'.*the file has weights"):
        evcrisp.open(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["npz", "ecd-zip"])
def test_iterations_over_one_recording_are_independent(tmp_path, make_events, name):
    events = make_events(50_000)
    path = tmp_path / f"a{READERS[name].suffixes[0]}"
    evcrisp.write(path, events, format=name)
    with evcrisp.open(path, resolution=SIZE) as opened:
        n_open = len(list_open_files(path))
        assert n_open == 0

        def join_chunks(n):
            return Events.concatenate(list(opened.chunks(n)))

        with ThreadPoolExecutor(4) as pool:
            for joined in pool.map(join_chunks, [100, 333, 1000, 7777]):
                assert joined.equals(events)


def list_open_files(path):
    """Return the open files of this process."""
    from pathlib import Path

    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("only Linux lists the open files of a process")
    found = []
    for link in folder.iterdir():
        try:
            found += [link] if link.readlink() == path else []
        except OSError:  # the descriptor of the listing itself
            continue
    return found


def test_long_and_unprintable_column_names_are_shortened(tmp_path):
    names = [f"column{i:05d}" for i in range(3000)]
    np.savez(tmp_path / "a.npz", **dict.fromkeys(names, np.arange(2)))
    with pytest.raises(FormatError, match="the file has column00000, .*and 2988 more") as caught:
        evcrisp.open(tmp_path / "a.npz")
    assert len(str(caught.value)) < 600
