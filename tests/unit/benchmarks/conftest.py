"""Fixtures of the tests of benchmarks."""

import logging

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _logging():
    """Enable messages again, which the programs switch off."""
    yield
    logging.disable(logging.NOTSET)
