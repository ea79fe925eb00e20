"""Filters that are neural networks."""
