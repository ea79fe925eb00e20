"""Round trips through EVT 3.0 and EVT 2.0, also with an independent library."""

from itertools import pairwise

import numpy as np
import pytest
from tests.oracles.io import evt2 as evt2_oracle
from tests.oracles.io import evt3 as evt3_oracle
from tests.sensor_data import GivenData

import evcrisp
from evcrisp import Events, OutputError
from evcrisp.core.sensor_data import Imu, TriggerKind, Triggers
from evcrisp.io.prophesee.evt_decoder import Evt2Decoder, Evt3Decoder
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
def test_round_trip_keeps_the_latest_time(tmp_path, name):
    t = [2**62 - 5_000_000, 2**62 - 2, 2**62 - 1]
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
    monkeypatch.setattr("evcrisp.io.prophesee.evt_encoder.MAX_LOOPS", 5)
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
    events = Events(x=[1, 1], y=[1, 1], t=[0, (1 << 62) - 1], p=[1, 1], resolution=(64, 48))
    with pytest.raises(OutputError, match="does not keep a pause of 4611686018427387903 us"):
        written(tmp_path, events, name)


@pytest.mark.parametrize("name", FORMATS)
def test_too_large_sensor_is_refused(tmp_path, name):
    with pytest.raises(OutputError, match="up to 2048x2048 px; got 4000x3000"):
        written(tmp_path, Events.empty((4000, 3000)), name)


# ---------------------------------------------------------------- triggers


def edges(t, channel=0, kind=None):
    t = np.asarray(t, np.int64)
    kind = np.where(np.arange(t.size) % 2, 2, 1) if kind is None else np.asarray(kind)
    channel = np.broadcast_to(np.asarray(channel, np.uint8), t.shape)
    return Triggers(t=t, kind=kind.astype(np.uint8), channel=channel)


def read_back(path):
    with evcrisp.open(path) as opened:
        found = opened.triggers()
        return opened.read(), None if found is None else [
            *zip(found.t.tolist(), found.kind.tolist(), found.channel.tolist(), strict=True)
        ]


def listed(triggers):
    return [
        *zip(triggers.t.tolist(), triggers.kind.tolist(), triggers.channel.tolist(), strict=True)
    ]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("t_start", [0, 16_777_000, 10**15])
@pytest.mark.parametrize("n_parts", [1, 7, 300])
def test_triggers_are_written_among_the_events(tmp_path, name, t_start, n_parts):
    events = burst_events(3000, t_start=t_start + 500)
    rng = np.random.default_rng(3)
    inside = rng.choice(events.t, 40)
    triggers = edges(
        np.sort([t_start + 3, t_start + 400, *inside, events.t[-1], events.t[-1] + 20_000_000]),
        rng.integers(0, 16, 44),
    )
    bounds = np.linspace(0, len(events), n_parts + 1).astype(int)
    parts = [events[a:b] for a, b in pairwise(bounds)]
    path = written(tmp_path, parts, name, sensor_data_from=GivenData(edges=triggers))
    back, found = read_back(path)
    assert back.equals(events)
    assert found == listed(triggers)
    whole = written(
        tmp_path, events, name, sensor_data_from=GivenData(edges=triggers), overwrite=True
    )
    content = whole.read_bytes()
    written(tmp_path, parts, name, sensor_data_from=GivenData(edges=triggers), overwrite=True)
    assert whole.read_bytes() == content


@pytest.mark.parametrize("name", FORMATS)
def test_words_are_in_the_order_of_time(tmp_path, name):
    events = burst_events(2000)
    triggers = edges(events.t[::100] + 1)
    path = written(tmp_path, events, name, sensor_data_from=GivenData(edges=triggers))
    words = np.frombuffer(
        path.read_bytes()[read_header(path).size :], f"<u{2 if name == 'evt3' else 4}"
    )
    decoder = {"evt3": Evt3Decoder, "evt2": Evt2Decoder}[name]()
    seen, n_triggers = [], 0
    for word in words:
        columns = decoder.decode(np.array([word]))
        seen += columns.t.tolist()
        found = decoder.triggers().t
        seen += found[n_triggers:].tolist()
        n_triggers = found.size
    assert len(seen) == 2000 + 20
    assert seen == sorted(seen)


@pytest.mark.parametrize("name", FORMATS)
def test_recording_without_events_keeps_its_triggers(tmp_path, name):
    triggers = edges([5, 5, 900_000_000])
    path = written(
        tmp_path, Events.empty((64, 48)), name, sensor_data_from=GivenData(edges=triggers)
    )
    back, found = read_back(path)
    assert len(back) == 0
    assert found == listed(triggers)


@pytest.mark.parametrize(("name", "n_channels"), [("evt3", 16), ("evt2", 32)])
def test_triggers_that_the_words_cannot_hold_are_counted(tmp_path, name, n_channels, caplog):
    kind = [TriggerKind.RISING_EDGE] * 3 + [TriggerKind.FRAME_START, TriggerKind.FALLING_EDGE]
    triggers = edges([7, -3, 8, 9, 10], [0, 0, n_channels, 0, n_channels - 1], kind)
    path = written(tmp_path, burst_events(10), name, sensor_data_from=GivenData(edges=triggers))
    assert read_back(path)[1] == [(7, 1, 0), (10, 2, n_channels - 1)]
    text = f"edges of channels 0 to {n_channels - 1}, from time 0 on; left out: 3 other triggers"
    assert text in caplog.text


def test_streams_that_the_format_does_not_hold_are_named(tmp_path, caplog):
    zeros = np.zeros((4, 3))
    samples = Imu(t=np.arange(4), gyro_rad_s=zeros, accel_m_s2=zeros)
    data = GivenData(samples, edges([1]))
    written(tmp_path, burst_events(10), "evt3", sensor_data_from=data)
    assert "Format 'evt3' does not keep all sensor data; left out: 4 IMU samples." in caplog.text
    assert "trigger" not in caplog.text.split("left out")[1].split(".")[0]


@pytest.mark.parametrize("name", FORMATS)
def test_eventcv_reads_events_among_triggers(tmp_path, name):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    events = burst_events()
    triggers = edges(events.t[::50], 3)
    path = written(tmp_path, events, name, sensor_data_from=GivenData(edges=triggers))
    x, y, t, p = eventcv.load(str(path)).numpy().astype(np.int64).T
    assert Events(x=x, y=y, t=t, p=p, resolution=events.resolution).equals(events)


@pytest.mark.parametrize("name", FORMATS)
def test_slow_decoder_reads_the_triggers(tmp_path, name):
    decode = {"evt3": evt3_oracle.decode_evt3, "evt2": evt2_oracle.decode_evt2}[name]
    events = burst_events(400)
    triggers = edges(events.t[::50], 3)
    path = written(tmp_path, events, name, sensor_data_from=GivenData(edges=triggers))
    words = np.frombuffer(
        path.read_bytes()[read_header(path).size :], f"<u{2 if name == 'evt3' else 4}"
    )
    found = decode(words)
    columns = (column.tolist() for column in (events.x, events.y, events.t, events.p))
    assert found[0] == list(zip(*columns, strict=True))
    expected = zip(triggers.t.tolist(), (triggers.kind == 1).tolist(), strict=True)
    assert found[1] == [(t, rising, 3) for t, rising in expected]


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
