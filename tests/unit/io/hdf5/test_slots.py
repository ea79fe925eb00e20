"""Memory that is shared with the reading process: an array that is in use is never written again."""

import os
from io import BytesIO

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.io.hdf5 import slots
from evcrisp.io.hdf5.messages import SharedPart, receive, send
from evcrisp.io.hdf5.slots import Slots

pytest.importorskip("h5py", reason="h5py writes the files")
pytestmark = pytest.mark.skipif(
    not hasattr(os, "memfd_create"), reason="memory is shared on Linux only"
)

N_BYTES = 1 << 21


@pytest.fixture
def shared():
    made = Slots()
    made.close_descriptor()
    return made


def fill(shared, slot, value):
    np.frombuffer(shared._parts[slot], np.uint8)[:N_BYTES] = value


def test_a_slot_is_free_again_when_no_view_is_left(shared):
    slot = shared.take()
    view = shared.content(slot, N_BYTES)[100:].view(np.uint16)
    assert slot not in shared._free
    part = view[::2]
    del view
    assert slot not in shared._free
    del part
    assert slot in shared._free


def test_contents_are_copied_when_few_slots_are_left(shared):
    held = []
    for value in range(20):
        slot = shared.take()
        fill(shared, slot, value)
        held.append(shared.content(slot, N_BYTES))
    assert len(shared._free) == slots._N_KEPT
    assert [int(content.min()) for content in held] == list(range(20))
    assert [int(content.max()) for content in held] == list(range(20))


def test_small_contents_are_copied(shared):
    content = shared.content(shared.take(), 100)
    assert len(shared._free) == 8
    assert content.size == 100


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_slot_that_a_fork_may_use_is_not_written_again(shared):
    slot = shared.take()
    content = shared.content(slot, N_BYTES)
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    del content
    assert slot not in shared._free


@pytest.mark.parametrize("n", [0, 3, 1000])
def test_arrays_made_in_the_shared_memory_are_not_copied(shared, n):
    part = SharedPart(shared._parts[0])
    t, x = part.empty(n, np.int64), np.arange(n, dtype=np.uint16)
    t[:] = np.arange(n)
    pipe = BytesIO()
    send(pipe, ("value", t, x), part)
    assert part.end < 11 * n + 128  # no second place for the times
    pipe.seek(0)
    kind, *arrays = receive(pipe, lambda size: shared.content(0, size))
    assert kind == "value"
    assert all(array.flags.aligned for array in arrays)
    np.testing.assert_array_equal(arrays, [np.arange(n)] * 2)


def test_messages_that_do_not_fit_go_through_the_pipe():
    part = SharedPart(memoryview(bytearray(1000)))
    t = part.empty(100, np.int64)
    t[:] = np.arange(100)
    assert part.empty(100, np.int64).size == 100  # elsewhere
    pipe = BytesIO()
    send(pipe, (t, np.arange(200)), part)
    pipe.seek(0)
    first, second = receive(pipe)
    np.testing.assert_array_equal(first, np.arange(100))
    np.testing.assert_array_equal(second, np.arange(200))


def test_all_chunks_can_be_kept(tmp_path):
    n = 1_500_000
    t = np.arange(n, dtype=np.int64)
    x = (t % 300).astype(np.uint16)
    events = Events(x=x, y=x // 2, t=t, p=t % 2 == 0, resolution=(346, 260))
    evcrisp.write(tmp_path / "a.h5", events, format="dsec")
    with evcrisp.open(tmp_path / "a.h5") as recording:
        first, second = list(recording.chunks(100_000)), list(recording.chunks())
    assert Events.concatenate(first).equals(events)
    assert Events.concatenate(second).equals(events)
