"""Independent random numbers for every purpose, so that one never disturbs another."""

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What random numbers are for. The codes are part of what a seed means."""

    TEXTURE = 0
    THRESHOLD = 1
    RESET = 2
    TRAJECTORY = 3
    GYRO = 4
    LEAK = 5
    SHOT = 6
    HOT = 7
    UNIFORM = 8


def generator(seed: int, stream: Stream, *index: int) -> np.random.Generator:
    """Return the generator of one purpose, and of one piece of time or layer of it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(stream), *index)))
