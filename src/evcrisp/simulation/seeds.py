"""Seeds, and independent random numbers for every purpose."""

from enum import IntEnum

import numpy as np

from evcrisp.core.errors import ConfigError

#: Sources of random numbers that functions accept as `rng`.
Rng = int | np.random.Generator | np.random.SeedSequence


class Stream(IntEnum):
    """Purpose of random numbers; the codes define the meaning of a seed and must not change."""

    TEXTURE = 0
    THRESHOLD = 1
    RESET = 2
    TRAJECTORY = 3
    GYRO = 4
    LEAK = 5
    SHOT = 6
    HOT = 7
    UNIFORM = 8
    MEASURED = 9


def generator(seed: int, stream: Stream, *index: int) -> np.random.Generator:
    """Return the generator of one purpose, and of one slab or layer by ``index``."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(stream), *index)))


def as_seed(rng: Rng) -> int:
    """Return a seed from an integer, a generator (which advances) or a seed sequence.

    >>> as_seed(np.random.default_rng(1)) == as_seed(np.random.default_rng(1))
    True
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 2**63))
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1, np.uint64)[0] >> 1)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    problem = "must be a whole number, 0 or more, a numpy Generator or a SeedSequence"
    raise ConfigError(problem, parameter="rng", value=rng)
