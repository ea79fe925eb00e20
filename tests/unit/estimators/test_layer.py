"""Layers, their boxes, masks and regions."""

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.estimators.layer import Layer, LayerMap, near_events, split_by_region
from evcrisp.motion import Affine

SIZE = (100, 60)


def layer_of(x, y):
    n = len(x)
    events = Events(x=x, y=y, t=np.zeros(n, np.int64), p=np.ones(n, bool), resolution=SIZE)
    theta = np.array([100.0, -50.0, 1.0, 0.0, 0.0, 2.0])
    return Layer(motion=Affine((0.0, 0.0)), theta=theta, index=0, events=events, id=7)


def block(left, top, width, height):
    x, y = np.meshgrid(np.arange(left, left + width), np.arange(top, top + height))
    return x.ravel(), y.ravel()


def test_box_center_and_velocity_of_a_block():
    layer = layer_of(*block(20, 10, 30, 16))
    left, top, width, height = layer.box
    np.testing.assert_allclose((left, top, width, height), (20, 10, 30, 16), atol=0.5)
    np.testing.assert_allclose(layer.center, (34.5, 17.5), atol=0.3)
    x, y = layer.center
    np.testing.assert_allclose(layer.velocity, (100.0 + x, -50.0 + 2.0 * y), rtol=1e-4)
    assert len(layer) == 480


def test_a_layer_without_events_has_an_empty_box_and_mask():
    layer = layer_of([], [])
    assert layer.box == (0.0, 0.0, 0.0, 0.0)
    assert not layer.mask.any()
    assert split_by_region(layer, 1) == []
    assert "0 events" in repr(layer)


def test_mask_is_the_cells_with_events_and_those_around():
    mask = near_events(layer_of([20], [30]).events)
    wanted = np.zeros((60, 100), bool)
    wanted[16:40, 8:32] = True
    np.testing.assert_array_equal(mask, wanted)


@pytest.mark.parametrize(("x", "y"), [(0, 0), (99, 59)])
def test_mask_ends_at_the_sensor(x, y):
    mask = near_events(layer_of([x], [y]).events)
    assert mask.shape == (60, 100)
    assert mask[y, x]
    assert mask.sum() <= 16 * 16


def test_regions_that_do_not_touch_are_objects():
    first, second, third = block(0, 0, 16, 16), block(64, 32, 24, 16), block(40, 0, 2, 2)
    x, y = np.concatenate((first, second, third), axis=1)
    found = split_by_region(layer_of(x, y), 100)
    assert [len(part) for part in found] == [256, 384]
    assert all(part.id == 7 for part in found)
    assert [len(part) for part in split_by_region(layer_of(x, y), 1)] == [256, 4, 384]


def test_cells_with_fewer_than_three_events_belong_to_no_region():
    assert split_by_region(layer_of([3, 4], [3, 4]), 1) == []
    assert [len(part) for part in split_by_region(layer_of([3, 4, 5], [3, 4, 5]), 1)] == [3]


def test_layer_map_is_read_by_cell_and_slice():
    index = np.arange(3 * 2 * 4, dtype=np.int16).reshape(3, 2, 4)
    layer_map = LayerMap(index, 8)
    found = layer_map.at([0, 7, 8, 31, 0, 0], [0, 7, 8, 15, 0, 0], [0.0, 0.0, 0.0, 0.5, 1 / 3, 1.0])
    np.testing.assert_array_equal(found, [0, 0, 5, 15, 8, 16])
