"""Codecs: round trips for all sizes and layouts, and errors for damage."""

import bz2

import lz4.frame
import numpy as np
import pytest
import zstandard

from evcrisp import FormatError
from evcrisp.io.compression import Lz4Frame, Stored, Zstd, unpack_chunk

CODECS = {
    "none": Stored(),
    "lz4": Lz4Frame(),
    "lz4 high": Lz4Frame(9),
    "zstd": Zstd(),
    "zstd high": Zstd(9),
}


def some_bytes(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.integers(0, 256, n // 3 + 1).astype(np.uint8), 3)[:n].tobytes()


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("n", [0, 1, 100, 65_536, 262_176, 3_000_000])
def test_round_trip_keeps_the_data(name, n):
    codec, data = CODECS[name], some_bytes(n)
    decode = codec.decoder()
    encoded = bytes(codec.encode(memoryview(data)))
    for _ in range(2):
        assert decode(encoded) == data


@pytest.mark.parametrize("n", [1000, 100_000, 2_000_000])
@pytest.mark.parametrize("block_size", [4, 5, 6, 7])
@pytest.mark.parametrize("store_size", [False, True])
@pytest.mark.parametrize("content_checksum", [False, True])
def test_all_layouts_of_lz4_are_read(n, block_size, store_size, content_checksum):
    data = some_bytes(n)
    for block_linked in (False, True):
        frame = lz4.frame.compress(
            data,
            block_size=block_size,
            block_linked=block_linked,
            store_size=store_size,
            content_checksum=content_checksum,
        )
        assert Lz4Frame().decoder()(frame) == data


@pytest.mark.parametrize("n", [1000, 2_000_000])
def test_zstandard_without_its_size_is_read(n):
    data = some_bytes(n)
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(data)
    assert Zstd().decoder()(frame) == data


@pytest.mark.parametrize("n", [1000, 2_000_000])
@pytest.mark.parametrize("name", ["lz4", "zstd"])
def test_truncated_data_is_refused(name, n):
    encoded = bytes(CODECS[name].encode(memoryview(some_bytes(n))))
    for end in (0, 3, 8, len(encoded) // 2, len(encoded) - 1):
        with pytest.raises(FormatError, match="is damaged"):
            CODECS[name].decoder()(encoded[:end])


@pytest.mark.parametrize("kind", ["bz2", "zstd"])
def test_small_chunk_does_not_expand_without_limit(kind):
    n = 1 << 27
    packed = {"bz2": bz2.compress, "zstd": zstandard.ZstdCompressor().compress}[kind](bytes(n))
    with pytest.raises(FormatError, match="impossible size of 134,217,728 bytes"):
        unpack_chunk(kind, memoryview(packed), n)
