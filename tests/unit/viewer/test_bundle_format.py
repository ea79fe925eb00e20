"""Binary format of events and results."""

import numpy as np
import pytest

from evcrisp import ConfigError, Events
from evcrisp.viewer.bundle_format import (
    delta_encoded,
    pack_pixels,
    read_bundle,
    unpack_events,
    write_bundle,
)


@pytest.mark.parametrize("has_labels", [True, False])
def test_pack_and_unpack_preserve_events(make_events, has_labels):
    events = make_events(500, resolution=(1280, 720))
    if has_labels:
        events = events.with_signal(np.arange(500) % 3 == 0)
    back = unpack_events(pack_pixels(events), events.t, events.resolution, has_labels=has_labels)
    assert back.equals(events)


def test_largest_sensor_is_packed_and_a_larger_one_raises():
    corner = Events(x=[32_767], y=[32_767], t=[0], p=[0], resolution=(32_768, 32_768))
    assert unpack_events(pack_pixels(corner), corner.t, corner.resolution, has_labels=False).equals(
        corner
    )
    with pytest.raises(ConfigError, match="up to 32768 px"):
        pack_pixels(Events.empty((32_769, 10)))


@pytest.mark.parametrize("compact", [False, True])
def test_write_and_read_preserve_a_bundle(compact):
    arrays = {
        "dt": np.array([3, 3, 10, 2**32 - 1], np.uint32),
        "shift_x": np.array([65_535, 0, 7], np.uint16),
        "flags": np.array([1, 0, 1, 1, 0], np.uint8),
        "rows": np.array([1.5, -2.25], np.float32),
        "none": np.zeros(0, np.uint8),
    }
    data = write_bundle({"name": "ö", "n": 3}, arrays)
    facts, back = read_bundle(delta_encoded(data) if compact else data)
    assert facts == {"name": "ö", "n": 3}
    assert {name: array.tolist() for name, array in back.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


def test_unsupported_types_and_foreign_data_raise():
    with pytest.raises(TypeError, match="f8"):
        write_bundle({}, {"a": np.zeros(2)})
    with pytest.raises(ValueError, match="not a bundle"):
        read_bundle(b"something else")
