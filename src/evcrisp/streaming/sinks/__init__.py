"""Sinks of cleaned events, one file each."""
