"""AEDAT 2.0, 3.1 and 4."""
