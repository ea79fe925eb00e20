"""Prophesee RAW (EVT2, EVT2.1, EVT3) and DAT."""
