"""Real Prophesee recordings: counts, times and digests, confirmed by independent decoders."""

import hashlib

import numpy as np
import pytest
from tests.oracles.io import evt3 as oracle

import evcrisp
from evcrisp.io.prophesee.evt_header import read_header

# Digests were taken from this reader and are those of eventcv 1.0.8 too (see the oracle below).
FILES = {
    "gen3_640x480_evt2_sample.raw": {
        "format": "evt2",
        "resolution": (640, 480),
        "n": 539_481,
        "t": (1_317_888, 1_367_888),
        "on": 367_855,
        "digest": {
            "x": "02dc735a94fdf0bd",
            "y": "f6e0390bc6cb7a40",
            "t": "64fec5ce1b270d80",
            "p": "47f9cd2ed9562c78",
        },
    },
    "gen41_1280x720_evt3_sample.raw": {
        "format": "evt3",
        "resolution": (1280, 720),
        "n": 219_596,
        "t": (11_718_656, 11_727_457),
        "on": 115_532,
        "digest": {
            "x": "1014ebcc18dcc912",
            "y": "81f935a5e5fb7398",
            "t": "41a62d1aeed53a5b",
            "p": "a8c5419384b9b052",
        },
    },
    "ncars_obj_004397_td.dat": {
        "format": "dat",
        "resolution": (54, 61),
        "n": 4_407,
        "t": (0, 99_937),
        "on": 1_671,
        "digest": {
            "x": "8f92d1890e91a1e5",
            "y": "fccad88f11f069a8",
            "t": "41ec25007480cf8b",
            "p": "0705345784b3521f",
        },
    },
}


def digests(events):
    columns = {"x": events.x, "y": events.y, "t": events.t, "p": events.p}
    return {name: hashlib.sha256(c.tobytes()).hexdigest()[:16] for name, c in columns.items()}


@pytest.mark.parametrize("name", FILES)
def test_real_file_has_known_events(data_dir, name):
    known = FILES[name]
    with evcrisp.open(data_dir / "prophesee" / name) as recording:
        events = recording.read()
        assert recording.format == known["format"]
        assert recording.triggers() is None
    assert events.resolution == known["resolution"]
    assert len(events) == known["n"]
    assert (events.t[0], events.t[-1]) == known["t"]
    assert events.n_on == known["on"]
    assert digests(events) == known["digest"]


@pytest.mark.parametrize("name", FILES)
def test_real_file_in_chunks_has_the_same_events(data_dir, name):
    with evcrisp.open(data_dir / "prophesee" / name) as recording:
        chunks = list(recording.chunks(1000))
        whole = recording.read()
    assert evcrisp.Events.concatenate(chunks).equals(whole)


@pytest.mark.parametrize("name", FILES)
def test_eventcv_reads_the_same(data_dir, name):
    eventcv = pytest.importorskip("eventcv", reason="eventcv is the independent reader")
    path = data_dir / "prophesee" / name
    events = evcrisp.read(path)
    stream = eventcv.load(str(path), sensor_size=events.resolution)
    x, y, t, p = stream.numpy().astype(np.int64).T
    assert np.array_equal(x, events.x)
    assert np.array_equal(y, events.y)
    assert np.array_equal(t, events.t)
    assert np.array_equal(p, events.p)


def test_real_evt3_file_matches_the_oracle(data_dir):
    path = data_dir / "prophesee" / "gen41_1280x720_evt3_sample.raw"
    words = np.frombuffer(path.read_bytes()[read_header(path).size :], "<u2")
    expected, _, n_lost = oracle.decode_evt3(words)
    events = evcrisp.read(path)
    columns = (events.x, events.y, events.t, events.p)
    assert expected == list(zip(*(column.tolist() for column in columns), strict=True))
    assert n_lost == 0


@pytest.mark.parametrize("format", ["evt3", "evt2", "dat"])
@pytest.mark.parametrize("name", FILES)
def test_round_trip_through_every_prophesee_format_keeps_the_events(
    data_dir, tmp_path, name, format
):
    events = evcrisp.read(data_dir / "prophesee" / name)
    evcrisp.write(tmp_path / "copy", events, format=format)
    assert evcrisp.read(tmp_path / "copy").equals(events)
