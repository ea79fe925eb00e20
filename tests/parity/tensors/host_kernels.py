"""CUDA C kernels compiled by a C++ compiler, with blocks of one thread, on tensors of the CPU."""

import ctypes
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from evcrisp.tensors.cuda.kernels import number, text_of

COMPILER = shutil.which("g++") or shutil.which("c++")

_HOST = """
#define EVCRISP_ON_HOST
#include <math.h>
#include <cstdint>
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __syncthreads()
struct Index { long long x; };
static Index threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};
static unsigned char memory_of_block[1 << 24];
#define DYNAMIC_SHARED(name) unsigned char* name = memory_of_block
#define SHARED_ARRAY(type, name, n) type name[n]
#define FOR_BLOCK(i, n) for (long long i = 0; i < (n); ++i)
#define FOR_EACH(i, n) for (long long i = 0; i < (n); ++i)
#define ADD_WHOLE(at, value) (*(at) += (value))
#define ADD_LONG(at, value) (*(at) += (value))
#define ADD_FLOAT(at, value) (*(at) += (value))
// One thread has the sum already, but the room that many threads need is overwritten.
static void overwrite(double* room, int n) { for (int k = 0; k < n; ++k) room[k] = NAN; }
template <int n> static void block_sum(double*, double* room) { overwrite(room, 32 * n); }
static double lower_of(double a, double b) { return a < b || a != a ? a : b; }
static double block_least(double value, double* room) { overwrite(room, 32); return value; }
extern "C" void set_block(long long number) { blockIdx.x = number; }
"""


class HostKernels:
    """The same interface as the kernels of a GPU."""

    def __init__(self, source, macros, shared_bytes=1 << 24):
        self.shared_bytes = shared_bytes
        self._library = _library(source, tuple(sorted(macros.items())))

    def launch(self, name, blocks, threads, shared_bytes, *args):
        """Run the blocks of a kernel one after the other."""
        assert shared_bytes <= self.shared_bytes
        values = [_value(arg) for arg in args]
        kernel = getattr(self._library, name)
        for block in range(blocks):
            self._library.set_block(ctypes.c_longlong(block))
            kernel(*values)

    def launch_each(self, name, n, *args):
        """Run a kernel for all elements."""
        self.launch(name, 1, 1, 0, *args)


def host_kernels(source, device, macros):
    """Return the kernels of a source file, in place of those of a GPU."""
    return HostKernels(source, macros)


@lru_cache
def _library(source, macros):
    with tempfile.TemporaryDirectory() as folder:
        code, library = Path(folder) / "kernels.cpp", Path(folder) / "kernels.so"
        code.write_text(_HOST + text_of(source), encoding="utf-8")
        options = [f"-D{name}={value}" for name, value in macros]
        command = [COMPILER, "-O2", "-std=c++17", "-ffp-contract=off", "-shared", "-fPIC", *options]
        subprocess.run([*command, code, "-o", library], check=True, capture_output=True, text=True)
        return ctypes.CDLL(str(library))


def _value(value):
    kind = ctypes.c_double if isinstance(value, float) else ctypes.c_longlong
    return kind(number(value))
