"""Where on the sensor events occur."""

import numpy as np
import pytest

from evcrisp import Events, LiveArea
from evcrisp.core.live_area import Box, LiveAreaCounter


def region(box, resolution, n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    left, top, width, height = box
    return Events(
        x=left + rng.integers(0, width, n),
        y=top + rng.integers(0, height, n),
        t=np.arange(n),
        p=rng.integers(0, 2, n).astype(bool),
        resolution=resolution,
    )


@pytest.mark.parametrize("box", [Box(0, 0, 64, 48), Box(10, 3, 20, 9), Box(63, 47, 1, 1)])
def test_the_live_area_is_the_region_of_the_events(box):
    area = LiveArea.of(region(box, (64, 48)))
    assert area.box == box
    assert area.empty_share == pytest.approx(1.0 - box.area / (64 * 48))
    assert area.is_small == (box.area < 64 * 48)


def test_chunks_have_the_area_of_the_whole():
    events = region(Box(5, 6, 30, 20), (64, 48))
    assert LiveArea.of(events[k : k + 999] for k in range(0, len(events), 999)) == LiveArea.of(
        events
    )


def test_a_few_strays_do_not_count():
    inside = region(Box(20, 20, 16, 16), (64, 48))
    x, y = inside.x.copy(), inside.y.copy()
    x[:5], y[:5] = [0, 1, 2, 62, 63], [0, 47, 3, 40, 1]
    events = Events(x=x, y=y, t=inside.t, p=inside.p, resolution=(64, 48))
    area = LiveArea.of(events)
    assert area.box == Box(20, 20, 16, 16)
    assert len(area.crop(events)) == len(events) - 5


def test_a_crop_keeps_the_events_and_their_labels():
    events = region(Box(20, 10, 16, 12), (64, 48))
    labeled = events.with_signal(np.arange(len(events)) % 3 == 0)
    cropped = LiveArea.of(labeled).crop(labeled)
    assert cropped.resolution == (16, 12)
    np.testing.assert_array_equal(cropped.x, events.x - 20)
    np.testing.assert_array_equal(cropped.y, events.y - 10)
    np.testing.assert_array_equal(cropped.signal, labeled.signal)


def test_lines_that_are_counted_elsewhere_count_as_events_do():
    events, by_events, by_lines = (
        region(Box(20, 10, 16, 12), (64, 48)),
        LiveAreaCounter(),
        LiveAreaCounter(),
    )
    for part in (events[:50], events[50:]):
        by_events.add(part)
        by_lines.add_lines(np.bincount(part.x, minlength=64), np.bincount(part.y, minlength=48))
    assert by_lines.counts() == by_events.counts()
    assert by_lines.area().box == Box(20, 10, 16, 12)


def test_without_events_the_whole_sensor_is_live():
    area = LiveArea.of(Events.empty((64, 48)))
    assert area.box == Box(0, 0, 64, 48)
    assert not area.is_small


def test_a_few_events_do_not_show_where_the_sensor_is_read():
    events = region(Box(20, 10, 16, 12), (64, 48))
    assert LiveArea.of(events[:100]).is_small
    assert not LiveArea.of(events[:99]).is_small


def test_the_advice_states_the_crop():
    advice = LiveArea.of(region(Box(20, 10, 16, 12), (64, 48))).advice()
    assert "94% of the sensor of 64x48 px has no events" in advice
    assert "16x12 px from x=20, y=10" in advice
