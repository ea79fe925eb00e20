"""Facts of headers: topics, streams, clocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp.io.header_facts import (
    camera_name,
    clock_text,
    header_facts,
    serial_number,
    stream_lines,
    utc_time,
)


@settings(deadline=None)
@given(st.integers(946_684_800_000_000, 4_102_444_799_999_999))
def test_unix_time_is_written_to_the_microsecond(t_us):
    expected = str(np.datetime64(t_us, "us"))
    assert utc_time(t_us) == f"{expected}Z"


@pytest.mark.parametrize("t_us", [-1, 0, 10**12, 946_684_799_999_999, 4_102_444_800_000_000])
def test_time_since_the_start_of_a_camera_is_no_date(t_us):
    assert utc_time(t_us) is None


def test_second_stream_of_events_is_not_read():
    stream = {"type": "EVTS", "name": "events", "resolution": [8, 4]}
    metadata = {
        "event_stream_read": 0,
        "streams": [{"id": 0, **stream}, {"id": 4, **stream, "resolution": None}],
    }
    assert stream_lines(metadata) == ["0: events (EVTS) 8x4 px", "4: events (EVTS), not read"]


def test_clock_of_a_sensor_has_the_time_of_its_first_message():
    metadata = {"clock": "sensor", "first_stamp_us": 1_675_956_550_318_678}
    assert clock_text(metadata, 12) == (
        "clock of the sensor; first message at 2023-02-09T15:29:10.318678Z"
    )
    assert clock_text({"clock": "sensor"}, 12) == "clock of the sensor"
    assert clock_text({}, None) == ""


def test_empty_metadata_states_nothing():
    facts = header_facts({}, None, None)
    assert facts.pop("contents") == []
    assert set(facts.values()) == {None}
    assert camera_name({"source": "", "chip": "DVS128"}) == "DVS128"
    assert serial_number({"source": "my_camera"}) == ""
