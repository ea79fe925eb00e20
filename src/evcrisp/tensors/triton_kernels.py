"""Kernels of :mod:`evcrisp.tensors.fused_splines`; the only module that imports Triton."""

import triton
import triton.language as tl


@triton.jit
def vote(cell_ptr, width_ptr, a_ptr, b_ptr, factor_ptr, out_ptr, n, block: tl.constexpr):
    """Add nine weights per event; pointers to (n,), and to the flat maps."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < n
    cell, width = tl.load(cell_ptr + i, there, 0), tl.load(width_ptr + i, there, 0)
    a, b = tl.load(a_ptr + i, there, 0.0), tl.load(b_ptr + i, there, 0.0)
    factor = tl.load(factor_ptr + i, there, 0.0)
    there = there & (factor != 0.0)
    a0, a1 = 0.5 * (0.5 - a) * (0.5 - a), 0.75 - a * a
    a2 = 1.0 - a0 - a1
    b0, b1 = 0.5 * (0.5 - b) * (0.5 - b), 0.75 - b * b
    b2 = factor * (1.0 - b0 - b1)
    b0, b1 = factor * b0, factor * b1
    at = out_ptr + cell
    tl.atomic_add(at, b0 * a0, there, sem="relaxed")
    tl.atomic_add(at + 1, b0 * a1, there, sem="relaxed")
    tl.atomic_add(at + 2, b0 * a2, there, sem="relaxed")
    at += width
    tl.atomic_add(at, b1 * a0, there, sem="relaxed")
    tl.atomic_add(at + 1, b1 * a1, there, sem="relaxed")
    tl.atomic_add(at + 2, b1 * a2, there, sem="relaxed")
    at += width
    tl.atomic_add(at, b2 * a0, there, sem="relaxed")
    tl.atomic_add(at + 1, b2 * a1, there, sem="relaxed")
    tl.atomic_add(at + 2, b2 * a2, there, sem="relaxed")


@triton.jit
def slope(
    cell_ptr, width_ptr, a_ptr, b_ptr, inside_ptr, flat_ptr, x_ptr, y_ptr, n, block: tl.constexpr
):
    """Fill the slopes along both axes at every event; pointers to (n,), and to the flat maps."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < n
    inside = tl.load(inside_ptr + i, there, 0) != 0
    cell, width = tl.load(cell_ptr + i, there, 0), tl.load(width_ptr + i, there, 0)
    a, b = tl.load(a_ptr + i, there, 0.0), tl.load(b_ptr + i, there, 0.0)
    at = flat_ptr + cell
    p0, q0, r0 = (
        tl.load(at, inside, 0.0),
        tl.load(at + 1, inside, 0.0),
        tl.load(at + 2, inside, 0.0),
    )
    at += width
    p1, q1, r1 = (
        tl.load(at, inside, 0.0),
        tl.load(at + 1, inside, 0.0),
        tl.load(at + 2, inside, 0.0),
    )
    at += width
    p2, q2, r2 = (
        tl.load(at, inside, 0.0),
        tl.load(at + 1, inside, 0.0),
        tl.load(at + 2, inside, 0.0),
    )
    left, right, above, below = 0.5 - a, 0.5 + a, 0.5 - b, 0.5 + b
    first, last = 0.5 * left * left, 0.5 * right * right
    # Value and slope of each row of three pixels, from differences.
    v0 = q0 + last * (r0 - q0) - first * (q0 - p0)
    v1 = q1 + last * (r1 - q1) - first * (q1 - p1)
    v2 = q2 + last * (r2 - q2) - first * (q2 - p2)
    s0 = left * (q0 - p0) + right * (r0 - q0)
    s1 = left * (q1 - p1) + right * (r1 - q1)
    s2 = left * (q2 - p2) + right * (r2 - q2)
    along_x = s1 + 0.5 * below * below * (s2 - s1) - 0.5 * above * above * (s1 - s0)
    along_y = above * (v1 - v0) + below * (v2 - v1)
    tl.store(x_ptr + i, along_x, there)
    tl.store(y_ptr + i, along_y, there)
