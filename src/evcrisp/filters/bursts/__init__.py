"""Filters on the sequence of events at one pixel."""
