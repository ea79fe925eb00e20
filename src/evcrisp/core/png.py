"""Encode PNG images without an imaging library."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

#: Color type in the header, by number of bytes per pixel.
_COLOR_TYPES = {1: 0, 3: 2}


def encode_png(image: NDArray[np.uint8]) -> bytes:
    r"""Encode an image as PNG.

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
    rows = np.zeros(
        (height, 1 + width * n_bytes), np.uint8
    )  # each row starts with its filter type, 0
    rows[:, 1:] = image.reshape(height, width * n_bytes)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[n_bytes], 0, 0, 0)
    data = _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + data + _chunk(b"IEND", b"")


def png_uri(image: NDArray[np.uint8]) -> str:
    """Return an image as a ``data:`` URI for HTML."""
    return "data:image/png;base64," + base64.b64encode(encode_png(image)).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
