"""Textures, procedural or from an image: reflectance in 0..1 on a tile that repeats without a seam.

Edges are anti-aliased over one pixel; lens blur is added later. Flat areas have exactly one value,
so that the simulator can skip them.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import require
from evcrisp.core.types import Floats

#: Suffixes that are read without an optional package.
_NATIVE = (".npy", ".pgm")
IMAGE_SUFFIXES = (*_NATIVE, ".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")

_MAX_SIDE = 16_384


class TextureSpec(NamedTuple):
    """Parameters of a texture."""

    rng: np.random.Generator
    shape: tuple[int, int]  # (h, w), texels
    feature_px: float
    radius_px: float  # half the smaller side of the view


def shapes(spec: TextureSpec) -> Floats:
    """Scatter polygons, stars and discs of about ``feature_px`` on a bright background."""
    tile = np.full(spec.shape, 0.8)
    n_shapes = max(1, round(tile.size / (2.2 * spec.feature_px) ** 2))
    for x, y in _spread(spec.rng, spec.shape, n_shapes):
        radius = spec.feature_px * spec.rng.uniform(0.5, 1.1)
        value = spec.rng.uniform(0.0, 0.55)
        kind = spec.rng.integers(4)
        if kind == 0:
            _paint_disc(tile, x, y, radius * 0.85, value)
        elif kind == 1:
            _paint_polygon(tile, _star_corners(spec.rng, x, y, radius), value)
        else:
            _paint_polygon(tile, _convex_corners(spec.rng, x, y, radius), value)
    return tile


def dots(spec: TextureSpec) -> Floats:
    """Scatter small bright and dark discs on gray."""
    tile = np.full(spec.shape, 0.4)
    n_dots = max(1, round(tile.size / (0.75 * spec.feature_px) ** 2))
    for x, y in _spread(spec.rng, spec.shape, n_dots):
        radius = spec.feature_px * spec.rng.uniform(0.06, 0.16)
        _paint_disc(tile, x, y, radius, 1.0 if spec.rng.random() < 0.5 else 0.0)
    return tile


def checkerboard(spec: TextureSpec) -> Floats:
    """Alternate black and white squares of about ``feature_px``."""
    height, width = spec.shape

    def wave(side: int) -> Floats:
        n_cycles = max(1, round(side / (2 * spec.feature_px)))
        return _square_wave(np.arange(side) / side, n_cycles, side)

    a, b = wave(width)[None, :], wave(height)[:, None]
    return a + b - 2.0 * a * b


def stripes(spec: TextureSpec) -> Floats:
    """Alternate slanted black and white stripes of about ``feature_px``."""
    height, width = spec.shape
    angle = np.deg2rad(25.0)
    n_x = max(1, round(width * np.cos(angle) / (2 * spec.feature_px)))
    n_y = round(height * np.sin(angle) / (2 * spec.feature_px))
    wavelength = 1.0 / np.hypot(n_x / width, n_y / height)
    y, x = np.mgrid[0:height, 0:width]
    return _square_wave(n_x * x / width + n_y * y / height, 1, wavelength)


def star(spec: TextureSpec) -> Floats:
    """Draw one star of eight spokes that fills most of the view."""
    n_spokes = 8
    height, width = spec.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    x, y = x - 0.5 * width, y - 0.5 * height
    r = np.hypot(x, y)
    sector = np.mod(np.arctan2(y, x), 2 * np.pi / n_spokes) - np.pi / n_spokes
    spokes = np.clip(0.5 + r * (np.pi / (2 * n_spokes) - np.abs(sector)), 0.0, 1.0)
    inside = np.clip(0.5 + 0.9 * spec.radius_px - r, 0.0, 1.0)
    return 0.5 + inside * (spokes - 0.5)


def rocks(spec: TextureSpec) -> Floats:
    """Generate noise with wavelengths from 5 px to twice ``feature_px``, like rough stone."""
    height, width = spec.shape
    f = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    low, high = 1.0 / (2.0 * spec.feature_px), 0.2
    amplitude = np.where((f >= min(low, high)) & (f <= high), np.maximum(f, 1e-9) ** -1.5, 0.0)
    white = np.fft.rfft2(spec.rng.standard_normal(spec.shape))
    noise = np.fft.irfft2(white * amplitude, s=spec.shape)
    return 0.5 + 0.5 * np.tanh(noise / max(float(noise.std()), 1e-12))


#: Procedural textures by name.
TEXTURES: dict[str, Callable[[TextureSpec], Floats]] = {
    "checkerboard": checkerboard,
    "dots": dots,
    "rocks": rocks,
    "shapes": shapes,
    "star": star,
    "stripes": stripes,
}


Pair = tuple[float, float]


def ellipse_alpha(shape: tuple[int, int], center: Pair, size: Pair) -> Floats:
    """Return the opacity of an ellipse of ``size`` (full axes, px), 1 inside, 0 outside."""
    dx, dy = _around(shape, center)
    a, b = 0.5 * size[0], 0.5 * size[1]
    return np.clip(0.5 - (np.hypot(dx / a, dy / b) - 1.0) * min(a, b), 0.0, 1.0)


def rectangle_alpha(shape: tuple[int, int], center: Pair, size: Pair) -> Floats:
    """Return the opacity of a rectangle of ``size`` (px), 1 inside, 0 outside."""
    dx, dy = _around(shape, center)
    inside = np.minimum(0.5 * size[0] - np.abs(dx), 0.5 * size[1] - np.abs(dy))
    return np.clip(0.5 + inside, 0.0, 1.0)


def patches_alpha(shape: tuple[int, int], center: Pair, size: Pair) -> Floats:
    """Return the opacity of ellipses of ``size`` (px) all over the tile, rows staggered.

    Their distance is about twice their size, in whole numbers per tile: a plane with holes.
    """
    height, width = shape
    n_columns = max(1, round(width / (2.0 * size[0])))
    n_rows = 2 * max(1, round(height / (4.0 * size[1])))
    step_x, step_y = width / n_columns, height / n_rows
    alpha = np.zeros(shape)
    for row in range(n_rows):
        for column in range(n_columns):
            x = center[0] + (column + 0.5 * (row % 2)) * step_x
            place = (x, center[1] + row * step_y)
            alpha = np.maximum(alpha, ellipse_alpha(shape, place, size))
    return alpha


#: Outlines of objects by name: functions of shape, center and size.
OUTLINES: dict[str, Callable[[tuple[int, int], Pair, Pair], Floats]] = {
    "ellipse": ellipse_alpha,
    "patches": patches_alpha,
    "rectangle": rectangle_alpha,
}


def _around(shape: tuple[int, int], center: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the shortest x and y distances from a center on a periodic tile."""
    height, width = shape
    dx = np.mod(np.arange(width) - center[0] + 0.5 * width, width) - 0.5 * width
    dy = np.mod(np.arange(height) - center[1] + 0.5 * height, height) - 0.5 * height
    return dx[None, :], dy[:, None]


def _square_wave(cycles: Floats, n_cycles: float, length_px: float) -> Floats:
    """Return a square wave 0/1 with edges of 1 px; ``cycles`` = 1 is ``length_px`` long."""
    period_px = length_px / n_cycles
    fraction = np.mod(cycles * n_cycles + 0.25, 1.0)
    return np.clip(0.5 + (0.25 - np.abs(fraction - 0.5)) * period_px, 0.0, 1.0)


def _spread(rng: np.random.Generator, shape: tuple[int, int], n: int) -> Floats:
    """Return about n jittered grid points ``(x, y)`` on a tile, in random order."""
    height, width = shape
    n_rows = max(1, round(np.sqrt(n * height / width)))
    n_columns = max(1, round(n / n_rows))
    cells = rng.permutation(n_rows * n_columns)
    x = (cells % n_columns + rng.uniform(0, 1, cells.size)) * width / n_columns
    y = (cells // n_columns + rng.uniform(0, 1, cells.size)) * height / n_rows
    return np.stack((x, y), axis=1)


def _convex_corners(rng: np.random.Generator, x: float, y: float, radius: float) -> Floats:
    n = int(rng.integers(3, 7))
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(-0.25, 0.25, n)) / n + rng.uniform(0, 2 * np.pi)
    return np.stack((x + radius * np.cos(angle), y + radius * np.sin(angle)), axis=1)


def _star_corners(rng: np.random.Generator, x: float, y: float, radius: float) -> Floats:
    n = 2 * int(rng.integers(4, 7))
    angle = 2 * np.pi * np.arange(n) / n + rng.uniform(0, 2 * np.pi)
    reach = np.where(np.arange(n) % 2, 0.5, 1.0) * radius
    return np.stack((x + reach * np.cos(angle), y + reach * np.sin(angle)), axis=1)


def _paint_disc(tile: Floats, x: float, y: float, radius: float, value: float) -> None:
    gx, gy = _grid_around(x, y, radius)
    distance = np.hypot(gx[None, :] - x, gy[:, None] - y) - radius
    _blend(tile, gx, gy, np.clip(0.5 - distance, 0.0, 1.0), value)


def _paint_polygon(tile: Floats, corners: Floats, value: float) -> None:
    """Paint a simple polygon by the signed distance to its nearest edge (even-odd rule)."""
    x, y = corners.mean(axis=0)
    gx, gy = _grid_around(x, y, float(np.hypot(*(corners - (x, y)).T).max()))
    px, py = gx[None, :], gy[:, None]
    nearest = np.full((gy.size, gx.size), np.inf)
    inside = np.zeros(nearest.shape, np.bool_)
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        ex, ey = bx - ax, by - ay
        along = np.clip(((px - ax) * ex + (py - ay) * ey) / (ex * ex + ey * ey), 0.0, 1.0)
        nearest = np.minimum(nearest, np.hypot(px - ax - along * ex, py - ay - along * ey))
        crosses = (py >= ay) != (py >= by)
        inside ^= crosses & (px < ax + ex * (py - ay) / (ey if ey else 1.0))
    cover = np.clip(0.5 + np.where(inside, nearest, -nearest), 0.0, 1.0)
    _blend(tile, gx, gy, cover, value)


def _grid_around(x: float, y: float, radius: float) -> tuple[Floats, Floats]:
    reach = np.ceil(radius) + 2
    offsets = np.arange(-reach, reach + 1)
    return np.floor(x) + offsets, np.floor(y) + offsets


def _blend(tile: Floats, gx: Floats, gy: Floats, cover: Floats, value: float) -> None:
    rows, columns = gy.astype(np.intp) % tile.shape[0], gx.astype(np.intp) % tile.shape[1]
    # Crop a patch that is wider than the tile, which would overlap itself.
    rows, columns = rows[: tile.shape[0]], columns[: tile.shape[1]]
    patch = np.ix_(rows, columns)
    cover = cover[: rows.size, : columns.size]
    tile[patch] = (1.0 - cover) * tile[patch] + cover * value


def load_image(source: str | Path | ArrayLike) -> Floats:
    """Return a gray image of at least 2 x 2 px, shape (h, w), scaled to 0..1."""
    if isinstance(source, str | Path):
        image, name = _read(Path(source)), f"{Path(source)}"
    else:
        image, name = np.asarray(source), "`image`"
    if image.dtype.kind not in "buif" or image.ndim != 2 or min(image.shape) < 2:
        raise ConfigError(
            f"{name} must be gray, with two axes of 2 px or more; "
            f"got {image.dtype} of shape {image.shape}."
        )
    if max(image.shape) > _MAX_SIDE:
        raise ConfigError(f"{name} must have up to {_MAX_SIDE} px per side; got {image.shape}.")
    image = image.astype(np.float64)
    low, high = image.min(), image.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ConfigError(f"{name} must be finite; it contains nan or infinity.")
    if high == low:
        raise ConfigError(f"{name} must have contrast; every pixel is {low}.")
    return (image - low) / (high - low)


def mirrored(image: Floats) -> Floats:
    """Return a tile of twice the size that repeats without a seam."""
    wide = np.concatenate((image, image[:, ::-1]), axis=1)
    return np.concatenate((wide, wide[::-1]), axis=0)


def _read(path: Path) -> NDArray[np.generic]:
    suffix = path.suffix.lower()
    if suffix not in IMAGE_SUFFIXES:
        raise ConfigError(f"{path}: an image must be one of {', '.join(IMAGE_SUFFIXES)}.")
    if not path.is_file():
        raise ConfigError(f"{path}: no such image.")
    try:
        if suffix == ".npy":
            return np.load(path, allow_pickle=False)
        if suffix == ".pgm":
            return _read_pgm(path.read_bytes())
        pillow = require("PIL.Image", extra="video", purpose="PNG and JPEG textures")
        with pillow.open(path) as image:
            return np.asarray(image.convert("L"))
    except (ValueError, OSError, EOFError, SyntaxError) as error:
        raise ConfigError(f"{path}: not readable as an image: {error}.") from error


def _read_pgm(data: bytes) -> NDArray[np.generic]:
    """Read a plain (P2) or raw (P5) portable graymap."""
    header = re.match(rb"(P[25])" + 3 * rb"(?:\s|#[^\n]*\n)+(\d{1,9})" + rb"(?:\s|$)", data)
    if header is None:
        raise ValueError("not the header of a portable graymap")
    magic, (width, height, high) = header[1], map(int, header.groups()[1:])
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE and 0 < high < 65_536):
        raise ValueError(f"the header specifies {width}x{height} px and values up to {high}")
    if magic == b"P2":
        values = np.array(data[header.end() :].split()[: width * height], np.int64)
    else:
        dtype = np.dtype("u1" if high < 256 else ">u2")
        body = data[header.end() : header.end() + width * height * dtype.itemsize]
        values = np.frombuffer(body, dtype, count=len(body) // dtype.itemsize)
    if values.size != width * height:
        raise ValueError(f"expected {width * height} values, got {values.size}")
    return values.reshape(height, width)
