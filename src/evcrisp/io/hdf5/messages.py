"""Pass Python objects from one process to another: a pipe, and shared memory for arrays."""

import pickle
import struct
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

_COUNT = struct.Struct("<Q")
#: Alignment of arrays in shared memory, bytes; compiled code needs 8.
_ALIGNMENT = 64


class SharedPart:
    """Shared memory for one message: places for its arrays, which need no copy if they are made there."""

    def __init__(self, memory: memoryview | None = None) -> None:
        self._memory = memoryview(b"") if memory is None else memory
        self._bytes = np.frombuffer(self._memory, np.uint8)
        self._begin = _address(self._bytes)
        self.end = 0

    def empty(self, n: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of ``n`` elements in the shared memory, or elsewhere if it is full."""
        n_bytes = n * np.dtype(dtype).itemsize
        start = self._place(n_bytes)
        if start is None:
            return np.empty(n, dtype)
        return self._bytes[start : start + n_bytes].view(dtype)

    def hold(self, data: memoryview) -> int | None:
        """Return where bytes lie in the shared memory, copied if necessary; None if it is full."""
        start = _address(np.frombuffer(data, np.uint8)) - self._begin
        if 0 <= start < self.end:
            return start
        found = self._place(data.nbytes)
        if found is not None:
            self._memory[found : found + data.nbytes] = data
        return found

    def _place(self, n_bytes: int) -> int | None:
        start = -(-self.end // _ALIGNMENT) * _ALIGNMENT
        if start + n_bytes > len(self._memory):
            return None
        self.end = start + n_bytes
        return start


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def send(pipe: BinaryIO, message: Any, shared: SharedPart | None = None) -> None:
    """Write an object; the bytes of its arrays go to shared memory if they fit."""
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    sizes = [part.nbytes for part in parts]
    starts = [None if shared is None else shared.hold(part) for part in parts]
    found = [start for start in starts if start is not None]
    if len(found) < len(parts):
        found = []  # all through the pipe
    head = (len(found), len(sizes), len(text), *found, *sizes)
    pipe.write(b"".join(map(_COUNT.pack, head)))
    pipe.write(text)
    for part in parts if not found else ():
        pipe.write(part)
    pipe.flush()


def receive(pipe: BinaryIO, shared_bytes: Callable[[int], NDArray[np.uint8]] = np.empty) -> Any:
    """Read an object; raise `EOFError` if the other process has ended.

    ``shared_bytes(n)`` returns the first ``n`` bytes of the shared memory, or a copy; it is called once.
    Arrays are views of them.
    """
    n_starts, n_sizes, n_text = struct.unpack("<3Q", _exactly(pipe, 3 * _COUNT.size))
    starts = struct.unpack(f"<{n_starts}Q", _exactly(pipe, n_starts * _COUNT.size))
    sizes = struct.unpack(f"<{n_sizes}Q", _exactly(pipe, n_sizes * _COUNT.size))
    text = _exactly(pipe, n_text)
    ends = [start + size for start, size in zip(starts, sizes, strict=False)]
    content = shared_bytes(max(ends, default=0))
    if not starts:
        return pickle.loads(text, buffers=[_exactly(pipe, size) for size in sizes])
    return pickle.loads(
        text, buffers=[content[start:end] for start, end in zip(starts, ends, strict=True)]
    )


def _exactly(pipe: BinaryIO, n_bytes: int) -> bytearray:
    buffer = bytearray(n_bytes)
    view, n_read = memoryview(buffer), 0
    while n_read < n_bytes:
        n = pipe.readinto(view[n_read:])  # ty: ignore[missing-attribute]
        if not n:
            raise EOFError
        n_read += n
    return buffer
