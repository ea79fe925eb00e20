"""Pass Python objects from one process to another: a pipe, and shared memory for arrays."""

import mmap
import os
import pickle
import struct
from typing import Any, BinaryIO

import numpy as np

_COUNT = struct.Struct("<Q")
#: Size of the shared memory, bytes; larger messages go through the pipe.
_SHARED_BYTES = 1 << 26
NOT_SHARED = memoryview(b"")


def new_shared_memory() -> int | None:
    """Return the file descriptor of shared memory; None if the system has no such thing."""
    if not hasattr(os, "memfd_create"):  # Linux only
        return None
    descriptor = os.memfd_create("evcrisp")
    os.ftruncate(descriptor, _SHARED_BYTES)
    return descriptor


def map_shared_memory(descriptor: int | None) -> memoryview:
    """Return shared memory; empty if there is none."""
    return NOT_SHARED if descriptor is None else memoryview(mmap.mmap(descriptor, _SHARED_BYTES))


def send(pipe: BinaryIO, message: Any, shared: memoryview = NOT_SHARED) -> None:
    """Write an object; the bytes of its arrays go to shared memory if they fit."""
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    sizes = [part.nbytes for part in parts]
    is_shared = sum(sizes) <= len(shared)
    pipe.write(b"".join(map(_COUNT.pack, (is_shared, len(sizes), len(text), *sizes))))
    pipe.write(text)
    start = 0
    for part, size in zip(parts, sizes, strict=True):
        if is_shared:
            shared[start : start + size] = part
            start += size
        else:
            pipe.write(part)
    if is_shared:
        pipe.write(b"\0")  # the shared memory is complete
    pipe.flush()


def receive(pipe: BinaryIO, shared: memoryview = NOT_SHARED) -> Any:
    """Read an object; raise `EOFError` if the other process has ended."""
    is_shared, n_sizes, n_text = struct.unpack("<3Q", _exactly(pipe, 3 * _COUNT.size))
    sizes = struct.unpack(f"<{n_sizes}Q", _exactly(pipe, n_sizes * _COUNT.size))
    text = _exactly(pipe, n_text)
    if not is_shared:
        return pickle.loads(text, buffers=[_exactly(pipe, size) for size in sizes])
    _exactly(pipe, 1)
    stops = np.cumsum(sizes, dtype=np.int64).tolist()
    parts = [shared[stop - size : stop] for stop, size in zip(stops, sizes, strict=True)]
    return pickle.loads(text, buffers=[np.array(part) for part in parts])


def _exactly(pipe: BinaryIO, n_bytes: int) -> bytearray:
    buffer = bytearray(n_bytes)
    view, n_read = memoryview(buffer), 0
    while n_read < n_bytes:
        n = pipe.readinto(view[n_read:])  # ty: ignore[missing-attribute]
        if not n:
            raise EOFError
        n_read += n
    return buffer
