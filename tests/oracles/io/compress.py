"""Select events one by one; oracle of ``kernels/io/compress.py``."""


def copy_kept(rows, signal):
    """Return the rows (x, y, t, p) whose label is True."""
    return [row for row, is_kept in zip(rows, signal, strict=True) if is_kept]
