"""Follow a clock that starts over, without reading everything between two samples."""

from collections.abc import Callable

#: Longest step between samples, as a share of the range: 67 s of 32 bits. Few recordings are so
#: quiet, and reading these takes no time.
_MAX_STEP = 1 / 64


class LoopingClock:
    """Time of samples of a clock with a limited number of bits.

    >>> clock = LoopingClock(bits=10)
    >>> [clock.advance(raw) for raw in (1008, 1020, 6, 100)]
    [1008, 1020, 1030, None]
    """

    def __init__(self, bits: int) -> None:
        self._range = 1 << bits
        self._last: int | None = None

    def advance(self, raw: int) -> int | None:
        """Return the time of the next sample, us; None if loops could be missed.

        Steps from `_MAX_STEP` of the range on are refused. A step of more than the whole range is
        taken for a short one if it is that close to a whole number of loops.
        """
        step = 0 if self._last is None else (raw - self._last) % self._range
        if step >= _MAX_STEP * self._range:
            return None
        self._last = raw if self._last is None else self._last + step
        return self._last


def last_block_before(
    t: int, n_blocks: int, sample: Callable[[int], int | None], bits: int
) -> tuple[int, int]:
    """Return the last of some blocks that starts before time ``t``, us, and the loops before it.

    ``sample`` returns the clock at the first event of a block, None if the block does not show it.
    All blocks are sampled in order, so that loops of the clock are counted.
    """
    clock, found = LoopingClock(bits), (0, 0)
    for block in range(n_blocks):
        raw = sample(block)
        time = None if raw is None else clock.advance(raw)
        if raw is not None and time is not None and time < t:
            found = block, time - raw
        elif raw is not None or block == 0:
            break
    return found
