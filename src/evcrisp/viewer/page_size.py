"""Fit the results of a window into a page: fewer events, coarser maps."""

import base64
import gzip
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evcrisp.viewer.bundle_format import delta_encoded, read_bundle, write_bundle

#: Steps between drawn events, and pixels of the sensor per pixel of a map. Maps of 2 px look complete
#: on most screens, and so events are thinned first.
LEVELS = (
    (1, 1), (1, 2), (2, 2), (3, 2), (4, 2), (6, 2), (6, 3), (8, 4), (12, 6), (16, 8), (32, 16), (64, 16),
)  # fmt: skip

#: Maps of points of the front are coarser: there are many, and they differ little.
_POINT_FACTOR = 2

#: Level of gzip: level 9 takes six times as long and saves 1.4 % (events and maps of 1280 x 720 px).
_EFFORT = 7

_PER_EVENT = ("pixels", "dt", "shift_x", "shift_y", "flags")
_MAPS = ("map_before", "map_after", "map_kept", "w")

#: Shades of a coarse map, which compress better than 256.
_SHADES = 32


def fitted(bundles: Mapping[str, bytes], max_bytes: int) -> tuple[dict[str, str], int]:
    """Return bundles as compressed text of at most ``max_bytes``, and the step between events.

    All bundles of a window have the same events. The last level may be larger than the limit.
    """
    for step, factor in LEVELS[:-1]:
        texts = _within(bundles, step, factor, max_bytes)
        if texts is not None:
            return texts, step
    step, factor = LEVELS[-1]
    return {name: compressed(thinned(data, step, factor)) for name, data in bundles.items()}, step


def _within(
    bundles: Mapping[str, bytes], step: int, factor: int, max_bytes: int
) -> dict[str, str] | None:
    """Return the compressed bundles at a level; None as soon as they exceed the limit."""
    texts: dict[str, str] = {}
    left = max_bytes
    for name, bundle in bundles.items():
        texts[name] = compressed(thinned(bundle, step, factor))
        left -= len(texts[name])
        if left < 0:
            return None
    return texts


def thinned(bundle: bytes, step: int, factor: int) -> bytes:
    """Return a bundle with every ``step``-th event, and maps of ``factor`` px per pixel."""
    if (step, factor) == (1, 1):
        return bundle
    facts, arrays = read_bundle(bundle)
    if "step" in facts:
        facts["step"] *= step
    if facts.get("kind") == "point":
        factor *= _POINT_FACTOR
    size = facts.get("height", 0), facts.get("width", 0)
    for name, array in arrays.items():
        if name in _PER_EVENT:
            arrays[name] = array[::step]
        elif name in _MAPS:
            arrays[name] = _pooled(array.reshape(size), factor).ravel()
            facts["map_factor"] = factor
    return write_bundle(facts, arrays)


def _pooled(image: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Return the largest value of each square of pixels: thin edges stay visible.

    >>> _pooled(np.array([[0, 0, 80], [0, 255, 0]], np.uint8), 2).tolist()
    [[255, 82]]
    """
    height, width = image.shape
    padded = np.pad(image, ((0, -height % factor), (0, -width % factor)))
    rows, columns = padded.shape[0] // factor, padded.shape[1] // factor
    pooled = padded.reshape(rows, factor, columns, factor).max(axis=(1, 3))
    shade = 255.0 / (_SHADES - 1)
    return np.rint(np.rint(pooled / shade) * shade).astype(np.uint8)


def compressed(bundle: bytes) -> str:
    """Return a bundle as text for a page."""
    data = delta_encoded(bundle)
    return base64.b64encode(gzip.compress(data, _EFFORT, mtime=0)).decode()
