"""CUDA C kernels for torch tensors, one block of threads per window; compiled by CuPy at first use.

Each has a twin made of torch operations, with which it is compared in `tests/parity/tensors`.
"""
