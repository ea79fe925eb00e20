"""Operations on torch tensors: ragged rows, spline maps, warps, sorted keys, and a batched solver.

The twin of :mod:`evcrisp.kernels` for windows by the thousand, on any device of torch. Torch is loaded
on first use; numba is not needed.
"""
