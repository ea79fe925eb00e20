"""Laws of pieces: every event once, the same starts for any chunks, windows where they were."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp import Events, Windowing
from evcrisp.core.windows import by_time
from evcrisp.pipeline.pieces.plan import WARM_US, Marks, PieceSizes
from evcrisp.pipeline.pieces.streaming import streamed_pieces

SIZES = PieceSizes(piece=40, rest=9, warm=20, estimated=8)
WINDOWINGS = [Windowing(), Windowing(window_us=37), Windowing(window_events=15, overlap=0.4)]


def events_of(gaps):
    t = np.cumsum(gaps)
    x = np.arange(t.size) % 50
    return Events(x=x, y=np.zeros_like(x), t=t, p=x % 2, resolution=(50, 1))


def chunks_of(events, cuts):
    ends = sorted({min(cut, len(events)) for cut in cuts} | {0, len(events)})
    pairs = itertools.pairwise(ends)
    return (events[first:last] for first, last in pairs)


def pieces_of(events, cuts, windowing):
    """Return (piece, warm-up, events) of each piece."""
    parts = streamed_pieces(chunks_of(events, cuts), Marks(windowing, SIZES))
    found = []
    for part in parts:
        inside = Events.concatenate([*part.chunks, Events.empty((50, 1))])
        found.append((part.piece, part.warm, inside))
    return found


gaps = st.lists(st.integers(0, 30), min_size=1, max_size=300)
cuts = st.lists(st.integers(1, 300), max_size=6)
windowings = st.sampled_from(WINDOWINGS)


@given(gaps, cuts, windowings)
def test_every_event_is_in_one_piece_and_pieces_end_where_the_next_start(gaps, cuts, windowing):
    events = events_of(gaps)
    found = pieces_of(events, cuts, windowing)
    assert Events.concatenate([inside for _, _, inside in found]).equals(events)
    for (piece, _, inside), (after, _, _) in itertools.pairwise(found):
        assert piece.t_end == after.t_start
        assert inside.t[-1] < after.t_start
    assert found[-1][0].t_end is None


@given(gaps, cuts, windowings)
def test_pieces_do_not_depend_on_chunks(gaps, cuts, windowing):
    events = events_of(gaps)
    one, other = pieces_of(events, [], windowing), pieces_of(events, cuts, windowing)
    assert [piece for piece, _, _ in one] == [piece for piece, _, _ in other]
    for (_, warm, _), (_, warm_too, _) in zip(one[1:], other[1:], strict=True):
        assert warm.equals(warm_too)


@given(gaps, cuts, windowings)
def test_starts_and_warm_up_follow_from_numbers_of_events(gaps, cuts, windowing):
    """The slow and obvious version, from all events at once."""
    events, marks = events_of(gaps), Marks(windowing, SIZES)
    starts, t = [], events.t
    for k in range(1, len(events) // SIZES.piece + 2):
        number = marks.number(k)
        if len(events) - number < SIZES.rest:
            break
        start = int(t[number])
        if windowing.window_us:
            start = int(t[0]) + (start - int(t[0])) // windowing.step_us * windowing.step_us
        if start > max([int(t[0]), *(s for s, _ in starts)]):
            cold = int(t[max(number - SIZES.warm, 0)])
            starts.append((start, events.between(max(start - WARM_US, cold + 1), start)))
    found = pieces_of(events, cuts, windowing)[1:]
    assert [piece.t_start for piece, _, _ in found] == [start for start, _ in starts]
    for (_, warm, _), (_, expected) in zip(found, starts, strict=True):
        assert warm.equals(expected)


@settings(max_examples=200)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=300), st.sampled_from([25, 37]))
def test_windows_of_a_fixed_length_stay_where_they_are(gaps, window_us):
    events = events_of(gaps)
    marks, windows = Marks(Windowing(window_us=window_us), SIZES), []
    for part in streamed_pieces(iter((events,)), marks):

        class Span:
            t_start = part.piece.t_start
            t_end = property(lambda self, part=part: part.t_end)

        windows += by_time(part.chunks, window_us, span=Span())
    expected = list(by_time(events, window_us))
    times = [(window.t_start, window.t_end, len(window.events)) for window in windows]
    assert times == [(window.t_start, window.t_end, len(window.events)) for window in expected]
