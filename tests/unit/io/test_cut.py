"""Cuts of a recording: limits, regions, sensor data, damage, messages."""

import logging
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, FormatError
from evcrisp.core.live_area import Box
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.io.cut import Cut, TimeSpan, cropped_frame
from evcrisp.io.protocol import Packet, Source
from evcrisp.io.recording import Recording


def packet(t, x=None, offset=0):
    t = np.asarray(t, np.int64)
    x = np.zeros(t.size, np.uint16) if x is None else np.asarray(x, np.uint16)
    return Packet(x, np.zeros(t.size, np.uint16), t, np.ones(t.size, np.bool_), offset)


@dataclass(slots=True, kw_only=True)
class ListSource(Source):
    items: list
    first_item: int = 0
    skips: int = 0  # number of items that a source of a span skips
    opened: list = field(default_factory=list)

    def packets(self):
        self.opened.append(self.first_item)
        for item in self.items[self.first_item :]:
            if isinstance(item, Exception):
                raise item
            yield item

    def between(self, t_start, t_end):
        return replace(self, first_item=self.skips)

    def imu(self):
        t = np.arange(0, 100, 10)
        vectors = np.arange(30.0).reshape(10, 3)
        return Imu(t=t, gyro_rad_s=vectors, accel_m_s2=-vectors, temperature_c=t + 0.5)

    def triggers(self):
        t = np.arange(5, 100, 10)
        return Triggers(t=t, kind=np.ones(10, np.uint8), channel=np.arange(10, dtype=np.uint8))

    def frames(self):
        for t in range(0, 100, 20):
            image = np.arange(64).reshape(8, 8) + t
            yield Frame(t=t, image=image, exposure_start=t - 1, exposure_end=t + 1)


class ListReader:
    name, title, suffixes = "list", "a list", (".list",)
    standard_sizes = ((8, 8), (100, 50))

    def __init__(self, items, resolution, skips):
        self.source = ListSource(resolution=resolution, items=items, skips=skips)

    def open(self, path):
        return self.source


def recording(*items, resolution=(8, 8), skips=0, on_error="raise", **cut):
    reader = ListReader(items, resolution, skips)
    opened = Recording(Path("a.list"), reader, on_error=on_error, cut=Cut(**cut))
    opened.reader = reader
    return opened


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        ({"start_us": -1}, "`start_us` must be a whole number, 0 or more; got -1"),
        ({"start_us": 1.5}, "`start_us` must be a whole number"),
        ({"duration_us": 0}, "`duration_us` must be a positive whole number; got 0"),
        ({"duration_us": True}, "`duration_us` must be a positive whole number"),
        ({"roi": (1, 2, 3)}, r"`roi` must be \(x, y, width, height\)"),
        ({"roi": (0, 0, 0, 4)}, "both sides 1 or more"),
        ({"roi": (-1, 0, 4, 4)}, "x and y 0 or more"),
        ({"roi": (0, 65_000, 4, 600)}, "up to 65536"),
        ({"roi": (0, 0, 4.5, 4)}, "`roi` must be"),
        ({"roi": 7}, "`roi` must be"),
    ],
)
def test_impossible_cuts_are_refused(cut, message):
    with pytest.raises(ConfigError, match=message):
        Cut(**cut)


def test_numbers_of_numpy_are_accepted_and_facts_are_json_types():
    cut = Cut(start_us=np.int64(5), duration_us=np.int32(7), roi=np.array([1, 2, 3, 4]))
    assert cut.facts() == {"start_us": 5, "duration_us": 7, "roi": [1, 2, 3, 4]}
    assert [type(v) for v in (cut.start_us, cut.duration_us, cut.roi[0])] == [int] * 3
    assert Cut().facts() is None


def test_start_counts_from_the_first_event_and_the_end_is_excluded():
    opened = recording(
        packet([100, 109, 110]), packet([110, 119, 120]), start_us=10, duration_us=10
    )
    assert opened.read().t.tolist() == [110, 110, 119]
    assert opened.cut.span(100) == TimeSpan(110, 120)


def test_region_is_moved_to_the_corner_and_becomes_the_sensor():
    opened = recording(packet([1, 2, 3, 4], x=[1, 2, 5, 6]), roi=(2, 0, 4, 3))
    events = opened.read()
    assert (events.x.tolist(), events.t.tolist(), events.resolution) == ([0, 3], [2, 3], (4, 3))
    assert (opened.resolution, opened.sensor_size) == ((4, 3), (8, 8))


@pytest.mark.parametrize(
    ("roi", "remedy"),
    [
        ((6, 0, 4, 4), "The part on the sensor is 6,0,2,4"),
        ((0, 7, 2, 2), "The part on the sensor is 0,7,2,1"),
        ((8, 0, 1, 1), "The sensor has columns 0 to 7 and rows 0 to 7"),
        ((0, 99, 1, 1), "The sensor has columns 0 to 7"),
    ],
)
def test_region_beyond_the_sensor_is_refused(roi, remedy):
    with pytest.raises(ConfigError, match=f"must lie on the sensor of 8x8 px.*{remedy}"):
        recording(packet([1]), roi=roi)


def test_region_needs_no_scan_of_a_file_without_a_size(caplog):
    opened = recording(packet([1, 2], x=[1, 90]), resolution=None, roi=(80, 0, 20, 20))
    assert opened.read().x.tolist() == [10]
    assert "does not state its sensor size" not in caplog.text


def test_size_of_a_file_without_one_is_that_of_all_events():
    items = packet([1, 2], x=[1, 2]), packet([50], x=[90])
    whole, part = (
        recording(*items, resolution=None),
        recording(*items, resolution=None, duration_us=10),
    )
    assert part.read().resolution == whole.read().resolution == (100, 50)
    assert len(part.read()) == 2


def test_start_after_the_last_event_is_an_error():
    message = (
        r"`start_us` of 2 s lies after the last event: a.list ends 1.5 s after its first event\."
    )
    opened = recording(packet([10, 1_500_010]), start_us=2_000_000)
    with pytest.raises(EventDataError, match=message):
        opened.read()
    with pytest.raises(EventDataError, match=message):
        list(opened.chunks())


def test_start_at_the_last_event_keeps_it():
    assert recording(packet([10, 20]), start_us=10).read().t.tolist() == [20]
    with pytest.raises(EventDataError, match="lies after the last event"):
        recording(packet([10, 20]), start_us=11).read()


def test_recording_without_events_has_none_in_every_part(caplog):
    opened = recording(packet([]), start_us=5, duration_us=5, roi=(0, 0, 2, 2))
    assert (len(opened.read()), opened.read().resolution) == (0, (2, 2))
    assert len(opened.imu()) == 10  # without a first event, there is no time to count from
    assert not caplog.records


def test_part_without_events_gives_a_warning(caplog):
    assert len(recording(packet([0, 100]), start_us=10, duration_us=5).read()) == 0
    assert len(recording(packet([0], x=[7]), roi=(0, 0, 2, 2)).read()) == 0
    assert caplog.text.count("no events in the part that was chosen") == 2


def test_limits_beyond_64_bits_keep_all():
    t = [2**62 - 10, 2**62 - 2]
    opened = recording(packet(t), duration_us=2**70)
    assert opened.read().t.tolist() == t


def test_sensor_data_are_cut_to_the_same_time():
    opened = recording(packet([20, 60]), start_us=10, duration_us=30)  # 30 to 59
    imu, triggers = opened.imu(), opened.triggers()
    assert imu.t.tolist() == [30, 40, 50]
    assert imu.gyro_rad_s.tolist() == opened.reader.source.imu().gyro_rad_s[3:6].tolist()
    assert imu.temperature_c.tolist() == [30.5, 40.5, 50.5]
    assert imu.magnetic_ut is None
    assert (triggers.t.tolist(), triggers.channel.tolist()) == ([35, 45, 55], [3, 4, 5])
    assert [frame.t for frame in opened.frames()] == [40]


def test_sensor_data_of_another_clock_are_cut_by_it():
    opened = recording(packet([20, 60]), start_us=10, duration_us=30)
    opened.reader.source.sensor_clock_offset = 20
    assert opened.imu().t.tolist() == [50, 60, 70]
    assert [frame.t for frame in opened.frames()] == [60]
    assert opened.triggers().t.tolist() == [35, 45, 55]  # they are among the events


def test_frames_are_cropped_to_the_region():
    opened = recording(packet([0, 1]), roi=(2, 3, 4, 2))
    frame = next(opened.frames())
    assert frame.image.tolist() == np.arange(64).reshape(8, 8)[3:5, 2:6].tolist()
    assert (frame.position, frame.exposure_end) == ((0, 0), 1)


@pytest.mark.parametrize(
    ("roi", "position", "size"),
    [
        ((10, 10, 8, 8), (2, 1), (6, 7)),
        ((14, 13, 2, 2), (0, 0), (2, 2)),
        ((0, 0, 9, 9), None, None),
    ],
)
def test_frame_of_a_part_of_the_sensor_keeps_its_place(roi, position, size):
    frame = Frame(t=0, image=np.zeros((20, 30, 3)), position=(12, 11))
    cropped = cropped_frame(frame, Box(*roi))
    if position is None:
        assert cropped is None
    else:
        assert (cropped.position, cropped.image.shape[1::-1]) == (position, size)


def test_damage_after_the_end_is_not_read():
    items = packet([0, 5]), packet([10, 9]), FormatError("cut short")
    assert recording(*items, duration_us=10).read().t.tolist() == [0, 5]
    with pytest.raises(FormatError, match="time decreases from 10 to 9"):
        recording(*items, duration_us=11).read()


def test_damage_counts_the_events_of_the_part():
    items = packet([0, 5]), packet([10, 20], x=[7, 0]), FormatError("cut short", offset=9)
    delivered = []
    with pytest.raises(FormatError, match=r"cut short \(byte 9, after 1 event\)") as caught:
        for chunk in recording(*items, start_us=10, roi=(0, 0, 4, 4)).chunks():
            delivered += chunk.t.tolist()
    assert (caught.value.n_before, delivered) == (1, [20])


def test_damage_before_the_start_is_reported_unless_it_is_skipped(caplog):
    items = packet([0]), FormatError("cut short"), packet([10])
    with pytest.raises(FormatError, match="cut short"):
        recording(*items, start_us=5, on_error="raise").read()
    skipping = recording(packet([0]), packet([3, 2]), packet([4, 10]), start_us=5, skips=2)
    assert skipping.read().t.tolist() == [10]


def test_source_that_skips_too_much_is_read_from_the_start():
    opened = recording(packet([0]), packet([6]), packet([8, 9]), start_us=5, skips=2)
    assert opened.read().t.tolist() == [6, 8, 9]
    assert opened.reader.source.opened[-2:] == [2, 0]


def test_progress_is_the_share_of_the_duration():
    opened = recording(
        packet([0]), packet([10]), packet([40]), packet([99]), start_us=10, duration_us=40
    )
    shares = [opened.fraction_read for _ in opened.chunks()]
    assert shares == [0.0, 0.75]


def test_start_can_count_from_the_first_event_of_another_recording():
    raw, cleaned = (recording(packet(t), start_us=10) for t in ([0, 9, 15], [9, 15]))
    cleaned.count_from(raw)
    assert cleaned.read().t.tolist() == raw.read().t.tolist() == [15]


def test_part_of_a_closed_recording_is_refused():
    opened = recording(packet([0, 5]), start_us=1)
    opened.close()
    with pytest.raises(ConfigError, match="is closed"):
        opened.read()


def test_truncated_part_keeps_its_damage(caplog):
    caplog.set_level(logging.WARNING)
    opened = recording(packet([0, 5]), FormatError("cut"), start_us=5, on_error="truncate")
    assert opened.read().t.tolist() == [5]
    assert opened.imu().t.tolist() == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert "cut" in str(opened.damage)


def test_labels_and_chunks_of_a_part(make_events, tmp_path):
    events = make_events(5000)
    events = events.with_signal(events.x > 100)
    evcrisp.write(tmp_path / "a.npz", events)
    with evcrisp.open(tmp_path / "a.npz", start_us=20_000, roi=(50, 60, 200, 100)) as opened:
        chunks = list(opened.chunks(max_events=100))
        assert all(len(chunk) <= 100 for chunk in chunks)
        whole = opened.read()
    assert evcrisp.Events.concatenate(chunks).equals(whole)
    assert np.array_equal(whole.signal, whole.x + 50 > 100)
