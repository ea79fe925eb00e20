"""Experiments of the paper: data sets, tables, tuning, and runs on many machines."""
