"""Load an image as a texture: an array, or a PGM, NPY, PNG or JPEG file."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import require

#: Suffixes that are read without an optional package.
_NATIVE = (".npy", ".pgm")
IMAGE_SUFFIXES = (*_NATIVE, ".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")

_MAX_SIDE = 16_384


def load_image(source: str | Path | ArrayLike) -> NDArray[np.float64]:
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


def mirrored(image: NDArray[np.float64]) -> NDArray[np.float64]:
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
