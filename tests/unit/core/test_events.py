import copy
import pickle

import numpy as np
import pytest

from evcrisp import ConfigError, EventDataError, Events


def small(**changes):
    columns = {"x": [3, 4, 5], "y": [1, 1, 2], "t": [0, 10, 25], "p": [1, 0, 1]}
    return Events(**{**columns, "resolution": (8, 4), **changes})


def test_columns_have_the_documented_types():
    events = small(signal=[1, 1, 0])
    assert [c.dtype for c in (events.x, events.y, events.t, events.p)] == [
        np.uint16,
        np.uint16,
        np.int64,
        np.bool_,
    ]
    assert events.signal.tolist() == [True, True, False]
    assert (events.width, events.height, events.image_shape) == (8, 4, (4, 8))


def test_columns_are_read_only_views():
    x = np.array([1, 2], np.uint16)
    events = Events(x=x, y=[0, 0], t=[0, 1], p=[0, 1], resolution=(4, 4))
    with pytest.raises(ValueError, match="read-only"):
        events.x[0] = 3
    assert np.shares_memory(events.x, x)
    assert x.flags.writeable


def test_assigning_an_attribute_raises():
    with pytest.raises(AttributeError):
        small().x = np.zeros(3, np.uint16)


@pytest.mark.parametrize("p", [[True, False, True], [1, 0, 1], [1, -1, 1]])
def test_polarity_accepts_three_encodings(p):
    assert small(p=p).p.tolist() == [True, False, True]


def test_uint8_polarity_is_viewed():
    p = np.array([1, 0, 1], np.uint8)
    assert np.shares_memory(small(p=p).p, p)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": [3, 4, 8]}, r"`x` must lie in 0\.\.7; x\[2\]=8"),
        ({"y": [1, -1, 2]}, r"`y` must lie in 0\.\.3; y\[1\]=-1"),
        ({"t": [0, 30, 25]}, r"t\[2\]=25 follows 30"),
        ({"t": [0.0, 0.1, 0.2]}, "whole microseconds"),
        ({"t": np.array([0, 1, 2**63], np.uint64)}, "below 2\\*\\*62 us"),
        ({"x": [0.5, 1, 2]}, "whole pixels"),
        ({"p": [0, 2, 1]}, "from 0 to 2"),
        ({"p": [0, -1, 1]}, "from -1 to 1"),
        ({"p": [0.0, 1.0, 1.0]}, "got float64"),
        ({"x": [1, 2]}, "one length"),
        ({"signal": [True]}, "one length"),
        ({"x": [[1, 2, 3]]}, "one axis"),
        ({"resolution": (0, 4)}, "each 1 to 65536"),
        ({"resolution": 8}, r"\(width, height\)"),
        ({"resolution": (8, 4, 3)}, r"\(width, height\)"),
        ({"resolution": (8.5, 4)}, r"\(width, height\)"),
        ({"resolution": "84"}, r"\(width, height\)"),
        ({"x": np.ma.array([1, 2, 3], mask=[0, 1, 0])}, "masked array"),
    ],
)
def test_invalid_events_raise(changes, message):
    with pytest.raises(EventDataError, match=message):
        small(**changes)


def test_empty_events_are_valid():
    events = Events.empty((8, 4))
    assert (len(events), events.duration_us, events.n_on) == (0, 0, 0)
    assert events.between(0, 10).equals(events)
    assert events[:].equals(events)
    assert repr(events) == "Events(n=0, resolution=8x4)"


def test_selection_by_slice_mask_and_indices():
    events = small(signal=[1, 0, 1])
    assert events[1:].t.tolist() == [10, 25]
    assert events[np.array([True, False, True])].t.tolist() == [0, 25]
    assert events[[0, 2]].signal.tolist() == [True, True]
    assert events[[]].t.size == 0
    assert np.shares_memory(events[1:].t, events.t)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (1, "1-d array of indices"),
        ([2, 1], "not decrease"),
        ([-1], r"0\.\.2"),
        ([3], r"0\.\.2"),
        ([True, False], "mask must have shape"),
        (slice(None, None, -1), "slice step -1"),
        ([0.5], "float64"),
    ],
)
def test_invalid_selections_raise(key, message):
    with pytest.raises(EventDataError, match=message):
        small()[key]


def test_between_is_half_open():
    assert small().between(0, 25).t.tolist() == [0, 10]
    assert small().between(10, 26).t.tolist() == [10, 25]
    assert len(small().between(20, 5)) == 0


def test_between_is_exact_far_from_zero():
    first = 2**62 - 3
    far = small(t=[first, first + 1, first + 2])
    assert far.between(first + 1, 2**63).t.tolist() == [first + 1, first + 2]
    assert len(far.between(-(2**70), 2**70)) == 3


def test_sorted_from_keeps_the_order_of_equal_times():
    events = Events.sorted_from(
        x=[1, 2, 3, 4],
        y=[0] * 4,
        t=[5, 1, 5, 1],
        p=[0, 0, 1, 1],
        resolution=(8, 4),
        signal=[1, 0, 0, 1],
    )
    assert events.x.tolist() == [2, 4, 1, 3]
    assert events.signal.tolist() == [False, True, True, False]


def test_concatenate_joins_consecutive_parts_only():
    events = small(signal=[1, 0, 1])
    assert Events.concatenate([events[:1], events[1:]]).equals(events)
    assert Events.concatenate([events[:0], events, events[:0]]).equals(events)
    with pytest.raises(EventDataError, match="follow each other"):
        Events.concatenate([events[1:], events[:1]])
    with pytest.raises(EventDataError, match="one resolution"):
        Events.concatenate([events, small(resolution=(9, 9))])
    with pytest.raises(EventDataError, match="at least one"):
        Events.concatenate([])
    with pytest.raises(ConfigError, match="`parts` must be Events; got list. Read a file"):
        Events.concatenate([events, [1]])


def test_concatenate_keeps_labels_only_if_every_part_has_them():
    joined = Events.concatenate([small(signal=[1, 1, 1]), small(t=[30, 31, 32])])
    assert joined.signal is None


def test_equals_detects_every_difference():
    events = small()
    assert events.equals(small())
    for changes in (
        {"x": [3, 4, 6]},
        {"p": [0, 0, 1]},
        {"resolution": (9, 4)},
        {"signal": [1, 1, 1]},
    ):
        assert not events.equals(small(**changes))
    assert not small(signal=[1, 1, 1]).equals(small(signal=[1, 1, 0]))


def test_with_signal_replaces_labels():
    assert small().with_signal([1, 0, 0]).signal.tolist() == [True, False, False]
    assert small(signal=[1, 0, 0]).with_signal(None).signal is None
    with pytest.raises(EventDataError, match="one length"):
        small().with_signal([1])


def test_copies_and_pickles_are_equal_and_read_only():
    events = small(signal=[1, 0, 1])
    for copied in (copy.copy(events), copy.deepcopy(events), pickle.loads(pickle.dumps(events))):
        assert copied.equals(events)
        assert not copied.t.flags.writeable
        assert not copied.signal.flags.writeable


def test_sorted_from_raises_for_different_lengths():
    with pytest.raises(EventDataError, match="one length"):
        Events.sorted_from(x=[1, 2, 3], y=[0] * 3, t=[5, 1], p=[0] * 3, resolution=(8, 4))


def test_concatenate_with_an_empty_part_keeps_labels():
    events = small(signal=[1, 0, 1])
    assert Events.concatenate([Events.empty((8, 4)), events]).equals(events)


def test_duration_does_not_overflow():
    ends = [-(2**62), 2**62 - 1]
    events = Events(x=[0, 0], y=[0, 0], t=ends, p=[0, 1], resolution=(1, 1))
    assert events.duration_us == 2**63 - 1


@pytest.mark.parametrize("t", [[-(2**63), 0, 5], [-(2**62) - 1, 0, 5], [0, 5, 2**62]])
def test_times_whose_differences_overflow_raise(t):
    with pytest.raises(EventDataError, match=r"must lie in -2\*\*62..2\*\*62-1 us.*Subtract"):
        small(t=t)


@pytest.mark.parametrize("name", ["p", "signal"])
def test_flags_with_other_bytes_become_zero_and_one(name):
    events = small(**{name: np.array([0, 2, 255], np.uint8).view(np.bool_)})
    assert getattr(events, name).view(np.uint8).tolist() == [0, 1, 1]
