"""A killed command leaves the old output or a complete new one, and can be run again.

`benchmarks.faults.kills` does the same at random moments, and is not run here.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contracts.killed_program import COMMANDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
]

PROGRAM = Path(__file__).with_name("killed_program.py")


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_before_each_step_on_the_file_system(name):
    done = subprocess.run(
        [sys.executable, PROGRAM, name], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    counts = json.loads(done.stdout)
    assert all(count["n_kills"] >= 3 for count in counts.values()), counts
