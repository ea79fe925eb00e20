"""Tables and thumbnails as self-contained HTML, for notebooks."""

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.palettes import PALETTES, Palette, layer_palette, layer_slots, rgb

#: Maximum width and height of a thumbnail, px; larger sensors are reduced.
MAX_SIDE_PX = 240

#: Maximum number of events in a thumbnail; more are subsampled evenly.
MAX_EVENTS = 200_000

#: Color type in the header of a PNG, by number of bytes per pixel.
_COLOR_TYPES = {1: 0, 3: 2}

_CELL = 'style="text-align:left;padding:1px 10px 1px 0"'


def thumbnail(
    x: ArrayLike,
    y: ArrayLike,
    p: ArrayLike,
    resolution: tuple[int, int],
    palette: Palette = PALETTES["red-blue"],
) -> NDArray[np.uint8]:
    """Return an image of events, shape (h, w, 3), reduced to `MAX_SIDE_PX`.

    >>> thumbnail([1], [0], [True], (3, 2))[0, 1].tolist()
    [214, 26, 41]
    """
    colors = (palette.off, palette.on)
    return colored_dots(x, y, np.asarray(p, np.bool_), colors, resolution, ground=palette.ground)


def layer_thumbnail(
    x: ArrayLike, y: ArrayLike, layer: ArrayLike, ids: Sequence[int], resolution: tuple[int, int]
) -> NDArray[np.uint8]:
    """Return an image of events in the colors of their layers; -1, noise, is gray and below.

    ``layer`` is the place of each event's layer in ``ids``, the numbers of the layers.

    >>> layer_thumbnail([1, 2], [0, 0], [0, -1], [0], (3, 2))[0].tolist()
    [[255, 255, 255], [3, 3, 204], [190, 190, 190]]
    """
    palette = layer_palette("#ffffff")
    colors = [palette.noise, *(palette.colors[slot] for slot in layer_slots(ids))]
    kind = np.asarray(layer, np.int64) + 1
    return colored_dots(x, y, kind, colors, resolution, ground=palette.ground)


def colored_dots(
    x: ArrayLike,
    y: ArrayLike,
    kind: ArrayLike,
    colors: Sequence[str],
    resolution: tuple[int, int],
    *,
    ground: str,
) -> NDArray[np.uint8]:
    """Return an image of events, reduced to `MAX_SIDE_PX`; later kinds are drawn over earlier ones."""
    columns = np.asarray(x), np.asarray(y), np.asarray(kind)
    every = max(1, -(-columns[0].size // MAX_EVENTS))
    column, row, kinds = (values[::every] for values in columns)
    width, height = resolution
    shrink = max(1, -(-max(width, height) // MAX_SIDE_PX))
    small = np.empty((-(-height // shrink), -(-width // shrink), 3), np.uint8)
    small[:] = rgb(ground)
    column, row = np.rint(column), np.rint(row)
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    column = np.where(inside, column, 0).astype(np.int64)
    row = np.where(inside, row, 0).astype(np.int64)
    for number, color in enumerate(colors):
        chosen = inside & (kinds == number)
        small[row[chosen] // shrink, column[chosen] // shrink] = rgb(color)
    return small


def dots(x: ArrayLike, y: ArrayLike, is_marked: ArrayLike, side: int = 160) -> NDArray[np.uint8]:
    """Return a scatter plot, shape (side, side, 3), y up; marked dots are red and on top.

    >>> dots([0, 1], [0, 1], [True, False]).shape
    (160, 160, 3)
    """
    place = np.stack((np.asarray(x, np.float64), -np.asarray(y, np.float64)))
    place -= place.min(axis=1, keepdims=True)
    extent = place.max(axis=1, keepdims=True)
    column, row = np.rint(8 + place * (side - 17) / np.where(extent > 0, extent, 1.0))[..., None]
    down, right = (offsets.ravel() for offsets in np.mgrid[-2:3, -2:3])
    is_red = np.repeat(np.asarray(is_marked, np.bool_), right.size)
    return thumbnail((column + right).ravel(), (row + down).ravel(), is_red, (side, side))


def shades(values: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return a map of values 0 (black) to 1 (white) as a gray image."""
    shrink = max(1, -(-max(values.shape) // MAX_SIDE_PX))
    return np.rint(255.0 * np.clip(values[::shrink, ::shrink], 0.0, 1.0)).astype(np.uint8)


def html_table(
    rows: Iterable[Sequence[object]], *, header: Sequence[object] = (), caption: str = ""
) -> str:
    """Return rows as an HTML table with escaped text.

    >>> html_table([("a", 1)]).count("<td")
    2
    """
    parts = ["<table>"]
    if caption:
        parts.append(f'<caption style="text-align:left">{escape(caption)}</caption>')
    if header:
        cells = "".join(f"<th {_CELL}>{escape(str(cell))}</th>" for cell in header)
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for row in rows:
        cells = "".join(f"<td {_CELL}>{escape(str(cell))}</td>" for cell in row)
        parts.append(f"<tr>{cells}</tr>")
    return "".join((*parts, "</tbody></table>"))


def html_card(
    title: str, facts: Iterable[Sequence[object]], images: Iterable[tuple[str, NDArray[np.uint8]]]
) -> str:
    """Return a table of facts beside images with captions."""
    figures = "".join(
        '<figure style="margin:0">'
        f'<img src="{png_uri(image)}" alt="{escape(caption)}" '
        'style="image-rendering:pixelated;border:1px solid #8888">'
        f'<figcaption style="font-size:smaller">{escape(caption)}</figcaption></figure>'
        for caption, image in images
    )
    return (
        f"<div><b>{escape(title)}</b>"
        '<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start">'
        f"<div>{html_table(facts)}</div>{figures}</div></div>"
    )


def encode_png(image: NDArray[np.uint8]) -> bytes:
    r"""Encode an image as PNG: gray, shape (h, w), or red, green and blue, shape (h, w, 3).

    >>> encode_png(np.zeros((2, 2), np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = image.shape[:2]
    n_bytes = 1 if image.ndim == 2 else image.shape[2]
    rows = np.zeros((height, 1 + width * n_bytes), np.uint8)  # each starts with its filter type, 0
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
