"""Colors of the dark page, and expected drawings."""

import numpy as np

import evcrisp

WINDOW_US = 20_000
SIZE = (128, 96)

GROUND, ON, OFF = (0x0B, 0x0E, 0x13), (0xFF, 0x5A, 0x52), (0x4A, 0xA3, 0xFF)
SIGNAL, NOISE = (0x3D, 0xDC, 0x84), (0xE6, 0x45, 0xC0)


def is_color(image, color):
    return (np.abs(image.astype(int) - color) <= 2).all(axis=-1)


def window_of(events, start):
    t_start = int(events.t[0]) + start
    t_end = t_start + WINDOW_US
    return evcrisp.Window(events.between(t_start, t_end), t_start, t_end)


def latest(events, values):
    """Return the value of the last event of each pixel; -1 without events."""
    image = np.full(events.image_shape, -1)
    image[events.y, events.x] = values  # the last assignment to a pixel wins
    return image
