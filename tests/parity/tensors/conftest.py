"""Every comparison with the compiled kernels is made twice: by torch operations, and by CUDA C on the CPU."""

import pytest
from tests.parity.tensors.host_kernels import COMPILER, host_kernels

from evcrisp.tensors.cuda.kernels import made_by


@pytest.fixture(params=["operations", "cuda"], autouse=True)
def maker(request):
    """Use torch operations, or the CUDA kernels compiled by a C++ compiler."""
    if request.param == "cuda" and COMPILER is None:
        pytest.skip("no C++ compiler")
    with made_by(None if request.param == "operations" else host_kernels):
        yield request.param
