"""Arrays and cells of MATLAB files, compared with scipy."""

import numpy as np
import pytest

from evcrisp import FormatError
from evcrisp.io.arrays.mat_arrays import read_arrays


def test_cells_of_matlab_files_equal_those_of_scipy(tmp_path):
    scipy_io = pytest.importorskip("scipy.io", reason="scipy writes the file")
    rng = np.random.default_rng(0)
    cells = np.empty((3, 2), object)
    for k in range(6):
        cells.flat[k] = rng.normal(size=(k, 4)) if k % 2 else np.arange(k, dtype=np.int16)
    for compressed in (False, True):
        path = tmp_path / f"{compressed}.mat"
        content = {"cells": cells, "a": np.arange(12.0).reshape(3, 4), "text": "left out"}
        scipy_io.savemat(path, content, do_compression=compressed)
        found, expected = read_arrays(path), scipy_io.loadmat(path)
        assert set(found) == {"cells", "a"}
        np.testing.assert_array_equal(found["a"][0], expected["a"])
        for ours, theirs in zip(found["cells"], expected["cells"].ravel(order="F"), strict=True):
            np.testing.assert_array_equal(ours.reshape(theirs.shape), theirs)
        scipy_io.savemat(path, {"cells": cells}, do_compression=compressed)
        data = path.read_bytes()
        for n in (len(data) // 2, len(data) - 9):
            path.write_bytes(data[:n])
            with pytest.raises(FormatError):
                read_arrays(path)
