"""Memory that two processes share, in parts; a part is not written again while an array uses it."""

import mmap
import os
import weakref

import numpy as np
from numpy.typing import NDArray

#: Number of parts, and size of each, bytes: packets take less, other messages go through the pipe.
_N_SLOTS, _SLOT_BYTES = 8, 1 << 23
#: Slots that are never lent: two packets that are read ahead, and a request.
_N_KEPT = 3
#: Smaller arrays are copied, bytes: they may live long.
_MIN_LENT_BYTES = 1 << 20

_n_forks = 0


def _count_fork() -> None:
    global _n_forks
    _n_forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_count_fork)


def map_slots(descriptor: int | None) -> list[memoryview]:
    """Return the parts of shared memory; empty ones if the system has no such thing."""
    if descriptor is None:
        return [memoryview(b"")] * _N_SLOTS
    memory = memoryview(mmap.mmap(descriptor, _N_SLOTS * _SLOT_BYTES))
    return [memory[k * _SLOT_BYTES : (k + 1) * _SLOT_BYTES] for k in range(_N_SLOTS)]


class Slots:
    """The parts of a new shared memory, and which of them the other process may write."""

    def __init__(self) -> None:
        self.descriptor = None
        if hasattr(os, "memfd_create"):  # Linux only
            self.descriptor = os.memfd_create("evcrisp")
            os.ftruncate(self.descriptor, _N_SLOTS * _SLOT_BYTES)
        self._parts = map_slots(self.descriptor)
        self._free = list(range(_N_SLOTS))

    def close_descriptor(self) -> None:
        """Close the file descriptor, after the other process has it."""
        if self.descriptor is not None:
            os.close(self.descriptor)

    def take(self) -> int:
        """Return the number of a slot that can be written."""
        return self._free.pop()

    def give_back(self, slot: int) -> None:
        """Return a slot whose content is not needed."""
        self._free.append(slot)

    def content(self, slot: int, n_bytes: int) -> NDArray[np.uint8]:
        """Return bytes of a taken slot and free it: at once with a copy, or when no view is left."""
        content = np.frombuffer(self._parts[slot][:n_bytes], np.uint8)
        if n_bytes < _MIN_LENT_BYTES or len(self._free) < _N_KEPT:
            content = content.copy()
            self.give_back(slot)
            return content
        finalizer = weakref.finalize(content, self._end_lease, slot, _n_forks)
        finalizer.atexit = False
        return content

    def _end_lease(self, slot: int, n_forks: int) -> None:
        """Free a slot, unless another process has been forked, which may still use it."""
        if n_forks == _n_forks:
            self.give_back(slot)
