import numpy as np
import pytest

from evcrisp import Events
from evcrisp.plots import draw_contrast_map, draw_events
from evcrisp.plots.scene import OFF_COLOR, ON_COLOR

figure_module = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed")


@pytest.fixture
def axes():
    return figure_module.Figure().subplots()


def test_on_events_are_red_and_off_events_blue(axes):
    events = Events(x=[1, 2], y=[0, 3], t=[0, 1], p=[1, 0], resolution=(4, 4))
    image = draw_events(axes, events).images[0].get_array()
    assert tuple(image[0, 1]) == ON_COLOR
    assert tuple(image[3, 2]) == OFF_COLOR
    assert ON_COLOR[0] > ON_COLOR[2]
    assert OFF_COLOR[2] > OFF_COLOR[0]
    assert (image == 1.0).all(axis=2).sum() == 14


def test_contrast_map_counts_rounded_positions_inside(axes):
    x, y = np.array([1.4, 1.0, 9.0]), np.array([2.0, 2.4, 0.0])
    image = draw_contrast_map(axes, x, y, (3, 4)).images[0].get_array()
    assert image[2, 1] == 2
    assert image.sum() == 2
