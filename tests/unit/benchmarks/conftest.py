"""Fixtures of the tests of benchmarks."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)
