"""Names of results: unique, and independent of the order of recordings."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evcrisp.pipeline.many.names import result_names

parts = st.text(alphabet="aA-.b", min_size=1, max_size=3).filter(lambda part: part.strip("."))
paths = st.lists(parts, min_size=1, max_size=4).map(lambda words: Path("/", *words))


def test_name_is_the_stem():
    names = result_names([Path("x/2024.05.raw"), Path("x/b.npz")], format="npz")
    assert names == ["2024.05", "b"]


def test_equal_stems_get_longer_names(caplog):
    recordings = [Path("/d/a.npz"), Path("/d/a.csv"), Path("/d/b/c.npz"), Path("/d/e/c.npz")]
    names = result_names([*recordings, Path("/d/f.npz")], format="npz")
    assert names == ["a.npz", "a.csv", "b-c.npz", "e-c.npz", "f"]
    assert caplog.text.count("Several recordings are named") == 4


def test_names_differ_in_more_than_case():
    assert result_names([Path("/d/A.npz"), Path("/e/a.npz")], "npz") == ["d-A.npz", "e-a.npz"]


@given(st.lists(paths, min_size=1, max_size=8, unique=True), st.randoms())
def test_names_are_unique_and_do_not_depend_on_the_order(recordings, random):
    names = dict(zip(recordings, result_names(recordings, "npz"), strict=True))
    assert len({name.casefold() for name in names.values()}) == len(recordings)
    assert all("/" not in name for name in names.values())
    random.shuffle(recordings)
    assert dict(zip(recordings, result_names(recordings, "npz"), strict=True)) == names
