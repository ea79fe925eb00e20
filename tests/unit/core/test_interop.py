import sys

import numpy as np
import pytest

from evcrisp import EventDataError, Events, MissingExtraError
from evcrisp.core.events import RECORD_DTYPE


def records(n=50):
    rng = np.random.default_rng(1)
    array = np.zeros(n, RECORD_DTYPE)
    array["t"] = np.sort(rng.integers(0, 1000, n))
    array["x"] = rng.integers(0, 8, n)
    array["y"] = rng.integers(0, 4, n)
    array["p"] = rng.integers(0, 2, n)
    return array


def test_structured_round_trip_shares_memory():
    array = records()
    events = Events.from_structured(array, (8, 4))
    for name in ("t", "x", "y", "p"):
        assert np.shares_memory(getattr(events, name), array)
    back = events.to_structured()
    assert np.shares_memory(back, array)
    np.testing.assert_array_equal(back, array)
    np.testing.assert_array_equal(events[10:20].to_structured(), array[10:20])
    assert np.shares_memory(events[10:20].to_structured(), array)


def test_columns_are_packed_into_records(make_events):
    events = make_events(500)
    packed = events.to_structured()
    assert packed.dtype == RECORD_DTYPE
    assert Events.from_structured(packed, events.resolution).equals(events)
    assert len(Events.empty((3, 3)).to_structured()) == 0


def test_strided_selection_of_records_is_packed():
    array = records()
    events = Events.from_structured(array, (8, 4))
    np.testing.assert_array_equal(events[::2].to_structured(), array[::2])


@pytest.mark.parametrize("shift", range(4))
def test_records_with_another_offset_of_time_are_packed(shift):
    layout = {name: RECORD_DTYPE.fields[name] for name in RECORD_DTYPE.names}
    dtype = np.dtype(
        {
            "names": list(layout),
            "formats": [kind for kind, _ in layout.values()],
            "offsets": [offset + shift for _, offset in layout.values()],
            "itemsize": 16,
        }
    )
    array = np.zeros(50, dtype)
    for name in dtype.names:
        array[name] = records()[name]
    events = Events.from_structured(array, (8, 4))
    for part, expected in ((events, records()), (events[10:20], records()[10:20])):
        packed = part.to_structured()
        assert packed.dtype == RECORD_DTYPE
        np.testing.assert_array_equal(packed, expected)
        assert np.shares_memory(packed, array) == (shift == 0)


def test_contiguous_copies_only_strided_columns(make_events):
    events = make_events(20)
    assert events.contiguous() is events
    strided = Events.from_structured(events.to_structured(), events.resolution)
    assert not strided.x.flags.c_contiguous
    assert strided.contiguous().x.flags.c_contiguous
    assert strided.contiguous().equals(events)


def test_other_field_names_and_signed_types_are_accepted():
    dtype = [("timestamp", "<i8"), ("x", "<i2"), ("y", "<i2"), ("polarity", "i1")]
    array = np.array([(5, 1, 2, 1), (6, 2, 3, 0)], dtype)
    events = Events.from_structured(array, (8, 4))
    assert (events.x.tolist(), events.p.tolist()) == ([1, 2], [True, False])
    assert np.shares_memory(events.x, array)


def test_negative_coordinate_in_records_raises():
    array = np.array([(5, -1, 2, 1)], [("t", "<i8"), ("x", "<i2"), ("y", "<i2"), ("p", "?")])
    with pytest.raises(EventDataError, match="`x` must lie in"):
        Events.from_structured(array, (8, 4))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 4)), "structured array"),
        (np.zeros(3, [("t", "<i8"), ("x", "<u2")]), "field for 'y'"),
    ],
)
def test_arrays_without_the_fields_raise(array, message):
    with pytest.raises(EventDataError, match=message):
        Events.from_structured(array, (8, 4))


def test_torch_shares_memory(make_events):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    events = make_events(100)
    tensors = events.to_torch()
    for name, tensor in tensors.items():
        column = getattr(events, name)
        assert tensor.data_ptr() == column.__array_interface__["data"][0]
        np.testing.assert_array_equal(tensor.numpy(), column)
    assert tensors["t"].dtype == torch.int64
    assert len(Events.empty((2, 2)).to_torch()["x"]) == 0


def test_torch_tensors_outlive_the_events(make_events):
    pytest.importorskip("torch", reason="torch is not installed")
    expected = make_events(1000).t.copy()
    tensor = make_events(1000).to_torch()["t"]
    assert tensor.tolist() == expected.tolist()


def test_arrow_shares_memory(make_events):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    events = make_events(100)
    table = events.to_arrow()
    for name in ("t", "x", "y", "p"):
        chunk = table[name].chunk(0)
        column = getattr(events, name)
        assert chunk.buffers()[1].address == column.__array_interface__["data"][0]
        np.testing.assert_array_equal(chunk.to_numpy(), column)


def test_eventcv_round_trip(make_events):
    pytest.importorskip("eventcv", reason="eventcv is not installed")
    events = make_events(300)
    assert Events.from_eventcv(events.to_eventcv()).equals(events)


def test_dv_round_trip(make_events):
    pytest.importorskip("dv_processing", reason="dv-processing is not installed")
    events = make_events(300)
    store = events.to_dv()
    assert store.size() == 300
    assert Events.from_dv(store, events.resolution).equals(events)


@pytest.mark.parametrize(
    ("package", "method"),
    [
        ("torch", "to_torch"),
        ("pyarrow", "to_arrow"),
        ("eventcv", "to_eventcv"),
        ("dv_processing", "to_dv"),
    ],
)
def test_missing_package_raises_with_its_name(monkeypatch, make_events, package, method):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=f"'{package}'. Install it with: pip install"):
        getattr(make_events(3), method)()


def test_row_of_a_table_of_records_is_packed():
    table = np.stack([records(5), records(5)])
    events = Events.from_structured(table[1], (8, 4))
    np.testing.assert_array_equal(events.to_structured(), table[1])


def test_negative_coordinate_raises_on_the_widest_sensor():
    array = np.array([(5, -1, 2, 1)], [("t", "<i8"), ("x", "<i2"), ("y", "<i2"), ("p", "?")])
    with pytest.raises(EventDataError, match="`x` must lie in"):
        Events.from_structured(array, (65536, 65536))
