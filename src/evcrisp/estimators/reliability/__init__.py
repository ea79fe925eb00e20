"""Reliability of a motion: its covariance, what it leaves unexplained, and reasons to doubt it."""
