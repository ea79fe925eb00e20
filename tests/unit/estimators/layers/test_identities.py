"""Numbers of layers over the windows of a recording."""

import numpy as np

from evcrisp import Events
from evcrisp.estimators.layer import Layer
from evcrisp.estimators.layers.identities import Identities
from evcrisp.motion import Translation

SIZE = (346, 260)


def layer(left, top, velocity, side=40):
    x, y = np.meshgrid(np.arange(left, left + side), np.arange(top, top + side))
    events = Events(
        x=x.ravel(), y=y.ravel(), t=np.zeros(x.size, np.int64), p=np.ones(x.size, bool),
        resolution=SIZE,
    )  # fmt: skip
    return Layer(motion=Translation(), theta=np.array(velocity, float), index=0, events=events)


def test_numbers_count_up_in_the_first_window():
    found = Identities().assign([layer(10, 10, (0, 0)), layer(200, 100, (0, 0))], 0)
    assert found == [0, 1]


def test_layers_keep_their_numbers_in_another_order():
    identities = Identities()
    first = [layer(10, 10, (300, 0)), layer(200, 100, (-300, 0))]
    second = [layer(191, 100, (-300, 0)), layer(19, 10, (300, 0))]
    assert identities.assign(first, 15_000) == [0, 1]
    assert identities.assign(second, 45_000) == [1, 0]


def test_boxes_are_compared_where_they_have_moved_to():
    identities = Identities()
    identities.assign([layer(100, 100, (1000, 0))], 0)
    # At its old place is another object with another velocity.
    found = identities.assign([layer(100, 100, (-1000, 0)), layer(130, 100, (1000, 0))], 30_000)
    assert found == [1, 0]


def test_crossing_objects_keep_their_numbers():
    identities = Identities()
    for step in range(12):
        t_us, moved = 30_000 * step, 12 * step
        both = [layer(100 + moved, 100, (400, 0)), layer(240 - moved, 100, (-400, 0))]
        assert identities.assign(both, t_us) == [0, 1], step


def test_a_layer_is_remembered_for_two_tenths_of_a_second():
    for pause_us, expected in ((190_000, 0), (210_000, 1)):
        identities = Identities()
        identities.assign([layer(50, 50, (0, 0))], 0)
        assert identities.assign([], pause_us // 2) == []
        assert identities.assign([layer(50, 50, (0, 0))], pause_us) == [expected]


def test_numbers_are_not_used_again():
    identities = Identities()
    identities.assign([layer(10, 10, (0, 0))], 0)
    assert identities.assign([layer(10, 10, (0, 0))], 1_000_000) == [1]
    assert identities.assign([layer(200, 200, (0, 0))], 1_030_000) == [2]


def test_layers_without_events_get_numbers():
    empty = Layer(motion=Translation(), theta=np.zeros(2), index=0, events=Events.empty(SIZE))
    assert Identities().assign([empty, empty], 0) == [0, 1]
