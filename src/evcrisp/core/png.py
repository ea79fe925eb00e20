"""A small PNG writer, so that a thumbnail needs no imaging library."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

#: Color type of the header by the number of bytes per pixel.
_COLOR_TYPES = {1: 0, 3: 2}


def encode_png(image: NDArray[np.uint8]) -> bytes:
    r"""Return an image as the bytes of a PNG file.

    Parameters
    ----------
    image : ndarray of uint8, shape (h, w) or (h, w, 3)
        Gray, or red, green and blue.

    Examples
    --------
    >>> encode_png(np.zeros((2, 2), np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = image.shape[:2]
    n_bytes = 1 if image.ndim == 2 else image.shape[2]
    rows = np.zeros((height, 1 + width * n_bytes), np.uint8)  # each row begins with its filter, 0
    rows[:, 1:] = image.reshape(height, width * n_bytes)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[n_bytes], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def png_uri(image: NDArray[np.uint8]) -> str:
    """Return an image as a ``data:`` address that a page can hold."""
    return "data:image/png;base64," + base64.b64encode(encode_png(image)).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
