"""Fixtures for all tests: real recordings, random events, the command line."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import settings

from evcrisp import Events, MissingExtraError

# CI tries the same examples in each run; local runs try new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# Restore signals that nohup or a background job ignores: programs started by tests inherit them.
for _name, _handler in (
    ("SIGINT", signal.default_int_handler),
    ("SIGTERM", signal.SIG_DFL),
    ("SIGHUP", signal.SIG_DFL),
):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

#: Folder of real recordings; see tests/data/manifest.toml. Tests that need them skip without them.
_DATA = Path(os.environ.get("EVCRISP_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Skip tests that need torch if it is not installed."""
    try:
        return (yield)
    except MissingExtraError as error:
        if error.package != "torch":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real recordings, or skip."""
    if not _DATA.is_dir():
        pytest.skip("no real recordings; see tests/data/fetch.py and set EVCRISP_DATA")
    return _DATA


def random_events(n=1000, resolution=(346, 260), seed=0, t_start=1_000_000, duration_us=100_000):
    """Return n events, uniform over sensor, time and polarity."""
    rng = np.random.default_rng(seed)
    return Events(
        x=rng.integers(0, resolution[0], n),
        y=rng.integers(0, resolution[1], n),
        t=t_start + np.sort(rng.integers(0, duration_us, n)),
        p=rng.integers(0, 2, n).astype(bool),
        resolution=resolution,
    )


@pytest.fixture
def run():
    """Return a function that runs a command in this process and checks its exit code."""
    from evcrisp.cli import main

    def call(*words, code=0):
        result = CliRunner().invoke(main, [str(word) for word in words])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return call


@pytest.fixture
def make_events():
    """Return the function `random_events`."""
    return random_events
