"""NumPy and MATLAB arrays."""
