"""Filters on the density of events in space and time."""
