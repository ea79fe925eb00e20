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
import logging

logging.basicConfig(level=logging.INFO)

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
        return result

    return run


def test_changed_callee_is_compiled_into_its_caller_again(package):
    assert float(package(name="Pair1", offset=0.0).stdout) == 2.0
    assert float(package(name="Pair1", offset=3.0).stdout) == 8.0


def test_renamed_argument_type_does_not_break_the_cache(package):
    assert float(package(name="Pair1", offset=0.0).stdout) == 2.0
    assert float(package(name="Pair2", offset=0.0).stdout) == 2.0


def test_cache_is_used_while_nothing_changes(package, tmp_path):
    package(name="Pair1", offset=0.0)
    caches = {path: path.stat().st_mtime_ns for path in Path(tmp_path).rglob("caller.*.nbc")}
    assert caches
    package(name="Pair1", offset=0.0)
    assert {path: path.stat().st_mtime_ns for path in caches} == caches


@pytest.mark.parametrize(("after_s", "n_messages"), [(2.5, 1), (6.5, 0)])
def test_long_compilation_is_announced_once(after_s, n_messages, caplog, monkeypatch):
    announcement = compile_module.Announcement(after_s)
    clock = iter(range(10))  # s
    monkeypatch.setattr(compile_module.time, "monotonic", lambda: next(clock))
    with caplog.at_level("INFO", "evcrisp"):
        announcement.on_end(None)  # of a kernel that began before
        for _ in range(3):  # 2 s each, with the kernel that it calls
            announcement.on_start(None)
            announcement.on_start(None)
            announcement.on_end(None)
            announcement.on_end(None)
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == n_messages
    assert all(text.startswith("Kernels are compiled, which can take minutes.") for text in texts)


def test_kernels_from_the_cache_are_not_announced(package, tmp_path):
    compiler = tmp_path / "evcrisp" / "kernels" / "compile.py"
    text = compiler.read_text()
    assert "_LONG_S = 3.0" in text
    compiler.write_text(text.replace("_LONG_S = 3.0", "_LONG_S = 1e-4"))
    assert "They are kept: the next start is fast." in package(name="Pair1", offset=0.0).stderr
    assert package(name="Pair1", offset=0.0).stderr == ""
