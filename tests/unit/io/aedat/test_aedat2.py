"""AEDAT 2.0: words built from the published bit layout."""

import math
import struct

import numpy as np
import pytest

import evcrisp
from evcrisp import FormatError
from evcrisp.core.sensor_data import TriggerKind

FIRST = b"#!AER-DAT2.0\r\n# This is a raw AE data file - do not edit\r\n"
DAVIS240 = FIRST + b"# AEChip: eu.seebetter.ini.chips.davis.DAVIS240C\r\n"
DAVIS346 = FIRST + b"# AEChip: eu.seebetter.ini.chips.davis.Davis346B\r\n"
DVS128 = FIRST + b"# AEChip: ch.unizh.ini.jaer.chip.retina.DVS128\r\n"


def dvs128(t, x, y, p):
    """Pack as jAER: x counts from the right, y from the bottom, a cleared bit 0 is ON."""
    return struct.pack(">II", (127 - y) << 8 | (127 - x) << 1 | (1 - p), t)


def davis(t, x, y, p, size=(240, 180)):
    address = (size[1] - 1 - y) << 22 | (size[0] - 1 - x) << 12 | p << 11
    return struct.pack(">II", address, t)


def imu_words(t, values):
    return b"".join(
        struct.pack(">II", 0x80000C00 | code << 28 | (value & 0xFFFF) << 12, t)
        for code, value in enumerate(values)
    )


def read(tmp_path, content, **options):
    path = tmp_path / "a.aedat"
    path.write_bytes(content)
    return evcrisp.read(path, **options)


def test_dvs128_words_become_events(tmp_path):
    content = DVS128 + dvs128(10, 0, 0, 1) + dvs128(11, 127, 0, 0) + dvs128(12, 5, 100, 1)
    events = read(tmp_path, content)
    assert events.resolution == (128, 128)
    assert list(zip(events.x, events.y, events.t, events.p, strict=True)) == [
        (0, 0, 10, True),
        (127, 0, 11, False),
        (5, 100, 12, True),
    ]


@pytest.mark.parametrize(("header", "size"), [(DAVIS240, (240, 180)), (DAVIS346, (346, 260))])
def test_davis_words_become_events(tmp_path, header, size):
    rng = np.random.default_rng(2)
    rows = [(t, int(rng.integers(size[0])), int(rng.integers(size[1])), t % 2) for t in range(50)]
    events = read(tmp_path, header + b"".join(davis(*row, size) for row in rows))
    assert events.resolution == size
    assert list(zip(events.t, events.x, events.y, events.p, strict=True)) == rows


def test_times_are_unsigned_and_wraps_are_followed(tmp_path):
    times = [2**31 - 1, 2**31, 2**32 - 1, 0, 5, 2**31 + 4, 2**32 - 2, 1]
    events = read(tmp_path, DVS128 + b"".join(dvs128(t, 1, 1, 1) for t in times))
    wraps = [0, 0, 0, 1, 1, 1, 1, 2]
    assert events.t.tolist() == [t + w * 2**32 for t, w in zip(times, wraps, strict=True)]


def test_small_step_back_in_time_is_reported_even_across_a_wrap(tmp_path):
    good = dvs128(2**32 - 1, 1, 1, 1) + dvs128(3, 1, 1, 1)
    for late in (dvs128(2, 1, 1, 1), dvs128(2**32 - 2, 1, 1, 1)):
        with pytest.raises(FormatError, match="time decreases.*after 2 events"):
            read(tmp_path, DVS128 + good + late)


def test_wraps_are_followed_across_blocks(tmp_path, monkeypatch):
    times = [2**32 - 6 + 3 * k for k in range(20)]
    content = DVS128 + b"".join(dvs128(t % 2**32, 1, 1, 1) for t in times)
    monkeypatch.setattr("evcrisp.io.byte_blocks.PACKET_EVENTS", 3)
    assert read(tmp_path, content).t.tolist() == times


def test_imu_samples_are_scaled_and_incomplete_ones_left_out(tmp_path):
    sample = [4096, -4096, 2048, 340, 328, -328, 3280]
    words = imu_words(5, sample) + davis(6, 1, 1, 1) + imu_words(7, sample[:4])
    words += imu_words(8, sample) + davis(9, 1, 1, 1) + imu_words(10, sample[:6])
    (tmp_path / "a.aedat").write_bytes(DAVIS240 + words)
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        imu = opened.imu()
        assert opened.read().t.tolist() == [6, 9]
    assert imu.t.tolist() == [5, 8]
    np.testing.assert_allclose(imu.accel_m_s2[0], np.array([1, -1, 0.5]) * 9.80665)
    np.testing.assert_allclose(imu.gyro_rad_s[0], np.array([10, -10, 100]) * math.pi / 180)
    assert imu.temperature_c.tolist() == [36.0, 36.0]


def test_scales_of_the_imu_are_taken_from_the_header(tmp_path):
    scales = b'# <entry key="ImuGyroScale" value="GyroFullScaleDegPerSec250"/>\r\n'
    scales += b'# <entry key="ImuAccelScale" value="ImuAccelScaleG4"/>\r\n'
    (tmp_path / "a.aedat").write_bytes(DAVIS240 + scales + imu_words(1, [8192, 0, 0, 0, 131, 0, 0]))
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        imu = opened.imu()
    assert imu.accel_m_s2[0, 0] == pytest.approx(9.80665)
    assert imu.gyro_rad_s[0, 0] == pytest.approx(math.pi / 180)


def test_words_of_the_frame_sensor_are_skipped(tmp_path):
    aps = b"".join(struct.pack(">II", 0x80000000 | cycle << 10 | 512, 3) for cycle in (0, 1))
    assert read(tmp_path, DAVIS240 + davis(1, 2, 3, 1) + aps + davis(4, 2, 3, 0)).t.tolist() == [
        1,
        4,
    ]


def test_external_signals_are_triggers_and_not_events(tmp_path):
    marks = b"".join(struct.pack(">II", 0x400 + code, code) for code in (0, 2, 3, 4))
    (tmp_path / "a.aedat").write_bytes(DAVIS240 + marks + davis(9, 1, 1, 1))
    with evcrisp.open(tmp_path / "a.aedat") as opened:
        triggers = opened.triggers()
        assert len(opened.read()) == 1
    edges = [
        TriggerKind.RISING_EDGE,
        TriggerKind.FALLING_EDGE,
        TriggerKind.RISING_EDGE,
        TriggerKind.PULSE,
    ]
    assert triggers.kind.tolist() == edges
    (tmp_path / "b.aedat").write_bytes(DVS128 + struct.pack(">II", 0x8000, 5) + dvs128(6, 1, 1, 1))
    with evcrisp.open(tmp_path / "b.aedat") as opened:
        assert opened.triggers().t.tolist() == [5]
        assert opened.read().t.tolist() == [6]
        assert opened.imu() is None


def test_addresses_decide_without_a_chip_in_the_header(tmp_path):
    assert read(tmp_path, FIRST + dvs128(1, 3, 4, 1)).resolution == (128, 128)
    small = read(tmp_path, FIRST + davis(1, 3, 4, 1) + davis(2, 0, 0, 0))
    assert small.resolution == (240, 180)
    assert small.x.tolist() == [3, 0]
    big = read(tmp_path, FIRST + davis(1, 345, 259, 1, (346, 260)) + davis(2, 0, 0, 0, (346, 260)))
    assert big.resolution == (346, 260)
    assert big.y.tolist() == [259, 0]
    dvs = FIRST + b"# HardwareInterface: DVS128-V1 0249\r\n"
    assert read(tmp_path, dvs + davis(1, 3, 4, 1)).resolution == (128, 128)


def test_unknown_chips_are_refused(tmp_path):
    header = FIRST + b"# AEChip: ch.unizh.ini.jaer.chip.cochlea.CochleaAMS1c\r\n"
    with pytest.raises(FormatError, match="unknown chip 'CochleaAMS1c'"):
        read(tmp_path, header + bytes(8))


def test_first_word_that_looks_like_a_header_line_is_data(tmp_path):
    word = struct.pack(">II", 0x23002800, 0x0A)  # begins with # and ends with a newline
    events = read(tmp_path, DAVIS240 + word + davis(11, 1, 1, 1))
    assert events.t.tolist() == [10, 11]


def test_header_without_words_is_a_recording_without_events(tmp_path):
    assert len(read(tmp_path, DVS128)) == 0


@pytest.mark.parametrize("n_lost", range(1, 8))
def test_cut_word_is_an_error_after_the_others(tmp_path, n_lost):
    content = DVS128 + b"".join(dvs128(t, 1, 1, 1) for t in range(20))
    with pytest.raises(FormatError, match="the file ends within an event.*after 19 events"):
        read(tmp_path, content[:-n_lost])
    assert len(read(tmp_path, content[:-n_lost], on_error="truncate")) == 19


def test_cut_file_keeps_its_imu_samples_and_triggers_in_truncate_mode(tmp_path):
    content = DAVIS240 + imu_words(1, [1] * 7) + struct.pack(">II", 0x400, 2) + davis(3, 1, 1, 1)
    (tmp_path / "a.aedat").write_bytes(content[:-3])
    with evcrisp.open(tmp_path / "a.aedat", on_error="truncate") as opened:
        assert len(opened.imu()) == 1
        assert len(opened.triggers()) == 1
    with (
        evcrisp.open(tmp_path / "a.aedat") as opened,
        pytest.raises(FormatError, match="within an event"),
    ):
        opened.imu()


def test_addresses_outside_the_sensor_are_reported(tmp_path):
    word = struct.pack(">II", 400 << 22 | 300 << 12, 1)
    with pytest.raises(FormatError, match="lies outside the sensor of 240x180"):
        read(tmp_path, DAVIS240 + word)


@pytest.mark.parametrize("first", [b"#!AER-DAT1.0\r\n", b"#!AER-DAT3.0\r\n", b"", b"rubbish"])
def test_other_versions_are_refused(tmp_path, first):
    (tmp_path / "a.aedat").write_bytes(first + bytes(16))
    with pytest.raises(FormatError, match="the file must start with '#!AER-DAT2.0'"):
        evcrisp.read(tmp_path / "a.aedat", format="aedat2")


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("davis", [False, True])
def test_part_skips_blocks_and_counts_wraps(davis, wraps, tmp_path, monkeypatch):
    from evcrisp.io.aedat import aedat2

    n, step = 20_000, 1_000_000 if wraps else 100  # five hours, or two seconds
    t = 7_000 + step * np.arange(n)
    addresses = (np.arange(n) % 100) << 12 | (np.arange(n) % 90) << 22 if davis else 2 * (t % 64)
    words = np.stack([addresses, t % 2**32], axis=1).astype(">u4")
    chip = b"eu.seebetter.ini.chips.davis.DAVIS240C" if davis else b"ch.DVS128"
    path = tmp_path / "a.aedat"
    path.write_bytes(b"#!AER-DAT2.0\r\n# AEChip: " + chip + b"\r\n" + words.tobytes())
    monkeypatch.setattr(aedat2, "_BLOCK_BYTES", 8 * 16)
    monkeypatch.setattr(aedat2, "_SAMPLE_BYTES", 8 * 4)
    starts = []
    real = aedat2.read_records
    monkeypatch.setattr(
        aedat2, "read_records", lambda path, start, n: starts.append(start) or real(path, start, n)
    )
    whole = evcrisp.read(path)
    assert whole.t.tolist() == t.tolist()
    with evcrisp.open(path, start_us=15_000 * step, duration_us=100 * step) as opened:
        assert opened.read().equals(whole[15_000:15_100])
    assert starts[-1] - starts[0] == (15_000 - 1) // 16 * 16 * 8


@pytest.mark.parametrize(
    ("lines", "date", "serial"),
    [
        (
            b"# created Wed Sep 16 12:09:08 CEST 2015\r\n# HardwareInterface: DAVIS FX2 84010032\r\n",
            "Wed Sep 16 12:09:08 CEST 2015",
            "84010032",
        ),
        (
            b"# Creation date: Thu Dec 06 16:48:28 EST 2018\r\n# Creation time: System.currentTimeMillis() 15\r\n"
            b"# HardwareInterface: DVS128-V1 0249\r\n",
            "Thu Dec 06 16:48:28 EST 2018",
            "0249",
        ),
        (b"# HardwareInterface: Davis USB\r\n", None, None),
        (b"", None, None),
    ],
)
def test_header_states_date_and_serial_number(tmp_path, lines, date, serial):
    path = tmp_path / "a.aedat"
    path.write_bytes(DAVIS240 + lines + davis(5, 1, 2, 1))
    with evcrisp.open(path) as recording:
        assert recording.metadata.get("date") == date
        assert recording.metadata.get("serial_number") == serial
