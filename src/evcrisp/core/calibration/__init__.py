"""Calibration files of other programs, and the axes of gyroscopes."""
