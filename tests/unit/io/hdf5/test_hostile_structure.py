"""HDF5 structure that is damaged or odd: heaps of attributes, names of members."""

import time
from contextlib import suppress

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError

h5py = pytest.importorskip("h5py", reason="h5py writes the files")

SIZE = (346, 260)
#: Longest time of a read, s: two processes may use up their limits of processor time.
LONGEST_S = 15


def write_records(path, events):
    """Write events in the layout of Prophesee, with attributes of variable length."""
    kinds = {"x": "<u2", "y": "<u2", "p": "<i2", "t": "<i8"}
    records = np.zeros(len(events), list(kinds.items()))
    for name in kinds:
        records[name] = getattr(events, name)
    with h5py.File(path, "w") as file:
        file["CD/events"] = records
        file.attrs["geometry"] = "346x260"
        file.attrs["serial_number"] = "0123456789" * 20
    return path.read_bytes()


# Objects of the heap: number, references, size. A size of 255 at place 24 stops HDF5 itself for ever.
@pytest.mark.parametrize("place", [8, 16, 18, 24, 25, 31])
@pytest.mark.parametrize("value", [0, 255])
def test_damaged_heap_of_attributes_does_not_stop_the_program(tmp_path, make_events, place, value):
    events, path = make_events(300, resolution=SIZE), tmp_path / "a.h5"
    data = bytearray(write_records(path, events))
    assert evcrisp.read(path).equals(events)
    data[data.index(b"GCOL") + place] = value
    path.write_bytes(data)
    start = time.monotonic()
    with suppress(FormatError):
        assert len(evcrisp.read(path, resolution=SIZE)) == 300
    assert time.monotonic() - start < LONGEST_S


@pytest.mark.parametrize("group", ["", "events/"])
def test_names_of_members_that_are_not_utf8_are_left_out(tmp_path, make_events, group):
    events, path = make_events(300, resolution=SIZE), tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for name in ("x", "y", "t", "p", "odd-name"):
            file[group + name] = getattr(events, name, np.zeros(3))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"odd-name", b"\xff\xfe\x80-name"))
    assert evcrisp.read(path, resolution=SIZE).equals(events)


def test_a_file_with_only_odd_names_is_refused(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["events/odd-name"] = np.zeros(3)
    path.write_bytes(path.read_bytes().replace(b"odd-name", b"\xff\xfe\x80-name"))
    with pytest.raises(FormatError):
        evcrisp.read(path, resolution=SIZE)
