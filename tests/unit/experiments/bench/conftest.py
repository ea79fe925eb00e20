"""Stand-ins of data sets, in memory of the session."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("layouts", Path(__file__).with_name("layouts.py"))
_layouts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_layouts)


@pytest.fixture(scope="session")
def layouts():
    """Return the module that writes stand-ins."""
    return _layouts
