"""Labels of a run, with and without a known number of events."""

from contextlib import closing

import numpy as np
import pytest

from evcrisp.io.arrays.npz import NpzPacker
from evcrisp.pipeline.labels_file import LabelsFile


@pytest.mark.parametrize("n_expected", [None, 0, 6, 9, 10, 11, 2000])
def test_labels_do_not_depend_on_the_number_that_was_expected(tmp_path, n_expected):
    rng = np.random.default_rng(0)
    names = ("signal", "score", "confidence")
    rows = {name: rng.random(10).astype("?" if name == "signal" else "f4") for name in names}
    path = tmp_path / "labels.npz"
    with closing(LabelsFile(path, (8, 4), n_expected)) as labels:
        for part in (slice(6), slice(6, 9), slice(9, 10)):
            labels.write({name: column[part] for name, column in rows.items()})
        labels.finish()
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npz"]
    expected = NpzPacker(tmp_path / "expected.npz")
    expected.append(rows)
    expected.pack({})
    assert path.read_bytes() == (tmp_path / "expected.npz").read_bytes()


@pytest.mark.parametrize("n_expected", [None, 0, 5])
def test_labels_of_no_events_are_empty_columns(tmp_path, n_expected):
    with closing(LabelsFile(tmp_path / "labels.npz", (8, 4), n_expected)) as labels:
        labels.finish()
    with np.load(tmp_path / "labels.npz") as found:
        assert {name: column.shape for name, column in found.items()} == {
            "signal": (0,), "score": (0,), "confidence": (0,),
        }  # fmt: skip
