"""Memory of freed arrays is used again."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
from evcrisp.search.freed_memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(2**17) for _ in range(8)]  # 1 MiB each
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

without = faults()
keep_freed_memory()
faults()
print(without, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a rule of glibc")
def test_freed_memory_is_kept():
    # A cluster of dask leaves a limit for its workers in the environment; glibc keeps to that one.
    environment = {name: value for name, value in os.environ.items() if "MALLOC_" not in name}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    without, kept = map(int, done.stdout.split())
    # 20 times 8 MiB, in pages of 4 KiB at least.
    assert without > 1000
    assert kept < 0.1 * without
