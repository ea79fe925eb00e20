"""Sensors of one row or column have figures of a usual size, in which the panel can be read."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.plots import figure
from evcrisp.plots.style import label_pixels, new_figure


@pytest.mark.parametrize("resolution", [(1, 640), (640, 1), (3, 1000)])
@pytest.mark.parametrize("kind", ["scatter", "layers"])
def test_figure_of_a_line_sensor_has_a_usual_size(kind, resolution):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, size, 400) for size in resolution)
    events = Events(x=x, y=y, t=np.arange(400), p=rng.integers(0, 2, 400), resolution=resolution)
    if kind == "scatter":
        made = figure("scatter", events=events, labels={"all": np.ones(400, bool)})
    else:
        made = figure("layers", estimate=evcrisp.estimate(events, "cmax", "translation"))
    made.draw_without_rendering()
    assert max(made.get_size_inches()) < 20.0
    panel = made.axes[0].get_window_extent().transformed(made.dpi_scale_trans.inverted())
    assert min(panel.width, panel.height) > 0.5  # inches


def test_pixels_of_usual_sensors_are_squares():
    for shape in ((260, 346), (128, 128), (720, 1280), (1280, 720)):
        axes = label_pixels(new_figure(4.0, 3.0).add_subplot(), shape)
        assert axes.get_aspect() == 1.0
