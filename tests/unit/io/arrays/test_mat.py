"""MATLAB files written by scipy."""

import logging
import tracemalloc
import zlib

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError

scipy_io = pytest.importorskip("scipy.io", reason="scipy writes the files of these tests")
SIZE = (346, 260)


def saved(tmp_path, content, **options):
    scipy_io.savemat(tmp_path / "a.mat", content, **options)
    return tmp_path / "a.mat"


def columns(events):
    return {"x": events.x, "y": events.y, "t": events.t, "p": events.p.astype(np.int32)}


@pytest.mark.parametrize("order", ["xypt", "xytp", "txyp"])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("compressed", [False, True])
def test_matrix_of_four_columns_is_read(tmp_path, make_events, order, dtype, compressed):
    events = make_events(700)
    matrix = np.stack([columns(events)[name] for name in order], axis=1).astype(dtype)
    path = saved(tmp_path, {"events": matrix, "other": [1, 2]}, do_compression=compressed)
    assert evcrisp.read(path, resolution=SIZE).equals(events)
    assert evcrisp.read(saved(tmp_path, {"lying": matrix.T}), resolution=SIZE).equals(events)


@pytest.mark.parametrize("order", ["xypt", "txyp"])
@pytest.mark.parametrize("n_more", [1, 3, 12])
@pytest.mark.parametrize("compressed", [False, True])
def test_further_columns_of_events_are_left_out(
    tmp_path, make_events, order, n_more, compressed, caplog
):
    events = make_events(700)
    more = np.random.default_rng(1).integers(0, 9, (700, n_more))
    matrix = np.stack([columns(events)[name] for name in order], axis=1)
    matrix = np.concatenate([matrix, more], axis=1).astype(np.int32)
    for content in (matrix, matrix.T):
        path = saved(tmp_path, {"events": content, "other": [1, 2]}, do_compression=compressed)
        caplog.clear()
        with evcrisp.open(path, resolution=SIZE) as opened:
            assert opened.read().equals(events)
            assert opened.metadata["n_unused_columns"] == n_more
        assert f"`events` has {4 + n_more} columns; the first four are read" in caplog.text


@pytest.mark.parametrize("shape", [(700, 17), (700, 3), (5, 5)])
def test_other_matrices_are_refused(tmp_path, shape):
    path = saved(tmp_path, {"events": np.zeros(shape)})
    with pytest.raises(FormatError, match="expected a variable `events` with four or more columns"):
        evcrisp.read(path, resolution=SIZE)


def test_cut_matrix_with_further_columns_keeps_the_events_before(tmp_path, make_events):
    events = make_events(700)
    matrix = np.stack([columns(events)[name] for name in "xypt"] + [events.t // 9], axis=1)
    path = saved(tmp_path, {"events": matrix.astype(np.int32)})
    for n_lost, n_kept in ((40, 700), (700 * 4 + 100, None)):
        cut = tmp_path / "cut.mat"
        cut.write_bytes(path.read_bytes()[:-n_lost])
        kept = evcrisp.read(cut, resolution=SIZE, on_error="truncate")
        assert kept.equals(events[: len(kept)])
        assert len(kept) == n_kept or 0 < len(kept) < 700


def test_time_with_fractions_is_in_seconds(tmp_path, make_events):
    events = make_events(700)
    matrix = np.stack([events.t / 1e6, events.x, events.y, events.p], axis=1)
    assert evcrisp.read(saved(tmp_path, {"events": matrix}), resolution=SIZE).equals(events)
    struct = {**columns(events), "t": events.t / 1e6}
    assert evcrisp.read(saved(tmp_path, {"TD": struct}), resolution=SIZE).equals(events)


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_struct_and_separate_variables_are_read(tmp_path, make_events, kind):
    events = make_events(700)
    struct = {name: column.astype(kind) for name, column in columns(events).items()}
    struct["ts"], struct["pol"] = struct.pop("t"), 2 * struct.pop("p") - 1
    assert evcrisp.read(saved(tmp_path, {"TD": struct}), resolution=SIZE).equals(events)
    assert evcrisp.read(saved(tmp_path, struct), resolution=SIZE).equals(events)


def test_packets_are_bounded(tmp_path, make_events, monkeypatch):
    events = make_events(250)
    matrix = np.stack(list(columns(events).values()), axis=1)
    monkeypatch.setattr("evcrisp.io.arrays.mat.PACKET_EVENTS", 100)
    source = evcrisp.io.READERS["mat"].open(saved(tmp_path, {"events": matrix}))
    assert [packet.t.size for packet in source.packets()] == [100, 100, 50]


def test_file_without_events_is_read(tmp_path):
    path = saved(tmp_path, {"events": np.zeros((0, 4), np.int32)})
    assert len(evcrisp.read(path, resolution=SIZE)) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"image": np.zeros((5, 5))}, r"expected a variable `events`.*the file has image \(5, 5\)"),
        ({"events": np.zeros((9, 4))}, "more than one of the usual orders"),
        ({"TD": {"x": [1, 2], "y": [1, 2], "ts": [1, 2]}}, "no column for 'p'"),
        ({"TD": {"x": [1, 2], "y": [1], "ts": [1, 2], "p": [1, 0]}}, "must have one length"),
        ({"TD": {"x": "ab", "y": [1], "ts": [1], "p": [1]}}, "no column for 'x'"),
        ({"events": np.zeros((9, 4), complex)}, "must be an array of real numbers"),
    ],
)
def test_files_without_events_are_refused(tmp_path, content, message):
    with pytest.raises(FormatError, match=message):
        evcrisp.read(saved(tmp_path, content), resolution=SIZE)


def test_version_7_3_is_refused_with_a_remedy(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(600))
    with pytest.raises(
        FormatError, match="MATLAB 7.3 files are not read; save it with the option '-v7'"
    ):
        evcrisp.read(tmp_path / "a.mat")


@pytest.mark.parametrize("compressed", [False, True])
def test_file_that_is_cut_short_gives_the_events_that_are_whole(tmp_path, make_events, compressed):
    events = make_events(5000)
    matrix = np.stack([columns(events)[name] for name in "xypt"], axis=1).astype(np.int32)
    path = saved(tmp_path, {"events": matrix}, do_compression=compressed)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(FormatError, match="the file ends within a variable.*after 4"):
        evcrisp.read(path, resolution=SIZE)
    kept = evcrisp.read(path, resolution=SIZE, on_error="truncate")
    assert 4000 < len(kept) < 5000
    assert kept.equals(events[: len(kept)])


def test_files_of_the_other_byte_order_are_read(tmp_path):
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    rows = np.array([[1, 2, 1, 10], [3, 4, -1, 20], [5, 6, 1, 30]], ">i4")
    flags = np.array([6, 8, 12, 0, 5, 8, 3, 4], ">u4").tobytes()
    name = np.array([1, 6], ">u4").tobytes() + b"events\0\0"
    data = np.array([5, 48], ">u4").tobytes() + rows.T.tobytes()
    body = flags + name + data
    (tmp_path / "a.mat").write_bytes(header + np.array([14, len(body)], ">u4").tobytes() + body)
    events = evcrisp.read(tmp_path / "a.mat", resolution=SIZE)
    assert events.t.tolist() == [10, 20, 30]
    assert events.p.tolist() == [True, False, True]


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_copies_give_events_or_a_format_error(tmp_path, make_events, caplog, compressed):
    caplog.set_level(logging.CRITICAL)
    events = make_events(100)
    matrix = np.stack(list(columns(events).values()), axis=1)
    path = saved(tmp_path, {"events": matrix}, do_compression=compressed)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for k in range(200):
        damaged = bytearray(content)
        if k % 2:
            damaged = damaged[: rng.integers(len(damaged))]
        else:
            damaged[rng.integers(min(len(damaged), 400))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged or b"M")
        try:
            evcrisp.read(path, format="mat", resolution=(65_536, 65_536), on_error="truncate")
        except FormatError:
            n_refused += 1
    assert n_refused > 5


def test_damage_within_compressed_data_keeps_the_events_before(tmp_path, make_events):
    events = make_events(3000)
    records = np.stack(list(columns(events).values()), axis=1).astype(np.float64)
    path = saved(tmp_path, {"events": records, "more": [1]}, do_compression=True)
    data = bytearray(path.read_bytes())
    # The last column is the last quarter; the damage is within it.
    at = 97 * len(data) // 100
    data[at : at + 8] = b"\xff" * 8
    path.write_bytes(data)
    options = {"format": "mat", "resolution": events.resolution}
    with pytest.raises(FormatError):
        evcrisp.read(path, **options)
    kept = evcrisp.read(path, **options, on_error="truncate")
    assert 0 < len(kept) < 3000
    assert kept[:-50].equals(events[: len(kept) - 50])


# ---------------------------------------------------------------- memory, and data after the end


def element(kind, data):
    return np.array([kind, len(data)], "<u4").tobytes() + data + bytes(-len(data) % 8)


def bomb(n_rows, n_claimed, n_zeros):
    """Return a file with one compressed variable `events`, mostly zeros."""
    head = element(6, np.array([9, 0], "<u4").tobytes())
    head += element(5, np.array([n_rows, 4], "<i4").tobytes()) + element(1, b"events")
    head += np.array([9, n_claimed], "<u4").tobytes()
    packer = zlib.compressobj(9)
    packed = packer.compress(np.array([14, len(head) + n_claimed], "<u4").tobytes() + head)
    for _ in range(n_zeros >> 20):
        packed += packer.compress(bytes(1 << 20))
    packed += packer.flush()
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + element(15, packed)


@pytest.mark.parametrize(
    ("n_rows", "n_claimed", "message"),
    [
        (10, 2**32 - 200, "a variable of shape .10, 4. states 4,294,967"),
        (2**23, 2**28, "bytes expands to .* bytes, too many"),
    ],
)
def test_small_file_takes_little_memory(tmp_path, n_rows, n_claimed, message):
    path = tmp_path / "a.mat"
    path.write_bytes(bomb(n_rows, n_claimed, 2**28))
    assert path.stat().st_size < 300_000
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=message):
            evcrisp.read(path, resolution=SIZE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 120e6


def test_many_equal_events_are_read(tmp_path):
    n = 200_000
    struct = {"x": np.full(n, 3.0), "y": np.full(n, 4.0), "p": np.ones(n), "ts": np.full(n, 5.0)}
    path = saved(tmp_path, {"TD": struct}, do_compression=True)
    assert 6_400_000 / path.stat().st_size > 200
    assert len(evcrisp.read(path, resolution=SIZE)) == n


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("n_zeros", [3, 8, 1000])
def test_zeros_after_the_last_variable_are_padding(tmp_path, make_events, compressed, n_zeros):
    events = make_events(300)
    matrix = np.stack(list(columns(events).values()), axis=1)
    path = saved(tmp_path, {"events": matrix}, do_compression=compressed)
    path.write_bytes(path.read_bytes() + bytes(n_zeros))
    assert evcrisp.read(path, resolution=SIZE).equals(events)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("tail", "message"),
    [(b"\xff" * 50, "unknown element type"), (b"\x0f\0\0\0\x10\0\0\0" + b"x" * 16, "damaged")],
)
def test_damage_after_the_events_keeps_all_of_them(
    tmp_path, make_events, compressed, tail, message
):
    events = make_events(300)
    matrix = np.stack(list(columns(events).values()), axis=1)
    path = saved(tmp_path, {"events": matrix}, do_compression=compressed)
    path.write_bytes(path.read_bytes() + tail)
    with pytest.raises(FormatError, match=f"{message}.*after 300 events"):
        evcrisp.read(path, resolution=SIZE)
    assert evcrisp.read(path, resolution=SIZE, on_error="truncate").equals(events)
