"""Memory of freed arrays, kept for the next ones."""

from functools import lru_cache

import numpy as np

#: Bytes of the block whose release makes the C library keep smaller ones, and twice as much in total.
KEPT_BYTES = 2**24


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Make the C library keep what is freed, instead of returning it to the system at once.

    New memory from the system is mapped page by page at its first use: that takes up to a quarter of the
    time of a window. glibc returns blocks at once that are larger than any one before; after the release
    of a block of 16 MiB, it keeps smaller ones, up to 32 MiB. With other C libraries nothing changes.

    >>> keep_freed_memory()
    """
    np.empty(KEPT_BYTES, np.uint8)
