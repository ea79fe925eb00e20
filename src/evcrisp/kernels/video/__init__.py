"""Kernels of videos."""
