"""The cache of compiled kernels depends on the sources of all kernels."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import evcrisp.kernels.compile as compile_module

pytestmark = pytest.mark.slow

CALLER = """
from evcrisp.kernels.compile import njit
from evcrisp.kernels.search.callee import Pair, value


@njit
def doubled(pair):
    return 2 * value(pair)
"""

CALLEE = """
from typing import NamedTuple

from evcrisp.kernels.compile import njit


class {name}(NamedTuple):
    x: float


Pair = {name}


@njit
def value(pair):
    return pair.x + {offset}
"""

PROGRAM = """
from evcrisp.kernels.search.callee import Pair
from evcrisp.kernels.search.caller import doubled

print(doubled(Pair(1.0)))
"""


@pytest.fixture
def package(tmp_path):
    """Return a copy of the package with the decorators only."""
    kernels = tmp_path / "evcrisp" / "kernels"
    (kernels / "search").mkdir(parents=True)
    for folder in (kernels.parent, kernels, kernels / "search"):
        (folder / "__init__.py").write_text("")
    shutil.copy(compile_module.__file__, kernels / "compile.py")
    (kernels / "search" / "caller.py").write_text(CALLER)

    def run(**settings):
        (kernels / "search" / "callee.py").write_text(CALLEE.format(**settings))
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        environment.pop("NUMBA_DISABLE_JIT", None)
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM)],
            capture_output=True, text=True, check=False, env=environment, cwd=tmp_path,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return float(result.stdout)

    return run


def test_changed_callee_is_compiled_into_its_caller_again(package):
    assert package(name="Pair1", offset=0.0) == 2.0
    assert package(name="Pair1", offset=3.0) == 8.0


def test_renamed_argument_type_does_not_break_the_cache(package):
    assert package(name="Pair1", offset=0.0) == 2.0
    assert package(name="Pair2", offset=0.0) == 2.0


def test_cache_is_used_while_nothing_changes(package, tmp_path):
    package(name="Pair1", offset=0.0)
    caches = {path: path.stat().st_mtime_ns for path in Path(tmp_path).rglob("caller.*.nbc")}
    assert caches
    package(name="Pair1", offset=0.0)
    assert {path: path.stat().st_mtime_ns for path in caches} == caches
