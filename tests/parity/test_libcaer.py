"""Kernels of libcaer_cmp against their oracle."""

import numpy as np
import pytest
from tests.oracles.io import libcaer as oracle

from evcrisp.kernels.io import libcaer


def random_words(n, seed):
    """Return words of all types, with random columns, rows and times."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(6, n, p=[0.05, 0.15, 0.2, 0.3, 0.15, 0.15])
    return (kinds << 12 | rng.integers(0, 4096, n)).astype(np.uint16)


def decode(words, t_base, state):
    n_events, n_good = libcaer.count_libcaer(words)
    x, y = np.empty(n_events, np.uint16), np.empty(n_events, np.uint16)
    t, p = np.empty(n_events, np.int64), np.empty(n_events, np.bool_)
    libcaer.decode_libcaer(words[:n_good], t_base, state, x, y, t, p)
    columns = (column.tolist() for column in (x, y, t, p))
    return list(zip(*columns, strict=True)), n_good


@pytest.mark.parametrize("n", [0, 1, 2, 17, 3000])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_decoder_matches_oracle(n, seed):
    words = random_words(n, seed)
    t_base = 1_700_000_000_000_000
    expected = oracle.decode_libcaer(words.tolist(), t_base)
    decoded, n_good = decode(words, t_base, np.zeros(libcaer.STATE_SIZE, np.int64))
    assert n_good == n
    assert decoded == expected


@pytest.mark.parametrize("step", [1, 7, 100])
def test_pieces_of_any_size_give_the_same_events(step):
    words = random_words(500, 5)
    state = np.zeros(libcaer.STATE_SIZE, np.int64)
    decoded = []
    for first in range(0, words.size, step):
        decoded += decode(words[first : first + step], 0, state)[0]
    assert decoded == oracle.decode_libcaer(words.tolist(), 0)


def test_unknown_word_ends_the_count():
    words = np.array([0x2005, 0x3807, 0x6000, 0x3001], np.uint16)
    assert libcaer.count_libcaer(words) == (1, 2)
    with pytest.raises(ValueError, match="unknown word 0x6000"):
        oracle.decode_libcaer(words.tolist(), 0)
