"""Kernels of EVT and DAT against their oracles."""

import numpy as np
import pytest
from tests.oracles.io import dat as dat_oracle
from tests.oracles.io import evt2 as evt2_oracle
from tests.oracles.io import evt3 as evt3_oracle
from tests.oracles.io import evt_writers as writers_oracle

from evcrisp.core.sensor_data import TriggerKind
from evcrisp.io.prophesee.evt_decoder import Evt2Decoder, Evt3Decoder, Evt21Decoder
from evcrisp.io.protocol import Columns
from evcrisp.kernels.io import dat, evt3, evt_writers


def random_evt3_words(n, seed):
    """Return words of all types, with mostly increasing time."""
    rng = np.random.default_rng(seed)
    common = [0x0, 0x2, 0x2, 0x2, 0x3, 0x4, 0x4, 0x5, 0x6, 0x8, 0xA]
    kind = np.where(rng.random(n) < 0.97, rng.choice(common, n), rng.integers(0, 16, n))
    value = rng.integers(0, 4096, n)
    high = (np.cumsum(rng.integers(0, 40, n)) + 4000) % 4096
    return (kind << 12 | np.where(kind == 0x8, high, value)).astype(np.uint16)


def random_evt2_words(n, seed):
    rng = np.random.default_rng(seed)
    kind = np.where(rng.random(n) < 0.97, rng.choice([0, 1, 8, 10], n), rng.integers(0, 16, n))
    high = (np.cumsum(rng.integers(0, 1 << 22, n)) + (1 << 27)) % (1 << 28)
    value = np.where(kind == 8, high, rng.integers(0, 1 << 28, n))
    return (kind << 28 | value).astype(np.uint32)


def as_tuples(x, y, t, p):
    return list(zip(x.tolist(), y.tolist(), t.tolist(), p.tolist(), strict=True))


def decoded(decoder, words, n_pieces):
    """Return events and triggers of words in pieces, in the form of the oracles."""
    parts = [decoder.decode(part) for part in np.array_split(words, n_pieces)]
    x, y, t, p = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    assert (x.dtype, y.dtype, t.dtype, p.dtype) == (np.uint16, np.uint16, np.int64, np.bool_)
    found = decoder.triggers()
    value = found.kind == TriggerKind.RISING_EDGE
    triggers = zip(found.t.tolist(), value.tolist(), found.channel.tolist(), strict=True)
    return as_tuples(x, y, t, p), list(triggers)


@pytest.mark.parametrize("n_pieces", [1, 2, 7, 2000])
@pytest.mark.parametrize("seed", [1, 2])
def test_evt3_decoder_matches_oracle(n_pieces, seed):
    words = random_evt3_words(4000, seed)
    decoder = Evt3Decoder()
    events, triggers, n_lost = evt3_oracle.decode_evt3(words)
    assert decoded(decoder, words, n_pieces) == (events, triggers)
    assert decoder.n_lost == n_lost > 0
    assert decoder.n_reserved == np.isin(words >> 12, [1, 9, 0xB, 0xC, 0xD]).sum() > 0


@pytest.mark.parametrize("n_pieces", [1, 2, 7, 2000])
def test_evt2_decoder_matches_oracle(n_pieces):
    words = random_evt2_words(4000, 3)
    decoder = Evt2Decoder()
    events, triggers, n_lost = evt2_oracle.decode_evt2(words)
    assert decoded(decoder, words, n_pieces) == (events, triggers)
    assert decoder.n_lost == n_lost
    assert decoder.n_reserved == np.isin(words >> 28, [2, 3, 4, 5, 6, 7, 9, 0xB, 0xC, 0xD]).sum()


@pytest.mark.parametrize("n_pieces", [1, 2, 7, 2000])
@pytest.mark.parametrize("legacy", [False, True])
def test_evt21_decoder_matches_oracle(n_pieces, legacy):
    rng = np.random.default_rng(4)
    first = random_evt2_words(3000, 5)
    mask = rng.integers(0, 1 << 32, first.size) & rng.integers(0, 1 << 32, first.size)
    halves = (mask << 32 | first) if legacy else (first.astype(np.uint64) << 32 | mask.view("u8"))
    decoder = Evt21Decoder(legacy=legacy)
    events, triggers, n_lost = evt2_oracle.decode_evt21(zip(first, mask, strict=True))
    assert decoded(decoder, halves.astype(np.uint64), n_pieces) == (events, triggers)
    assert decoder.n_lost == n_lost


@pytest.mark.parametrize("bits", [(9, 8), (14, 14)])
def test_dat_decoder_matches_oracle(bits):
    rng = np.random.default_rng(6)
    time = np.cumsum(rng.integers(0, 1 << 27, 500)) % (1 << 32)
    words = np.stack([time, rng.integers(0, 1 << 32, 500)], axis=1).astype(np.uint32)
    columns = Columns.empty(500)
    state = np.zeros(2, np.int64)
    for part in (slice(200), slice(200, None)):
        dat.decode_dat(words[part], *bits, state, *columns.part(part))
    assert as_tuples(*columns) == dat_oracle.decode_dat(words, *bits)
    assert columns.t[-1] > 1 << 32


def bursts(n, width, seed, t_start=0, pause_us=400):
    """Return events with many neighbors in a row at the same time."""
    rng = np.random.default_rng(seed)
    step = np.where(rng.random(n) < 0.05, rng.integers(1, pause_us, n), 0)
    x = np.sort(rng.integers(0, width, (n + 15) // 16 * 16).reshape(-1, 16), axis=1)
    x = np.where(rng.random((len(x), 1)) < 0.5, x[:, :1] + np.arange(16), x).ravel()[:n]
    y = np.repeat(rng.integers(0, 40, n // 8 + 1), 8)[:n]
    p = np.repeat(rng.integers(0, 2, n // 6 + 1), 6)[:n].astype(bool)
    t = t_start + np.cumsum(step)
    return np.minimum(x, width - 1).astype(np.uint16), y.astype(np.uint16), t, p


def encoded_evt3(columns, width, n_pieces=1):
    """Return the words of events in pieces."""
    state = np.array(evt_writers.START, np.int64)
    words = []
    for k, piece in enumerate(zip(*(np.array_split(c, n_pieces) for c in columns), strict=True)):
        out = np.empty(1 << 17, np.uint16)
        n = evt_writers.encode_evt3(*piece, width, k == n_pieces - 1, state, out)
        words += out[:n].tolist()
    nothing = [column[:0] for column in columns]
    assert evt_writers.encode_evt3(*nothing, width, True, state, out) == 0
    return words


@pytest.mark.parametrize(
    ("t_start", "pause_us"), [(0, 400), (11_000_000, 9_000_000), (123_456_789, 60_000_000)]
)
@pytest.mark.parametrize("width", [1280, 346, 31])
@pytest.mark.parametrize("n_pieces", [1, 7, 500])
def test_evt3_encoder_matches_oracle(width, t_start, pause_us, n_pieces):
    columns = bursts(3000, width, 8, t_start, pause_us)
    words = encoded_evt3(columns, width, n_pieces)
    assert words == writers_oracle.encode_evt3(as_tuples(*columns), width)
    assert evt3_oracle.decode_evt3(words)[0] == as_tuples(*columns)


@pytest.mark.parametrize("pause_us", [400, 1 << 33, 1 << 36])
def test_evt2_encoder_matches_oracle(pause_us):
    columns = bursts(2000, 640, 9, (1 << 34) - 100, pause_us)
    state = np.array(evt_writers.START, np.int64)
    out = np.empty(1 << 17, np.uint32)
    n = evt_writers.encode_evt2(*columns, state, out)
    assert out[:n].tolist() == writers_oracle.encode_evt2(as_tuples(*columns))
    assert evt2_oracle.decode_evt2(out[:n])[0] == as_tuples(*columns)


@pytest.mark.parametrize(
    ("name", "dtype", "n_channels"), [("evt2", np.uint32, 32), ("evt3", np.uint16, 16)]
)
@pytest.mark.parametrize("pause_us", [3, 9000, 60_000_000])
def test_trigger_encoder_matches_oracle(name, dtype, n_channels, pause_us):
    rng = np.random.default_rng(11)
    t = 4000 + np.cumsum(rng.integers(0, pause_us, 300))
    channel, level = rng.integers(0, n_channels, 300), rng.integers(0, 2, 300)
    state = np.array(evt_writers.START, np.int64)
    out = np.empty(1 << 14, dtype)
    encode = getattr(evt_writers, f"encode_{name}_triggers")
    n = sum(
        encode(t[part], channel[part] << 8 | level[part], state, out[start:])
        for part, start in ((slice(0), 0), (slice(None), 0))
    )
    triggers = list(zip(t.tolist(), channel.tolist(), level.tolist(), strict=True))
    assert out[:n].tolist() == getattr(writers_oracle, f"encode_{name}_triggers")(triggers)
    decoded = {"evt2": evt2_oracle.decode_evt2, "evt3": evt3_oracle.decode_evt3}[name](out[:n])
    assert decoded[1] == [(t, bool(level), channel) for t, channel, level in triggers]


@pytest.mark.parametrize("n_pieces", [1, 2, 67])
def test_evt3_encoder_uses_vectors_that_save_words(n_pieces):
    x = np.concatenate([np.arange(64, 128), [1, 9, 17]]).astype(np.uint16)
    columns = (x, np.full(67, 5, np.uint16), np.full(67, 4096, np.int64), np.ones(67, bool))
    assert [hex(word) for word in encoded_evt3(columns, 1280, n_pieces)] == [
        *("0x8001", "0x6000", "0x5", "0x3840"),
        *("0x4fff", "0x4fff", "0x50ff") * 2,
        *("0x2801", "0x2809", "0x2811"),
    ]


def test_dat_encoder_matches_oracle():
    x, y, t, p = bursts(1000, 1280, 10, 4_000_000_000, 40_000_000)
    out = np.empty((1000, 2), np.uint32)
    dat.encode_dat(x, y, t, p, out)
    assert out.tolist() == [list(pair) for pair in dat_oracle.encode_dat(as_tuples(x, y, t, p))]
    assert dat_oracle.decode_dat(out, 14, 14) == as_tuples(x, y, t, p)
    assert t[-1] > 1 << 32


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 4001])
def test_evt3_count_matches_oracle(n):
    start = np.array([0x8000, 0x0000, 0x3000], np.uint16)
    words = np.random.default_rng(n).integers(0, 1 << 16, n).astype(np.uint16)
    events, triggers, _ = evt3_oracle.decode_evt3(np.concatenate([start, words]))
    assert evt3.count_evt3(words) == (len(events), len(triggers))
