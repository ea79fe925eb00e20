"""Archives of a known length have the bytes of those that grow in temporary files."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp.io.arrays.npz import NpzPacker
from evcrisp.io.arrays.npz_in_place import InPlaceNpz

N_ROWS = 1000


def columns(n=N_ROWS):
    rng = np.random.default_rng(3)
    return {"signal": rng.random(n) < 0.5, "score": rng.random(n).astype(np.float32)}


def parts(rows, cuts):
    ends = sorted({0, N_ROWS, *cuts})
    for first, last in itertools.pairwise(ends):
        yield {name: column[first:last] for name, column in rows.items()}


def packed(path, rows):
    packer = NpzPacker(path)
    packer.append(rows)
    packer.pack({})
    return path.read_bytes()


@given(st.lists(st.integers(0, N_ROWS), max_size=5))
@settings(max_examples=20)
def test_bytes_are_those_of_a_packed_archive(tmp_path_factory, cuts):
    folder, rows = tmp_path_factory.mktemp("npz"), columns()
    archive = InPlaceNpz(folder / "a.npz", rows, N_ROWS)
    for part in parts(rows, cuts):
        archive.append(part)
    archive.finish()
    assert (folder / "a.npz").read_bytes() == packed(folder / "b.npz", rows)


def test_rows_so_far_are_read_again(tmp_path):
    rows = columns()
    archive = InPlaceNpz(tmp_path / "a.npz", rows, 5 * N_ROWS)
    for part in parts(rows, (400, 700)):
        archive.append(part)
    (found,) = archive.rows()
    archive.close()
    assert all(np.array_equal(found[name], rows[name]) for name in rows)


@pytest.mark.parametrize("wrong", [{"signal": np.zeros(1, bool)}, columns(N_ROWS + 1)])
def test_other_columns_and_more_rows_are_refused(tmp_path, wrong):
    archive = InPlaceNpz(tmp_path / "a.npz", columns(), N_ROWS)
    with pytest.raises(ValueError, match="stated"):
        archive.append(wrong)
    archive.close()
