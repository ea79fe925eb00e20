"""Small files that expand to very much: refused, with the events before the limit."""

import gzip
import resource
import subprocess
import sys
import zipfile

import lz4.frame
import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError
from evcrisp.io import compression
from evcrisp.io.aedat.aedat4_packets import PACKET_HEADER, PLAIN_EVENTS
from evcrisp.io.aedat.aedat4_writer import build_header, build_xml
from evcrisp.io.compression import Zstd

SIZE = (346, 260)


def aedat4_bomb(path, n_packets, n_events):
    """Write packets of equal events, which Zstandard makes thousands of times smaller."""
    n_bytes = 28 + 16 * n_events
    packet = n_bytes.to_bytes(4, "little") + PLAIN_EVENTS + n_events.to_bytes(4, "little")
    packet = Zstd(19).encode(memoryview(packet + bytes(16 * n_events)))
    xml = build_xml(((0, "EVTS", "events"),), SIZE, camera="cam", compression="ZSTD")
    head = PACKET_HEADER.pack(0, len(packet))
    path.write_bytes(build_header(3, xml, -1) + (head + packet) * n_packets)
    return path.stat().st_size


def test_many_packets_of_an_aedat4_file_do_not_expand_without_limit(tmp_path):
    path = tmp_path / "a.aedat4"
    n_bytes = aedat4_bomb(path, 8, 1 << 20)  # 128 MiB
    assert n_bytes < 100_000
    with evcrisp.open(path, on_error="truncate") as recording:
        n_events = sum(map(len, recording.chunks()))
        assert "expands to more than" in str(recording.damage)
    limit = compression.ALWAYS_ALLOWED + compression.ALLOWED_RATIO * n_bytes
    assert limit - (16 << 20) < 16 * n_events <= limit
    with pytest.raises(FormatError, match="expands to more than"):
        evcrisp.read(path)


def test_a_bomb_of_gzip_text_ends_at_the_limit(tmp_path):
    path = tmp_path / "a.csv.gz"
    line = b"1000000,100,100,1\n"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"t,x,y,p\n")
        for _ in range(100):
            file.write(line * 60_000)  # 108 MB
    n_bytes = path.stat().st_size
    with evcrisp.open(path, resolution=SIZE, on_error="truncate") as recording:
        n_events = sum(map(len, recording.chunks()))
        assert "expands to more than" in str(recording.damage)
    limit = compression.ALWAYS_ALLOWED + compression.ALLOWED_RATIO * n_bytes
    assert limit - (8 << 20) < len(line) * n_events <= limit


def test_a_bomb_of_zipped_text_ends_at_the_limit(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("events.txt", b"1.000000 100 100 1\n" * 5_000_000)  # 95 MB
    with pytest.raises(FormatError, match="expands to more than"):
        evcrisp.read(path, resolution=SIZE)


def test_texts_that_compress_well_are_read(tmp_path):
    """Fifty times smaller, but not large: 20 MB."""
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"t,x,y,p\n" + b"1000000,100,100,1\n" * 1_100_000)
    assert len(evcrisp.read(path, resolution=SIZE)) == 1_100_000


@pytest.mark.parametrize("kind", ["lz4", "zstd"])
def test_out_of_memory_is_no_damage(kind, monkeypatch):
    """A good file must not be shortened because memory is short."""

    def fail(*args, **options):
        raise MemoryError

    data = memoryview(bytes(100_000))
    if kind == "lz4":
        monkeypatch.setattr(lz4.frame, "decompress_chunk", fail)
        packed = bytes(compression.Lz4Frame().encode(data))
        decode = compression.Lz4Frame().decoder()
    else:
        packed = bytes(Zstd().encode(data))
        decoder = compression._zstandard().ZstdDecompressor
        fake = type("Failing", (), {"__init__": lambda self, **k: None, "decompress": fail})
        monkeypatch.setattr(compression._zstandard(), "ZstdDecompressor", fake)
        decode = Zstd().decoder()
        assert decoder is not fake
    with pytest.raises(MemoryError):
        decode(packed)


PROGRAM = """
import resource, sys, evcrisp
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    with evcrisp.open(sys.argv[1], on_error="truncate") as recording:
        events = recording.read()
        print("read", len(events), recording.damage)
except MemoryError:
    print("memory")
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="no limit of memory here")
def test_a_good_recording_is_never_shortened_because_memory_is_short(tmp_path, make_events):
    path = tmp_path / "a.aedat4"
    n = 2_000_000
    evcrisp.write(path, make_events(n), compression="zstd")
    found = set()
    for gigabytes in np.linspace(0.3, 4, 12):
        command = [sys.executable, "-c", PROGRAM, path, str(int(gigabytes * 2**30))]
        result = subprocess.run(command, capture_output=True, text=True)
        line = result.stdout.strip()
        # With very little memory the interpreter or a library ends before that.
        assert line in ("", "memory", f"read {n} None"), result.stderr[-500:]
        found.add(line)
    assert f"read {n} None" in found
