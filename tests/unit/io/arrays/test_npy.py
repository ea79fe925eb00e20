"""NPY files and folders of columns."""

import io
import json

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, FormatError
from evcrisp.io.arrays import npy

SIZE = (346, 260)


def saved(tmp_path, array, name="a.npy"):
    np.save(tmp_path / name, array)
    return tmp_path / name


@pytest.mark.parametrize(
    "dtype",
    [
        [("t", "<u8"), ("x", "<u2"), ("y", "<u2"), ("on", "?")],
        [("x", ">i2"), ("y", ">i2"), ("p", "i1"), ("timestamp", ">i8")],
        [("xs", "f4"), ("ys", "f4"), ("ts", "f8"), ("pol", "i4"), ("depth", "f4")],
    ],
)
def test_structured_arrays_are_read_by_the_names_of_their_fields(tmp_path, make_events, dtype):
    events = make_events(500)
    array = np.zeros(500, dtype)
    names = evcrisp.io.event_columns.find_columns(array.dtype.names)
    for name, field in names.items():
        column = getattr(events, name)
        array[field] = column / 1e6 if name == "t" and array.dtype[field].kind == "f" else column
    path = saved(tmp_path, array)
    assert evcrisp.read(path, resolution=SIZE).equals(events)
    with evcrisp.open(path) as opened:
        assert opened.format == "npy"


@pytest.mark.parametrize("order", ["xypt", "xytp", "txyp"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float64])
@pytest.mark.parametrize("negative", [False, True])
def test_order_of_four_columns_is_found_from_their_values(
    tmp_path, make_events, order, dtype, negative
):
    events = make_events(800)
    columns = {"x": events.x, "y": events.y, "t": events.t, "p": events.p.astype(int)}
    if negative:
        columns["p"] = 2 * columns["p"] - 1
    path = saved(tmp_path, np.stack([columns[name] for name in order], axis=1).astype(dtype))
    assert evcrisp.read(path, resolution=SIZE).equals(events)


def test_time_with_fractions_is_in_seconds(tmp_path, make_events):
    events = make_events(800)
    rows = np.stack([events.t / 1e6, events.x, events.y, events.p], axis=1)
    assert evcrisp.read(saved(tmp_path, rows), resolution=SIZE).equals(events)


def test_ambiguous_columns_are_refused(tmp_path):
    with pytest.raises(FormatError, match="more than one of the usual orders.*fits them"):
        evcrisp.read(saved(tmp_path, np.zeros((5, 4), np.int64)))
    rows = np.random.default_rng(0).integers(0, 200, (100, 4))
    with pytest.raises(FormatError, match="none of the usual orders.*Save the columns under their"):
        evcrisp.read(saved(tmp_path, rows))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((5, 3)), r"got float64 of shape \(5, 3\)"),
        (np.zeros(5), "expected a structured array or four columns"),
        (np.zeros((5, 4), "U3"), "got <U3"),
        (np.zeros(5, [("x", "i4"), ("y", "i4"), ("t", "i8")]), "no column for 'p'"),
        (np.zeros((5, 2), [("x", "i4"), ("y", "i4"), ("t", "i8"), ("p", "?")]), "one axis"),
        (np.zeros(5, [("x", "U2"), ("y", "i4"), ("t", "i8"), ("p", "?")]), "'x' must hold numbers"),
        (
            np.zeros(5, [("x", "i4", 2), ("y", "i4"), ("t", "i8"), ("p", "?")]),
            "'x' must hold numbers",
        ),
        (np.array([None, {}]), "Python objects, which are not read"),
    ],
)
def test_arrays_that_are_not_events_are_refused(tmp_path, array, message):
    with pytest.raises(FormatError, match=message):
        evcrisp.read(saved(tmp_path, array))


def test_file_that_ends_early_gives_the_events_before_the_end(tmp_path, make_events):
    events = make_events(500)
    path = saved(tmp_path, events.to_structured())
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError, match="the file ends 3 events early.*after 497 events"):
        evcrisp.read(path, resolution=SIZE)
    assert evcrisp.read(path, resolution=SIZE, on_error="truncate").equals(events[:497])


def test_header_with_too_many_events_takes_no_memory(tmp_path):
    file = io.BytesIO()
    descr = [("t", "<i8"), ("x", "<u2"), ("y", "<u2"), ("p", "?")]
    header = {"descr": descr, "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(file, header)
    (tmp_path / "a.npy").write_bytes(file.getvalue() + bytes(26))
    with pytest.raises(FormatError, match="the file ends 999,999,999,999,998 events early"):
        evcrisp.read(tmp_path / "a.npy")


def test_polarity_bytes_that_are_neither_0_nor_1_are_damage(tmp_path, make_events):
    path = saved(tmp_path, make_events(50).to_structured())
    content = bytearray(path.read_bytes())
    content[-4] = 2
    path.write_bytes(content)
    with pytest.raises(FormatError, match="polarity must be 0 or 1; found 2"):
        evcrisp.read(path, resolution=SIZE)


@pytest.mark.parametrize("labeled", [False, True])
def test_columns_can_be_mapped_by_numpy(tmp_path, make_events, labeled):
    events = make_events(1000)
    events = events.with_signal(events.y % 2 == 0) if labeled else events
    folder = tmp_path / "a.columns"
    evcrisp.write(folder, [events[:300], events[300:]])
    for name in ("x", "y", "t", "p", *(["signal"] if labeled else [])):
        column = np.load(folder / f"{name}.npy", mmap_mode="r")
        assert isinstance(column, np.memmap)
        np.testing.assert_array_equal(column, getattr(events, name))
    assert json.loads((folder / "meta.json").read_text())["n_events"] == 1000
    with evcrisp.open(folder) as opened:
        assert opened.format == "columns"
        assert opened.read().equals(events)


def test_folder_made_by_hand_is_read(tmp_path, make_events):
    events = make_events(100)
    folder = tmp_path / "hand"
    folder.mkdir()
    for name, file in {"x": "xs", "y": "ys", "t": "ts", "p": "ps"}.items():
        np.save(folder / f"{file}.npy", getattr(events, name).astype(np.int64))
    assert evcrisp.read(folder, resolution=SIZE).equals(events)


@pytest.mark.parametrize("t", [0, 2**53, 2**62 - 1])
def test_round_trip_keeps_zero_and_one_event(tmp_path, t):
    one = Events(x=[0], y=[0], t=[t], p=[True], resolution=(1, 1))
    evcrisp.write(tmp_path / "one.columns", one)
    evcrisp.write(tmp_path / "none.columns", one[:0])
    assert evcrisp.read(tmp_path / "one.columns").equals(one)
    assert evcrisp.read(tmp_path / "none.columns").equals(one[:0])


@pytest.mark.parametrize("name", ["x", "y", "t", "p"])
def test_short_column_gives_the_common_rows(tmp_path, make_events, name):
    events = make_events(1000)
    folder = tmp_path / "a.columns"
    evcrisp.write(folder, events)
    content = (folder / f"{name}.npy").read_bytes()
    (folder / f"{name}.npy").write_bytes(content[:-16])
    with pytest.raises(FormatError, match=r"the columns end after 9\d\d of 1,000 events"):
        evcrisp.read(folder)
    kept = evcrisp.read(folder, on_error="truncate")
    assert kept.equals(events[: len(kept)])
    assert len(kept) >= 984


@pytest.mark.parametrize(
    "meta", ["", "[]", "{}", '{"width": 1e999, "height": 2}', '{"width": 0, "height": 0}']
)
def test_damaged_metadata_is_a_format_error(tmp_path, make_events, meta):
    evcrisp.write(tmp_path / "a.columns", make_events(10))
    (tmp_path / "a.columns" / "meta.json").write_text(meta)
    with pytest.raises(
        FormatError, match=r"(meta.json must state width and height|1 to 65536|0x0|size)"
    ):
        evcrisp.read(tmp_path / "a.columns")


def test_file_is_not_a_folder_of_columns(tmp_path):
    (tmp_path / "a.columns").write_bytes(b"text")
    with pytest.raises(FormatError, match="expected a folder with x.npy"):
        evcrisp.read(tmp_path / "a.columns", format="columns")


def test_partial_labels_are_refused(tmp_path, make_events):
    first, second = make_events(5), make_events(5, t_start=2_000_000)
    with pytest.raises(evcrisp.ConfigError, match="Either all events or none must have labels"):
        evcrisp.write(tmp_path / "a.columns", [first, second.with_signal([1] * 5)])
    assert list(tmp_path.iterdir()) == []


def test_packets_are_bounded(tmp_path, make_events, monkeypatch):
    monkeypatch.setattr(npy, "PACKET_EVENTS", 100)
    events = make_events(250)
    evcrisp.write(tmp_path / "a.columns", events)
    packets = list(npy.ColumnsReader().open(tmp_path / "a.columns").packets())
    assert [packet.t.size for packet in packets] == [100, 100, 50]
    path = saved(tmp_path, events.to_structured())
    assert [p.t.size for p in npy.NpyReader().open(path).packets()] == [100, 100, 50]
