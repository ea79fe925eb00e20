"""Round trips through EVT 3.0 and EVT 2.0, also with an independent library."""

from itertools import pairwise

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, OutputError
from evcrisp.io.prophesee.evt_header import read_header

FORMATS = ["evt3", "evt2"]


def written(folder, events, name, **options):
    path = folder / f"{name}.raw"
    evcrisp.write(path, events, format=name, **options)
    return path


def burst_events(n=5000, resolution=(1280, 720), t_start=0, seed=2):
    """Return events with many neighbors in a row at the same time, in random order of x."""
    rng = np.random.default_rng(seed)
    width, height = resolution
    start = np.repeat(rng.integers(0, width, n // 25 + 1), 25)[:n]
    return Events(
        x=(start + np.tile(np.arange(25), n // 25 + 1)[:n]) % width,
        y=np.repeat(rng.integers(0, height, n // 50 + 1), 50)[:n],
        t=t_start + np.cumsum(rng.random(n) < 0.02) * 30,
        p=np.repeat(rng.integers(0, 2, n // 50 + 1), 50)[:n].astype(bool),
        resolution=resolution,
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("resolution", [(1280, 720), (346, 260), (33, 5), (1, 1), (2048, 2048)])
def test_round_trip_keeps_the_order_of_events(tmp_path, name, resolution, make_events):
    for events in (make_events(3000, resolution=resolution), burst_events(resolution=resolution)):
        back = evcrisp.read(written(tmp_path, events, name, overwrite=True))
        assert back.equals(events)
        assert back.resolution == resolution


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("n", [0, 1])
def test_round_trip_keeps_few_events(tmp_path, name, n, make_events):
    events = make_events(n)
    assert evcrisp.read(written(tmp_path, events, name)).equals(events)


@pytest.mark.parametrize("name", FORMATS)
def test_events_of_one_time_and_row_keep_their_order(tmp_path, name):
    x = [9, 8, 7, 7, 1, 2, 3, 4, 5, 6, 6, 5, 63, 64, 65, 66, 67, 68, 69, 70]
    p = [True] * 8 + [False] * 12
    events = Events(x=x, y=[4] * 20, t=[77] * 20, p=p, resolution=(346, 260))
    assert evcrisp.read(written(tmp_path, events, name)).equals(events)


@pytest.mark.parametrize("name", FORMATS)
def test_many_chunks_give_the_same_events(tmp_path, name):
    events = burst_events(4000)
    parts = [events[first : first + 37] for first in range(0, 4000, 37)]
    path = written(tmp_path, iter(parts), name)
    assert evcrisp.read(path).equals(events)


def test_raw_is_written_as_evt3_by_default(tmp_path, make_events):
    evcrisp.write(tmp_path / "a.raw", make_events(10))
    assert read_header(tmp_path / "a.raw").format_name == "EVT3"


@pytest.mark.parametrize("name", FORMATS)
def test_same_events_give_same_bytes(tmp_path, name, make_events):
    first = written(tmp_path, make_events(500), name).read_bytes()
    assert written(tmp_path, make_events(500), name, overwrite=True).read_bytes() == first


def test_evt3_vectors_save_space(tmp_path):
    events = burst_events(50_000)
    sizes = {name: written(tmp_path, events, name).stat().st_size for name in FORMATS}
    assert sizes["evt3"] < 0.2 * sizes["evt2"]


# ---------------------------------------------------------------- time


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "t",
    [
        [0, (1 << 24) - 1, 1 << 24, (1 << 24) + 5, (5 << 24) - 1],
        [11_718_656, 60_000_000, 60_000_001],
        [100_000_000, 100_000_001, 3_600_000_000, 3_600_000_001],
        [(1 << 34) - 1, 1 << 34, (1 << 34) + 63, (3 << 34) + 5],
        [(1 << 36) - 1, 1 << 36],
        [5, 86_400_000_000, 10 * 86_400_000_000],
    ],
)
def test_round_trip_keeps_time_and_pauses_of_any_length(tmp_path, name, t):
    n = len(t)
    events = Events(x=range(n), y=range(n), t=t, p=[1] * n, resolution=(64, 48))
    assert evcrisp.read(written(tmp_path, events, name)).equals(events)


@pytest.mark.parametrize("name", FORMATS)
def test_time_high_steps_are_read_alike_by_all_readers(tmp_path, name):
    t = [5, 3 << 24, (3 << 24) + 1, (1 << 34) + (9 << 24), (1 << 36) + 3]
    events = Events(x=[1] * 5, y=[1] * 5, t=t, p=[1] * 5, resolution=(64, 48))
    path = written(tmp_path, events, name)
    dtype, bits = ("<u2", 12) if name == "evt3" else ("<u4", 28)
    words = np.frombuffer(path.read_bytes()[read_header(path).size :], dtype)
    is_high = words >> (8 * words.itemsize - 4) == 0x8
    high = words[is_high].astype(np.int64) & ((1 << bits) - 1)
    steps = np.diff(high)
    assert steps.max() <= 1 << (bits - 1)
    assert set(steps[steps < 0]) == {1 - (1 << bits)}


@pytest.mark.parametrize("name", FORMATS)
def test_start_beyond_the_format_goes_to_the_header(tmp_path, name, caplog):
    t = np.array([0, 10, 40_000_000]) + 1_700_000_000_123_456
    events = Events(x=[1, 2, 3], y=[1, 1, 1], t=t, p=[1, 0, 1], resolution=(64, 48))
    path = written(tmp_path, events, name)
    assert read_header(path).fields["t0"] == "1700000000123456"
    assert path.stat().st_size < 300
    assert "In other programs the recording starts at 0" in caplog.text
    assert evcrisp.read(path).equals(events)


@pytest.mark.parametrize("name", FORMATS)
def test_negative_time_is_refused(tmp_path, name):
    events = Events(x=[1], y=[1], t=[-5], p=[1], resolution=(64, 48))
    with pytest.raises(OutputError, match="no time before 0; the first event is at -5 us"):
        written(tmp_path, events, name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [*FORMATS, "dat"])
@pytest.mark.parametrize("t", [2**62, 2**63 - 1])
def test_unreadable_time_is_not_written(tmp_path, name, t):
    events = Events(x=[1], y=[1], t=[t], p=[1], resolution=(64, 48))
    with pytest.raises(OutputError, match=f"no time from {2**62} us on; the first event is at {t}"):
        written(tmp_path, events, name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [*FORMATS, "dat"])
def test_round_trip_keeps_the_latest_time(tmp_path, name):
    t = [2**62 - 1, 2**62, 2**62 + 5_000_000]
    events = Events(x=[1, 2, 3], y=[1, 1, 1], t=t, p=[1, 0, 1], resolution=(64, 48))
    assert evcrisp.read(written(tmp_path, events, name), format=name).equals(events)


@pytest.mark.parametrize("name", [*FORMATS, "dat"])
@pytest.mark.parametrize("n_parts", [2, 7, 300])
def test_bytes_do_not_depend_on_the_chunks(tmp_path, name, n_parts):
    for t_start in (0, 16_777_000, 10**15):
        events = burst_events(3000, t_start=t_start)
        whole = written(tmp_path, events, name, overwrite=True).read_bytes()
        bounds = np.linspace(0, len(events), n_parts + 1).astype(int)
        parts = [events[a:b] for a, b in pairwise(bounds)]
        assert written(tmp_path, parts, name, overwrite=True).read_bytes() == whole


@pytest.mark.parametrize("name", FORMATS)
def test_long_pauses_between_parts_are_written(tmp_path, name, monkeypatch):
    monkeypatch.setattr("evcrisp.io.prophesee.evt_writers.MAX_LOOPS", 5)
    loop = 1 << (24 if name == "evt3" else 34)
    n = 40
    t = np.arange(n) * 3 * loop
    events = Events(x=[1] * n, y=[1] * n, t=t, p=[1] * n, resolution=(64, 48))
    whole = written(tmp_path, events, name)
    assert evcrisp.read(whole).equals(events)
    content = whole.read_bytes()
    ones = [events[i : i + 1] for i in range(n)]
    assert written(tmp_path, ones, name, overwrite=True).read_bytes() == content
    far = Events(x=[1] * 2, y=[1] * 2, t=[0, 6 * loop], p=[1] * 2, resolution=(64, 48))
    with pytest.raises(OutputError, match=f"does not keep a pause of {6 * loop} us"):
        written(tmp_path, far, name, overwrite=True)


@pytest.mark.parametrize("name", FORMATS)
def test_impossible_pause_is_refused(tmp_path, name):
    events = Events(x=[1, 1], y=[1, 1], t=[0, 1 << 62], p=[1, 1], resolution=(64, 48))
    with pytest.raises(OutputError, match="does not keep a pause of 4611686018427387904 us"):
        written(tmp_path, events, name)


@pytest.mark.parametrize("name", FORMATS)
def test_too_large_sensor_is_refused(tmp_path, name):
    with pytest.raises(OutputError, match="up to 2048x2048 px; got 4000x3000"):
        written(tmp_path, Events.empty((4000, 3000)), name)


# ---------------------------------------------------------------- oracle


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("t_start", [0, 11_718_656, 16_777_000, 5_000_000_000])
def test_eventcv_reads_the_same(tmp_path, name, t_start, make_events):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    for events in (burst_events(t_start=t_start), make_events(5000, t_start=t_start)):
        stream = eventcv.load(str(written(tmp_path, events, name, overwrite=True)))
        assert tuple(stream.sensor_size) == events.resolution
        x, y, t, p = stream.numpy().astype(np.int64).T
        back = Events(x=x, y=y, t=t, p=p, resolution=events.resolution)
        assert back.equals(events)
