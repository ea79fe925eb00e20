"""Laws of cuts: reading a part equals reading all and selecting, for every format that is written."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import evcrisp
from evcrisp import Events
from evcrisp.core.live_area import Box
from evcrisp.io import WRITERS

pytestmark = pytest.mark.slow

SIZE = (40, 30)
LAW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def recordings(draw):
    n = draw(st.integers(1, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    start = draw(st.sampled_from([0, 1, 4095, 2**24 - 5, 2**31 - 50, 2**32 - 999]))
    step = draw(st.sampled_from([1, 3, 100, 5000]))  # 1: all events at the same time
    return Events(
        x=rng.integers(0, SIZE[0], n),
        y=rng.integers(0, SIZE[1], n),
        t=start + np.cumsum(rng.integers(0, step, n)),
        p=rng.integers(0, 2, n).astype(bool),
        resolution=SIZE,
    )


@st.composite
def regions(draw):
    left, top = draw(st.integers(0, SIZE[0] - 1)), draw(st.integers(0, SIZE[1] - 1))
    return left, top, draw(st.integers(1, SIZE[0] - left)), draw(st.integers(1, SIZE[1] - top))


@st.composite
def cuts(draw, events):
    """Draw a cut that starts before the end of the events."""
    length = int(events.t[-1] - events.t[0])
    cut = {"start_us": draw(st.integers(0, length))}
    if draw(st.booleans()):
        cut["duration_us"] = draw(st.integers(1, length + 10))
    if draw(st.booleans()):
        cut["roi"] = draw(regions())
    return cut


def selected(events, start_us=0, duration_us=None, roi=None, t_first=None):
    """Select events of a recording that was read whole."""
    start = int(events.t[0] if t_first is None else t_first) + start_us
    keep = events.t >= start
    if duration_us is not None:
        keep &= events.t < start + duration_us
    left, top, width, height = roi or (0, 0, *events.resolution)
    keep &= (events.x >= left) & (events.x < left + width)
    keep &= (events.y >= top) & (events.y < top + height)
    kept = events[keep]
    return Events(
        x=kept.x - left,
        y=kept.y - top,
        t=kept.t,
        p=kept.p,
        resolution=(width, height),
        signal=kept.signal,
    )


@pytest.fixture(autouse=True)
def small_packets(monkeypatch):
    """Make the packets of written and read files small, so that there is something to skip."""
    from evcrisp.io.aedat import aedat4_writer
    from evcrisp.io.arrays import npy
    from evcrisp.io.hdf5 import datasets
    from evcrisp.io.prophesee import dat, evt

    monkeypatch.setattr(aedat4_writer, "_EVENTS_PER_PACKET", 16)
    monkeypatch.setattr(npy, "PACKET_EVENTS", 16)
    monkeypatch.setattr(datasets, "PACKET_EVENTS", 16)
    monkeypatch.setattr(dat, "_BLOCK_EVENTS", 16)
    monkeypatch.setattr(evt, "_BLOCK_BYTES", 16 * 4)
    monkeypatch.setattr(evt, "_SAMPLE_BYTES", (2 * 4, 8 * 4))


@pytest.mark.parametrize("name", WRITERS)
@LAW
@given(data=st.data(), events=recordings(), labeled=st.booleans())
def test_part_equals_the_same_part_of_all_events(name, tmp_path_factory, data, events, labeled):
    if labeled and WRITERS[name].keeps_signal:
        events = events.with_signal(events.x % 2 > 0)
    cut = data.draw(cuts(events))
    path = tmp_path_factory.mktemp("law") / f"a{WRITERS[name].suffixes[0]}"
    evcrisp.write(path, events, format=name)
    expected = selected(events, **cut)
    assert evcrisp.read(path, resolution=SIZE, **cut).equals(expected)
    with evcrisp.open(path, resolution=SIZE, **cut) as opened:
        assert opened.resolution == expected.resolution
        chunks = list(opened.chunks(max_events=7))
    assert sum(map(len, chunks)) == len(expected)
    if chunks:
        assert Events.concatenate(chunks).equals(expected)


@pytest.mark.parametrize("name", WRITERS)
@LAW
@given(data=st.data(), events=recordings())
def test_whole_range_is_the_recording(name, tmp_path_factory, data, events):
    path = tmp_path_factory.mktemp("law") / f"a{WRITERS[name].suffixes[0]}"
    evcrisp.write(path, events, format=name)
    length = int(events.t[-1] - events.t[0]) + 1
    extra = data.draw(st.sampled_from([0, 1, 2**40, 2**64]))
    whole = {"start_us": 0, "duration_us": length + extra, "roi": (0, 0, *SIZE)}
    assert evcrisp.read(path, resolution=SIZE, **whole).equals(events)


@pytest.mark.parametrize("name", ["npz", "aedat4", "es"])
@LAW
@given(data=st.data(), events=recordings())
def test_cut_of_a_cut_is_one_cut(name, tmp_path_factory, data, events):
    folder, suffix = tmp_path_factory.mktemp("law"), WRITERS[name].suffixes[0]
    first = data.draw(cuts(events))
    part = selected(events, **first)
    assume(len(part))
    second = data.draw(
        cuts(Events(x=[0, 0], y=[0, 0], t=part.t[[0, -1]], p=[0, 0], resolution=SIZE))
    )
    second.pop("roi", None)
    evcrisp.write(folder / f"a{suffix}", events, format=name)
    evcrisp.write(folder / f"b{suffix}", evcrisp.read(folder / f"a{suffix}", **first), format=name)
    twice = evcrisp.read(folder / f"b{suffix}", **second)
    # The second start counts from the first event of the first part.
    shift = int(part.t[0] - events.t[0])
    start, end = shift + second["start_us"], first["start_us"] + first.get("duration_us", 2**62)
    end = min(end, start + second.get("duration_us", 2**62))
    roi = first.get("roi", (0, 0, *SIZE))
    once = {"start_us": start, "duration_us": end - start, "roi": roi}
    assert evcrisp.read(folder / f"a{suffix}", **once).equals(twice)


@LAW
@given(events=recordings(), roi=regions())
def test_region_equals_the_crop_of_a_live_area(events, roi, tmp_path_factory):
    path = tmp_path_factory.mktemp("law") / "a.npz"
    evcrisp.write(path, events)
    area = evcrisp.LiveArea(Box(*roi), SIZE)
    assert evcrisp.read(path, roi=roi).equals(area.crop(events))
