"""Filters that look for support in the pixels around an event."""
