"""Turn ROS images into frames."""

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.messages import counted
from evcrisp.core.sensor_data import Frame
from evcrisp.io.ros.messages import Image

#: encoding -> bytes per sample, samples per pixel, which of them are blue, green and red
_ENCODINGS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "mono8": (1, 1, (0,)),
    "8UC1": (1, 1, (0,)),
    "mono16": (2, 1, (0,)),
    "16UC1": (2, 1, (0,)),
    "bgr8": (1, 3, (0, 1, 2)),
    "8UC3": (1, 3, (0, 1, 2)),
    "rgb8": (1, 3, (2, 1, 0)),
    "bgra8": (1, 4, (0, 1, 2)),
    "rgba8": (1, 4, (2, 1, 0)),
}


def as_frame(image: Image, offset: int) -> Frame | None:
    """Return gray or blue-green-red pixels, or None for an encoding that is not known."""
    layout = _ENCODINGS.get(image.encoding)
    if layout is None:
        return None
    sample_bytes, n_samples, channels = layout
    height, width = image.shape
    row_bytes = width * n_samples * sample_bytes
    if image.step < row_bytes or image.step * height > len(image.data):
        raise FormatError(
            f"an image of {width}x{height} px as {image.encoding!r} does not fit into "
            f"{counted(len(image.data), 'byte')} with {image.step} per row",
            offset=offset,
        )
    rows = np.frombuffer(image.data, np.uint8, image.step * height).reshape(height, image.step)
    order = ">" if image.big_endian else "<"
    samples = np.ascontiguousarray(rows[:, :row_bytes]).view(f"{order}u{sample_bytes}")
    native = samples.astype(samples.dtype.newbyteorder("="))
    if n_samples == 1:
        return Frame(t=image.stamp, image=native)
    pixels = native.reshape(height, width, n_samples)[:, :, list(channels)]
    return Frame(t=image.stamp, image=np.ascontiguousarray(pixels))
