"""Kernels of Event Stream, of bit masks and of selections against their oracles."""

import numpy as np
import pytest
from tests.oracles.io import bits as bits_oracle
from tests.oracles.io import compress as compress_oracle
from tests.oracles.io import es as es_oracle

from evcrisp.io.protocol import Columns
from evcrisp.kernels.io import bits, compress, es


def random_columns(n, seed, height=500):
    rng = np.random.default_rng(seed)
    x, y = (
        rng.integers(0, 1 << 16, n).astype(np.uint16),
        rng.integers(0, height, n).astype(np.uint16),
    )
    t = np.cumsum(rng.choice([0, 1, 126, 127, 128, 1000], n))
    return Columns(x, y, t, rng.integers(0, 2, n).astype(np.bool_))


def as_tuples(columns):
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("n", [0, 1, 300])
def test_event_stream_encoder_matches_oracle(n):
    columns = random_columns(n, n)
    out = np.empty(20 * n + 1, np.uint8)
    n_bytes = es.encode_dvs(*columns, 500, 0, out)
    assert out[:n_bytes].tobytes() == es_oracle.encode_dvs(as_tuples(columns), 500)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_event_stream_decoder_matches_oracle(seed):
    data = np.random.default_rng(seed).integers(0, 256, 1003).astype(np.uint8)
    data[::50], data[::70] = 0xFF, 0xFE
    columns, state = Columns.empty(data.size), np.zeros(3, np.int64)
    es.decode_dvs(data, 70_000, *columns, state)
    events, n_bytes = es_oracle.decode_dvs(data.tobytes(), 70_000)
    expected = [(x, y % 65_536, t, bool(p)) for x, y, t, p in events]
    assert as_tuples(columns.part(slice(int(state[1])))) == expected
    assert state[0] == n_bytes


# The negative of 0 wraps around by design; numpy warns about it if the kernel is not compiled.
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar")
@pytest.mark.parametrize("mask", [0, 1, 2, 0x80000000, 0xFFFFFFFF, 0x00F0A000, 0x12345678])
def test_bit_kernels_match_oracle(mask):
    assert bits.lowest_bit(np.uint64(mask)) == bits_oracle.lowest_bit(mask)
    assert bits.count_bits(np.int64(mask)) == bits_oracle.count_bits(mask)


@pytest.mark.parametrize("n", [0, 1, 500])
def test_copy_kept_matches_oracle(n):
    columns = random_columns(n, 5)
    signal = np.random.default_rng(n).integers(0, 2, n).astype(np.bool_)
    n_kept = int(signal.sum())
    out = Columns.empty(n_kept + 1)
    compress.copy_kept(*columns, signal, *out)
    expected = compress_oracle.copy_kept(as_tuples(columns), signal)
    assert as_tuples(out.part(slice(n_kept))) == expected
