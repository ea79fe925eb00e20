"""AEDAT4 files that are cut, flipped or forged: good events, or an error with its byte."""

import struct

import lz4.frame
import numpy as np
import pytest
import zstandard

import evcrisp
from evcrisp import FormatError
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.aedat import aedat4_writer
from evcrisp.io.aedat.aedat4_writer import build_header, build_xml

pytestmark = pytest.mark.slow

EVENT_STREAM = ((0, "EVTS", "events"),)
PLAIN = struct.pack("<I4s2x3HiI", 16, b"EVTS", 6, 8, 4, 6, 4)


def packets_of(path):
    """Return (byte, size) of the packets, and the byte of the data table."""
    data = path.read_bytes()
    at = 18 + struct.unpack_from("<I", data, 14)[0]
    table = struct.unpack_from("<q", data, 18 + 36)[0]
    found = []
    while at < table:
        size = struct.unpack_from("<i", data, at + 4)[0]
        found.append((at, 8 + size))
        at += 8 + size
    return found, table


@pytest.fixture
def sample(make_events, tmp_path, monkeypatch):
    """Return a function that writes 2000 events in packets of 250."""
    monkeypatch.setattr(aedat4_writer, "_EVENTS_PER_PACKET", 250)
    events = make_events(2000)

    def make(compression="lz4"):
        evcrisp.write(tmp_path / "good.aedat4", events, compression=compression, overwrite=True)
        return tmp_path / "good.aedat4", events

    return make


def read_both(path):
    """Return the events and the error of both modes, which must agree."""
    error = None
    try:
        events = evcrisp.read(path)
    except FormatError as caught:
        error = caught
    try:
        with evcrisp.open(path, on_error="truncate") as opened:
            kept = opened.read()
            damage = opened.damage
    except FormatError:  # nothing can be kept without a header
        assert error is not None
        return None, error
    if error is None:
        assert damage is None
        assert kept.equals(events)
    else:
        assert (damage.reason, damage.offset) == (error.reason, error.offset)
        assert len(kept) == error.n_before
    return kept, error


def columns_equal(part, whole):
    return all(np.array_equal(getattr(part, c), getattr(whole, c)[: len(part)]) for c in "xytp")


@pytest.mark.parametrize("compression", ["lz4", "zstd", "none"])
def test_cut_file_gives_all_whole_packets(compression, sample, tmp_path):
    good, events = sample(compression)
    packets, table = packets_of(good)
    data = good.read_bytes()
    cut = tmp_path / "cut.aedat4"
    for end in np.linspace(20, len(data) - 1, 80).astype(int).tolist():
        cut.write_bytes(data[:end])
        kept, error = read_both(cut)
        if end < packets[0][0]:
            assert kept is None
            continue
        whole = sum(at + size <= end for at, size in packets)
        assert len(kept) == 250 * whole
        assert columns_equal(kept, events)
        is_between = end in {at for at, _ in packets} or end >= table
        assert (error is None) == is_between
        if error is not None:
            assert error.offset == packets[whole][0]


@pytest.mark.parametrize("compression", ["lz4", "zstd", "none"])
def test_packets_before_a_flipped_bit_are_kept(compression, sample, tmp_path):
    good, events = sample(compression)
    packets, table = packets_of(good)
    data = good.read_bytes()
    rng = np.random.default_rng(1)
    flipped = tmp_path / "flipped.aedat4"
    for place in rng.integers(packets[0][0], len(data), 250).tolist():
        copy = bytearray(data)
        copy[place] ^= 1 << int(rng.integers(0, 8))
        flipped.write_bytes(copy)
        kept, error = read_both(flipped)
        n_before = 250 * sum(at + size <= place for at, size in packets)
        assert len(kept) >= n_before
        assert columns_equal(kept[:n_before], events)
        if place >= table:
            assert error is None
            assert columns_equal(kept, events)
        if compression == "zstd" and error is None:
            assert kept.equals(events)  # its checksum finds everything


def test_flipped_header_is_read_or_refused(sample, tmp_path):
    good, _ = sample()
    first, _ = packets_of(good)[0][0]
    data = good.read_bytes()
    flipped = tmp_path / "flipped.aedat4"
    rng = np.random.default_rng(2)
    for place in range(0, first, 3):
        copy = bytearray(data)
        copy[place] ^= 1 << int(rng.integers(0, 8))
        flipped.write_bytes(copy)
        error = None
        try:
            with evcrisp.open(flipped, format="aedat4", on_error="truncate") as opened:
                opened.read()
        except FormatError as caught:
            error = caught
        assert error is None or str(flipped) in str(error)


@pytest.mark.parametrize("position", [-1, 0, 5, 10**15, "packet", "inside"])
def test_data_table_is_not_needed(position, sample, tmp_path):
    good, events = sample()
    packets, table = packets_of(good)
    data = bytearray(good.read_bytes())
    position = {"packet": packets[3][0], "inside": packets[3][0] + 9}.get(position, position)
    struct.pack_into("<q", data, 18 + 36, position)
    for name, end in (("with its table", len(data)), ("killed before the table", table)):
        path = tmp_path / f"{name}.aedat4"
        path.write_bytes(data[:end])
        with evcrisp.open(path) as opened:
            assert opened.metadata["data_table"] is False
            assert opened.read().equals(events)


@pytest.mark.parametrize(
    ("what", "shift"),
    [
        ("n_elements", -1),
        ("n_elements", 1),
        ("n_elements", 10**6),
        ("n_elements", 2**40),
        ("position", 1),
        ("packet", (1, 0)),
        ("packet", (0, -1)),
    ],
)
def test_wrong_data_table_changes_nothing(what, shift, make_events, tmp_path, monkeypatch):
    events = make_events(20_000)
    honest = aedat4_writer.build_tables

    def lying(identifier, layout, columns, absent=()):
        lie = {name: np.array(column) for name, column in columns.items()}
        lie[what][1] += shift
        return honest(identifier, layout, lie)

    monkeypatch.setattr(aedat4_writer, "build_tables", lying)
    evcrisp.write(tmp_path / "a.aedat4", events)
    assert evcrisp.read(tmp_path / "a.aedat4").equals(events)


def forged(path, content, *, codec=None, xml=None, streams=EVENT_STREAM, stream=0, size=None):
    """Write a file whose second packet has this content; return the byte of that packet."""
    encode = {None: bytes, "lz4": lz4.frame.compress, "zstd": zstandard.compress}[codec]
    code = {None: 0, "lz4": 1, "zstd": 3}[codec]
    if xml is None:
        xml = build_xml(streams, (346, 260), camera="cam", compression="NONE")
    first = encode(good_content())
    head = build_header(code, xml, -1) + struct.pack("<ii", 0, len(first)) + first
    size = len(content) if size is None else size
    path.write_bytes(head + struct.pack("<ii", stream, size) + content)
    return len(head)


def good_content(n=10, polarity=1, x=5, t=None):
    record = np.zeros((n, 16), np.uint8)
    record[:, :8] = (
        (np.arange(n) if t is None else np.asarray(t)).astype("<i8")[:, None].view(np.uint8)
    )
    record[:, 8:12] = np.array([x, 7], "<u2").view(np.uint8)
    record[:, 12] = polarity
    return struct.pack("<I", 28 + 16 * n) + PLAIN + struct.pack("<I", n) + record.tobytes()


def patched(place, value):
    content = bytearray(good_content(t=np.arange(100, 110)))
    struct.pack_into("<I", content, place, value)
    return bytes(content)


BAD_CONTENT = {
    "empty": (b"", "an offset inside the packet is wrong"),
    "short": (b"\0" * 11, "an offset inside the packet is wrong"),
    "wrong identifier": (patched(8, 0x12345678), "expected EVTS data"),
    "root beyond": (patched(4, 2**31), "an offset inside the packet is wrong"),
    "vtable before": (patched(20, 0x7FFFFFFF), "an offset inside the packet is wrong"),
    "vtable beyond": (patched(20, 0x80000001), "an offset inside the packet is wrong"),
    "odd vtable": (patched(14, 0x00080007), "a wrong size of 7 bytes"),
    "huge vtable": (patched(14, 0x0008FFFE), "an offset inside the packet is wrong"),
    "vector beyond": (patched(24, 2**31), "an offset inside the packet is wrong"),
    "too many events": (patched(28, 11), "states 11 events but has 192 bytes"),
    "absurdly many events": (patched(28, 2**32 - 1), "states 4,294,967,295 events"),
    "polarity": (good_content(t=np.arange(100, 110), polarity=2), "a polarity other than 0 and 1"),
}


@pytest.mark.parametrize("name", BAD_CONTENT)
def test_bad_packets_are_refused_after_the_good_ones(name, tmp_path):
    content, message = BAD_CONTENT[name]
    at = forged(tmp_path / "a.aedat4", content)
    kept, error = read_both(tmp_path / "a.aedat4")
    assert len(kept) == 10
    assert message in error.reason
    assert error.offset == at


def test_events_before_a_bad_polarity_are_kept(tmp_path):
    polarity = np.array([0, 1, 1, 200, 1])
    at = forged(tmp_path / "a.aedat4", good_content(5, polarity, t=np.arange(100, 105)))
    kept, error = read_both(tmp_path / "a.aedat4")
    assert kept.t.tolist() == [*range(10), 100, 101, 102]
    assert error.offset == at


@pytest.mark.parametrize(
    ("stream", "size", "message"),
    [
        (0, -1, "a packet has the negative size -1"),
        (0, 2**31 - 1, "a packet declares 2,147,483,647 bytes but the file ends after 192"),
        (9, None, "a packet belongs to stream 9; the header declares [0]"),
        (-5, None, "a packet belongs to stream -5"),
    ],
)
def test_impossible_packet_headers_are_refused(stream, size, message, tmp_path):
    at = forged(tmp_path / "a.aedat4", good_content(), stream=stream, size=size)
    kept, error = read_both(tmp_path / "a.aedat4")
    assert len(kept) == 10
    assert message in error.reason
    assert error.offset == at


def test_recording_checks_coordinates_and_order(tmp_path):
    forged(tmp_path / "a.aedat4", good_content(x=65_535, t=np.arange(100, 110)))
    with pytest.raises(FormatError, match="x=65535, y=7 lies outside the sensor of 346x260"):
        evcrisp.read(tmp_path / "a.aedat4")
    forged(tmp_path / "a.aedat4", good_content(t=[3, 2, 1, 0, 1, 2, 3, 4, 5, 6]))
    with pytest.raises(FormatError, match="time decreases from 9 to 3 us"):
        evcrisp.read(tmp_path / "a.aedat4")


BOMB = bytes(1 << 28)


@pytest.mark.parametrize(
    ("codec", "content"),
    [
        ("lz4", lz4.frame.compress(BOMB, store_size=True)),
        ("lz4", lz4.frame.compress(BOMB, store_size=False)),
        ("zstd", zstandard.ZstdCompressor().compress(BOMB)),
        ("zstd", zstandard.ZstdCompressor(write_content_size=False).compress(BOMB)),
    ],
)
def test_compression_bombs_are_refused(codec, content, tmp_path):
    at = forged(tmp_path / "a.aedat4", content, codec=codec)
    kept, error = read_both(tmp_path / "a.aedat4")
    assert len(kept) == 10
    assert "expands to more than" in error.reason
    assert error.offset == at


def test_impossible_declared_size_is_refused(tmp_path):
    content = bytearray(lz4.frame.compress(good_content(), store_size=True))
    struct.pack_into("<Q", content, 6, 2**60)
    at = forged(tmp_path / "a.aedat4", bytes(content), codec="lz4")
    kept, error = read_both(tmp_path / "a.aedat4")
    assert len(kept) == 10
    assert error.offset == at


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_highly_compressible_events_are_read(codec, tmp_path):
    n = 1 << 21
    encode = {"lz4": lz4.frame.compress, "zstd": zstandard.compress}[codec]
    forged(tmp_path / "a.aedat4", encode(good_content(n, t=np.full(n, 50))), codec=codec)
    assert len(evcrisp.read(tmp_path / "a.aedat4")) == n + 10


XML = build_xml(EVENT_STREAM, (346, 260), camera="cam", compression="NONE").decode()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</dv>", "", "the XML is malformed"),
        (">346<", ">0<", "impossible sensor size '0' x '260'"),
        (">346<", ">many<", "impossible sensor size 'many' x '260'"),
        (">346<", f">{'9' * 5000}<", "impossible sensor size"),
        ('<node name="0"', '<node name="zero"', "a stream id must be a whole number; found 'zero'"),
        ("<dv", "<!DOCTYPE a [<!ENTITY b 'c'>]><dv", "declarations, which are not read"),
        ("cam", "c\0m", "the XML is malformed"),
    ],
)
def test_impossible_headers_are_refused(old, new, message, tmp_path):
    forged(tmp_path / "a.aedat4", good_content(), xml=XML.replace(old, new).encode())
    with pytest.raises(FormatError, match=message):
        evcrisp.read(tmp_path / "a.aedat4")


def test_headers_without_text_or_with_double_streams_are_refused(tmp_path):
    forged(tmp_path / "a.aedat4", good_content(), xml=XML.encode() + b"\xff\xfe")
    with pytest.raises(FormatError, match="the XML is malformed"):
        evcrisp.read(tmp_path / "a.aedat4")
    forged(tmp_path / "a.aedat4", good_content(), streams=EVENT_STREAM * 2)
    with pytest.raises(FormatError, match=r"stream ids occur twice: \[0, 0\]"):
        evcrisp.read(tmp_path / "a.aedat4")


@pytest.mark.parametrize("size", [0, 3, 10**6, 2**32 - 1])
def test_impossible_header_size_is_refused(size, sample, tmp_path):
    data = bytearray(sample()[0].read_bytes())
    struct.pack_into("<I", data, 14, size)
    (tmp_path / "a.aedat4").write_bytes(data)
    with pytest.raises(FormatError, match="header"):
        evcrisp.read(tmp_path / "a.aedat4")


def test_unknown_compression_is_refused(sample, tmp_path):
    data = bytearray(sample()[0].read_bytes())
    struct.pack_into("<i", data, 18 + 28, 9)
    (tmp_path / "a.aedat4").write_bytes(data)
    with pytest.raises(FormatError, match="unknown compression code 9"):
        evcrisp.read(tmp_path / "a.aedat4")


def test_missing_sensor_size_is_guessed(tmp_path, caplog):
    xml = XML
    for side in ("sizeX", "sizeY"):
        start = xml.index(f'<attr key="{side}"')
        xml = xml[:start] + xml[xml.index("</attr>", start) + 7 :]
    forged(tmp_path / "a.aedat4", good_content(t=np.arange(100, 110)), xml=xml.encode())
    assert evcrisp.read(tmp_path / "a.aedat4").resolution == (128, 128)
    assert "does not state its sensor size" in caplog.text


def write_with_sensor_data(path, make_events, compression):
    sink = aedat4_writer.Aedat4Writer(compression=compression).open(path, (346, 260))
    sink.write(make_events(100))
    t = np.arange(3000)
    sink.write_imu(Imu(t=t, gyro_rad_s=np.ones((3000, 3)), accel_m_s2=np.ones((3000, 3))))
    sink.write_triggers(
        Triggers(t=t, kind=np.ones(3000, np.uint8), channel=np.zeros(3000, np.uint8))
    )
    sink.write_frames(Frame(t=i, image=np.full((8, 8), i, np.uint8)) for i in range(5))
    sink.finish()


def test_sensor_data_of_a_cut_file_is_kept_up_to_the_cut(make_events, tmp_path):
    write_with_sensor_data(tmp_path / "a.aedat4", make_events, "none")
    packets, _ = packets_of(tmp_path / "a.aedat4")
    data = (tmp_path / "a.aedat4").read_bytes()
    cut = tmp_path / "cut.aedat4"
    expected = [(0, 0, 0), (1024, 0, 0), (2048, 0, 0), (3000, 0, 0)]
    expected += [(3000, 1024, 0), (3000, 2048, 0), (3000, 3000, 0), (3000, 3000, 1)]
    for (at, _), (n_imu, n_triggers, n_frames) in zip(packets[1:], expected, strict=False):
        cut.write_bytes(data[: at + 20])
        with evcrisp.open(cut, on_error="truncate") as opened:
            assert len(opened.imu()) == n_imu
            assert len(opened.triggers()) == n_triggers
            assert len(list(opened.frames())) == n_frames
        with (
            evcrisp.open(cut) as opened,
            pytest.raises(FormatError, match="the file ends after 12"),
        ):
            opened.imu()


def test_flipped_sensor_data_is_read_or_refused(make_events, tmp_path):
    write_with_sensor_data(tmp_path / "a.aedat4", make_events, "none")
    packets, table = packets_of(tmp_path / "a.aedat4")
    data = (tmp_path / "a.aedat4").read_bytes()
    flipped = tmp_path / "flipped.aedat4"
    rng = np.random.default_rng(3)
    places = rng.integers(packets[1][0], table, 100).tolist()
    places += [at + offset for at, _ in packets[1:] for offset in range(0, 120, 3)]
    n_refused = 0
    for place in places:
        copy = bytearray(data)
        copy[place] ^= 1 << int(rng.integers(0, 8))
        flipped.write_bytes(copy)
        for read in (
            lambda opened: opened.imu(),
            lambda opened: opened.triggers(),
            lambda opened: list(opened.frames()),
        ):
            with evcrisp.open(flipped) as opened:
                try:
                    read(opened)
                except FormatError:
                    n_refused += 1
    assert n_refused > 20


def test_bad_table_among_good_ones_is_found(make_events, tmp_path):
    write_with_sensor_data(tmp_path / "a.aedat4", make_events, "none")
    packets, _ = packets_of(tmp_path / "a.aedat4")
    data = bytearray((tmp_path / "a.aedat4").read_bytes())
    second = packets[2][0]
    struct.pack_into("<i", data, second + 8 + 32 + 4 * 1024 + 32, -(2**30))  # a table's vtable
    (tmp_path / "a.aedat4").write_bytes(data)
    message = "an offset inside the packet is wrong"
    with (
        evcrisp.open(tmp_path / "a.aedat4") as opened,
        pytest.raises(FormatError, match=message) as caught,
    ):
        opened.imu()
    assert caught.value.offset == second
    with evcrisp.open(tmp_path / "a.aedat4", on_error="truncate") as opened:
        assert len(opened.imu()) == 1024


@pytest.mark.parametrize(
    ("place", "code", "value", "message"),
    [
        (92, "b", 7, "unknown image type 7"),
        (92, "b", 16, "8x8 px, 3 x uint8, has 64 bytes"),
        (80, "h", -8, "-8x8 px"),
        (96, "I", 63, "has 63 bytes of pixels"),
        (96, "I", 2**31, "an offset inside the packet is wrong"),
    ],
)
def test_impossible_frames_are_refused(place, code, value, message, make_events, tmp_path):
    write_with_sensor_data(tmp_path / "a.aedat4", make_events, "none")
    packets, _ = packets_of(tmp_path / "a.aedat4")
    data = bytearray((tmp_path / "a.aedat4").read_bytes())
    third = packets[-3][0]
    struct.pack_into(f"<{code}", data, third + 8 + place, value)
    (tmp_path / "a.aedat4").write_bytes(data)
    with evcrisp.open(tmp_path / "a.aedat4") as opened:
        frames = opened.frames()
        assert [next(frames).t, next(frames).t] == [0, 1]
        with pytest.raises(FormatError, match=message) as caught:
            next(frames)
    assert caught.value.offset == third


@pytest.mark.parametrize("name", ["ts", "hotpixel", "density"])
def test_sign_of_the_first_time_is_damage_for_filters(sample, name, tmp_path):
    path, _ = sample("none")
    data = bytearray(path.read_bytes())
    at = data.index(struct.pack("<q", evcrisp.read(path).t[0]), packets_of(path)[0][0][0])
    data[at + 7] ^= 0x80
    path.write_bytes(data)
    with pytest.raises(FormatError, match="impossible time -92"):
        evcrisp.filter_recording(path, tmp_path / "out.aedat4", name)
    with evcrisp.open(path, on_error="truncate") as opened:
        assert len(opened.read()) == 0
        assert "impossible time" in str(opened.damage)
