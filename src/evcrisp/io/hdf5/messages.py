"""Pass Python objects through a pipe between two processes; arrays are not copied before."""

import pickle
import struct
from typing import Any, BinaryIO

_COUNT = struct.Struct("<Q")


def send(pipe: BinaryIO, message: Any) -> None:
    """Write an object; contiguous arrays follow its description as plain bytes."""
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(text), *(buffer.raw() for buffer in buffers)]
    sizes = [len(parts), *(part.nbytes for part in parts)]
    pipe.write(b"".join(map(_COUNT.pack, sizes)))
    for part in parts:
        pipe.write(part)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Read an object; raise `EOFError` if the other process has ended."""
    (n_parts,) = _COUNT.unpack(_exactly(pipe, _COUNT.size))
    sizes = struct.unpack(f"<{n_parts}Q", _exactly(pipe, n_parts * _COUNT.size))
    text, *buffers = [_exactly(pipe, size) for size in sizes]
    return pickle.loads(text, buffers=buffers)


def _exactly(pipe: BinaryIO, n_bytes: int) -> bytearray:
    buffer = bytearray(n_bytes)
    view, n_read = memoryview(buffer), 0
    while n_read < n_bytes:
        n = pipe.readinto(view[n_read:])  # ty: ignore[missing-attribute]
        if not n:
            raise EOFError
        n_read += n
    return buffer
