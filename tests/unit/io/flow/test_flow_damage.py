"""Damaged and hostile flow files raise `FormatError`, before they take memory."""

import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from evcrisp import EvError, FormatError
from evcrisp.core.flow import Flow
from evcrisp.io.flow import read_flow, write_flow
from evcrisp.io.flow.rgb48 import write_rgb48

SUFFIXES = [".npz", ".flo", ".png"]
TIMES = {".flo": {"t_start": 0, "t_end": 1_000}}


def written(path):
    rng = np.random.default_rng(1)
    flow = Flow(rng.uniform(-99, 99, (6, 8, 2)), rng.random((6, 8)) < 0.8, 0, 1_000_000)
    write_flow(path, flow)
    return path


def refused(path, message="flow"):
    """Read a file under a limit of memory, and return the error."""
    tracemalloc.start()
    with pytest.raises(FormatError, match=message) as error:
        read_flow(path, **TIMES.get(path.suffix, {}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20
    assert str(error.value).startswith(f"{path}: ")
    assert "in the flow). " in str(error.value)  # and what to do
    return error.value


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_cut_is_noticed(tmp_path, suffix):
    whole = written(tmp_path / f"whole{suffix}").read_bytes()
    path = tmp_path / f"cut{suffix}"
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        refused(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_changed_byte_gives_a_flow_or_an_error(tmp_path, suffix):
    whole = written(tmp_path / f"whole{suffix}").read_bytes()
    path = tmp_path / f"changed{suffix}"
    rng = np.random.default_rng(2)
    n_refused = 0
    for _ in range(400):
        data = bytearray(whole)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        try:
            flow = read_flow(path, **TIMES.get(suffix, {}))
        except EvError:
            n_refused += 1
        else:
            assert np.isfinite(flow.velocity[flow.valid]).all()
    assert n_refused > (0 if suffix == ".flo" else 200)  # .flo has no checksum


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "content",
    [b"", bytes(100), b"PK\x03\x04 no archive", b"x,y,t,p\n"],
    ids=["empty", "zeros", "zip", "text"],
)
def test_other_content_is_refused(tmp_path, suffix, content):
    (tmp_path / f"a{suffix}").write_bytes(content)
    refused(tmp_path / f"a{suffix}")


@pytest.mark.parametrize(
    ("width", "height", "message"),
    [
        (65_536, 65_536, "size of 65536 x 65536 px"),
        (2**31 - 1, 2**31 - 1, "it states a size"),
        (-1, 5, "size of -1 x 5 px"),
        (0, 5, "size of 0 x 5 px"),
        (8_000, 8_000, "size of 8000 x 8000 px"),
        (4_000, 4_000, "take 128,000,012 bytes; the file has 20"),
        (1, 0, "size of 1 x 0 px"),
    ],
)
def test_hostile_flo_size(tmp_path, width, height, message):
    data = struct.pack("<4s2i2f", b"PIEH", width, height, 0.0, 0.0)
    (tmp_path / "a.flo").write_bytes(data)
    refused(tmp_path / "a.flo", message)


def test_flo_with_more_bytes_is_refused(tmp_path):
    path = written(tmp_path / "a.flo")
    path.write_bytes(path.read_bytes() + b"\0")
    assert refused(path, "8 x 6 px take 396 bytes; the file has 397").offset == 396


def chunk(kind, data):
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def png(header, *chunks):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", *header))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IEND", b"")


RGB48 = (16, 2, 0, 0, 0)


@pytest.mark.parametrize(
    ("header", "pixels", "message"),
    [
        ((2, 1, 8, 2, 0, 0, 0), bytes(7), "16 bits per channel, RGB; got 8 bits, RGB"),
        ((2, 1, 16, 6, 0, 0, 0), bytes(17), "got 16 bits, RGBA"),
        ((2, 1, 16, 2, 0, 0, 1), bytes(13), "interlaced"),
        ((2, 1, *RGB48), bytes(12), "take 13 bytes; the file has 12"),
        ((2, 1, *RGB48), bytes(50_000_000), "take 13 bytes; the file has more"),
        ((2, 1, *RGB48), b"\5" + bytes(12), "unknown filter 5"),
        ((4_000, 4_000, *RGB48), bytes(13), "take 96,004,000 bytes; the file has 13"),
        ((2**31, 2, *RGB48), bytes(13), "it states a size"),
        ((0, 2, *RGB48), bytes(13), "it states a size"),
    ],
)
def test_hostile_png(tmp_path, header, pixels, message):
    (tmp_path / "a.png").write_bytes(png(header, chunk(b"IDAT", zlib.compress(pixels))))
    refused(tmp_path / "a.png", message)


def test_png_with_wrong_times_is_refused(tmp_path):
    pixels = np.full((1, 1, 3), 1, np.uint16)
    for number, times in enumerate((("a", "5"), ("5", "5"), ("5", "-5"))):
        path = tmp_path / f"{number}.png"
        write_rgb48(path, pixels, dict(zip(("t_start_us", "t_end_us"), times, strict=True)))
        refused(path, "whole numbers|ends before it starts")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"velocity": np.zeros((3, 4))}, r"shape \(h, w, 2\); got \(3, 4\)"),
        ({"velocity": np.zeros((3, 4, 2), int)}, "`velocity` does not fit"),
        ({"velocity": np.zeros((0, 4, 2))}, "size of 4 x 0 px"),
        ({"velocity": np.full((3, 4, 2), np.nan)}, "velocity that is not finite"),
        ({"velocity": np.full((3, 4, 2), 1e300)}, "velocity that is not finite"),
        ({"velocity": np.array([{}])}, "Python objects|damaged"),
        ({"valid": np.ones((4, 3), bool)}, "`valid` does not fit"),
        ({"valid": np.ones((3, 4))}, "`valid` does not fit"),
        ({"t_start": np.array([1, 2])}, "`t_start` does not fit"),
        ({"t_end": np.array(0)}, "ends before it starts: 0 to 0"),
        ({"t_end": np.array(0.5)}, "`t_end` does not fit"),
        ({"t_end": None}, "the archive has no t_end; it is no flow"),
    ],
)
def test_archive_with_other_arrays_is_refused(tmp_path, changes, message):
    arrays = {
        "velocity": np.zeros((3, 4, 2), np.float32),
        "valid": np.ones((3, 4), bool),
        "t_start": np.array(0),
        "t_end": np.array(10),
    }
    arrays = {name: array for name, array in {**arrays, **changes}.items() if array is not None}
    np.savez(tmp_path / "a.npz", **arrays)
    refused(tmp_path / "a.npz", message)


def test_archive_that_states_a_large_array_takes_no_memory(tmp_path):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4000, 4000, 2), }"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n"
    written(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        for name, data in {**members, "velocity.npy": head + bytes(64)}.items():
            archive.writestr(name, data)
    refused(tmp_path / "b.npz", "`velocity` ends early")
