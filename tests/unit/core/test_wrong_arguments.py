"""Mistakes of new users: the error says what was expected, what came, and what to do."""

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, Events

ROWS = [(1, 2, 3, 1), (2, 3, 400, 0)]
RECORDS = np.array(ROWS, dtype=[("x", "u2"), ("y", "u2"), ("t", "i8"), ("p", "u1")])


@pytest.fixture
def events(make_events):
    return make_events(n=50)


@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        ((ROWS,), ("got 1 without: list", "`Events(x=..., y=..., t=..., p=..., resolution=...)`")),
        (([1], [2], [3], [1], (8, 4)), ("got 5 without: list, list", "build `Events(x=...")),
        ((np.array(ROWS),), ("got 1 without: ndarray", "build `Events(x=...")),
        ((RECORDS, (8, 4)), ("got 2 without", "`Events.from_structured(records, resolution)`")),
        (("a.aedat4",), ("got 1 without: str", "`evcrisp.read`")),
    ],
)
def test_columns_without_names_are_refused(columns, texts):
    with pytest.raises(EventDataError, match="take their columns by name") as caught:
        Events(*columns)
    assert all(text in str(caught.value) for text in texts)


@pytest.mark.parametrize("call", [evcrisp.estimate, evcrisp.denoise])
@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (np.array(ROWS), "or build `Events(x=..."),
        (ROWS, "or build `Events(x=..."),
        (RECORDS, "Use `Events.from_structured"),
        ("a.aedat4", "Read the file with `evcrisp.read`"),
    ],
)
def test_functions_of_events_say_how_to_make_them(call, value, remedy):
    with pytest.raises(ConfigError, match="`events` must be Events") as caught:
        call(value)
    assert f"got {type(value).__name__}. " in str(caught.value)
    assert remedy in str(caught.value)


def test_records_are_converted_as_the_message_says():
    assert Events.from_structured(RECORDS, (8, 4)).t.tolist() == [3, 400]


def test_names_of_the_other_kind_are_pointed_to(events):
    with pytest.raises(LookupError, match=r"It is a method: use `evcrisp.estimate`"):
        evcrisp.denoise(events, "cmax")
    with pytest.raises(LookupError, match=r"It is a filter: use `evcrisp.denoise`"):
        evcrisp.estimate(events, "stcf")
    with pytest.raises(LookupError, match=r"Unknown filter 'sctf'. Did you mean 'stcf'\?"):
        evcrisp.denoise(events, "sctf")


@pytest.mark.parametrize("seconds", [(0.0, 0.01), (0, 0.5), (np.float64(0), 1), ("0", 1)])
def test_seconds_do_not_silently_select_nothing(events, seconds):
    with pytest.raises(EventDataError, match=r"must be whole microseconds; got .* `round\(seconds"):
        events.between(*seconds)
    assert len(events.between(np.int32(0), np.uint64(2**62))) == 50


@pytest.mark.parametrize(
    "call",
    [
        evcrisp.open,
        evcrisp.read,
        evcrisp.evaluate,
        lambda value: evcrisp.run(value, "folder"),
        lambda value: evcrisp.filter_recording(value, "b.npz"),
        lambda value: evcrisp.write(value, "a.npz"),
    ],
)
def test_events_in_the_place_of_a_path_are_refused(events, call):
    with pytest.raises(ConfigError, match="`path` must be the name of a file or folder") as caught:
        call(events)
    assert "got Events(n=50" in str(caught.value)


def test_swapped_arguments_of_write_are_named(events):
    with pytest.raises(ConfigError, match=r"The path comes first: `write\(path, events\)`"):
        evcrisp.write(events, "a.npz")


@pytest.mark.parametrize("size", [(64.0, 48.0), "64x48", 64, (64,)])
def test_resolution_is_two_whole_numbers(size):
    with pytest.raises(EventDataError, match=r"must be \(width, height\), two whole numbers of px"):
        Events(x=[], y=[], t=[], p=[], resolution=size)
