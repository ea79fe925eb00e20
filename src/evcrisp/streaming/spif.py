"""Encode and decode events in the SPIF format of UDP packets.

Words are little-endian uint32. Bits 0-14 are y, bit 15 is the polarity, bits 16-30 are x. If bit 31 is
clear, a second word follows: the time, us.
"""

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.events import Events
from evcrisp.io.protocol import Columns

#: Events per packet: with their times, they fit into an Ethernet frame.
EVENTS_PER_PACKET = 180
_NO_TIME = np.uint32(1 << 31)
_WRAP_US = 1 << 32


def encode(events: Events) -> bytes:
    """Return the words of events, with times modulo 2**32 us.

    >>> encode(Events(x=[1], y=[2], t=[1000], p=[1], resolution=(8, 4))).hex(" ")
    '02 80 01 00 e8 03 00 00'
    """
    words = np.empty((len(events), 2), "<u4")
    words[:, 0] = events.y.astype("<u4") | (events.p.astype("<u4") << 15)
    words[:, 0] |= events.x.astype("<u4") << 16
    words[:, 1] = events.t % _WRAP_US
    return words.tobytes()


class SpifDecoder:
    """Decodes packets; continues times after 2**32 us, and fills in those that are absent."""

    def __init__(self) -> None:
        self._t_last: int | None = None  # of the last event with a time, us

    def decode(self, data: bytes, arrival_us: int) -> Columns:
        """Return the events of a packet.

        An event without time has that of the event before; ``arrival_us`` if no event had a time.
        """
        if len(data) % 4:
            raise FormatError(f"a packet has {len(data)} bytes, not a multiple of 4")
        words = np.frombuffer(data, "<u4")
        is_pixel = _pixel_words(words)
        pixels = words[is_pixel]
        timed = pixels < _NO_TIME
        if timed.size and timed[-1] and is_pixel[-1]:
            raise FormatError("a packet ends before the time of an event")
        t = self._times(words[~is_pixel].astype(np.int64), timed, arrival_us)
        x, y = (pixels >> 16) & 0x7FFF, pixels & 0x7FFF
        p = (pixels >> 15) & 1
        return Columns(x.astype(np.uint16), y.astype(np.uint16), t, p.astype(np.bool_))

    def _times(self, raw: np.ndarray, timed: np.ndarray, arrival_us: int) -> np.ndarray:
        start = arrival_us if self._t_last is None else self._t_last
        if not raw.size:
            return np.full(timed.size, start, np.int64)
        first = int(raw[0]) if self._t_last is None else _nearest(int(raw[0]), self._t_last)
        steps = np.diff(raw, prepend=raw[0])
        steps = (steps + _WRAP_US // 2) % _WRAP_US - _WRAP_US // 2
        known = first + np.cumsum(steps)
        if self._t_last is None:
            start = first  # events before the first time of all
        self._t_last = int(known[-1])
        return np.concatenate(([start], known))[np.cumsum(timed)]


def _nearest(raw: int, t_last: int) -> int:
    """Return the time with these low 32 bits that is nearest to the last time."""
    step = (raw - t_last + _WRAP_US // 2) % _WRAP_US - _WRAP_US // 2
    return t_last + step


def _pixel_words(words: np.ndarray) -> np.ndarray:
    """Return which words are pixels; the others are times, each after a pixel with bit 31 clear."""
    is_pixel = np.ones(words.size, np.bool_)
    if (words[::2] < _NO_TIME).all():  # all events have a time
        is_pixel[1::2] = False
        return is_pixel
    at = 0
    while at < words.size:
        has_time = words[at] < _NO_TIME
        if has_time and at + 1 < words.size:
            is_pixel[at + 1] = False
        at += 1 + int(has_time)
    return is_pixel
