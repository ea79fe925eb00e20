"""Count and find bits with Python integers; oracle of ``kernels/io/bits.py``."""


def lowest_bit(mask):
    """Return the position of the lowest set bit; 0 if none is set."""
    return next((bit for bit in range(32) if mask >> bit & 1), 0)


def count_bits(mask):
    """Return the number of set bits."""
    return mask.bit_count()
