"""Filters that look at the last events of neighboring pixels."""
