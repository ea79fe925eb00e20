"""The method `auto`: labels by evidence, nothing to tune."""
