"""Measure methods on own recordings and public data sets, with intervals, on one page."""
