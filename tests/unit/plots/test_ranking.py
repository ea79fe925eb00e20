"""Figures that compare methods."""

import numpy as np
import pytest

from evcrisp.plots.ranking import ranking_figure, speed_figure

pytest.importorskip("matplotlib", reason="needs the extra `plot`")

MEANS = {"a": (0.8, 0.7, 0.9), "b": (0.9, None, None), "c": (0.6, 0.5, 0.7)}
EACH = {"a": [0.7, 0.9], "b": [0.9], "c": [0.5, 0.6, 0.7]}


@pytest.mark.parametrize(("lower_is_better", "top"), [(False, "b"), (True, "c")])
def test_best_method_is_on_top_and_named_beside_its_line(lower_is_better, top):
    made = ranking_figure(MEANS, EACH, x_label="AUC", lower_is_better=lower_is_better)
    (axes,) = made.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[-1] == top
    assert sorted(names) == ["a", "b", "c"]
    means = {
        line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if line.get_marker() == "D"
    }
    assert {names[int(place)]: value for place, value in means.items()} == {
        name: value for name, (value, _, _) in MEANS.items()
    }
    bars = [line.get_xdata() for line in axes.lines if line.get_marker() == "None"]
    assert sorted(map(tuple, bars)) == [(0.5, 0.7), (0.7, 0.9)]
    assert axes.get_legend() is None


def test_speed_names_every_point():
    points = {"a": (100.0, 0.8), "b": (0.5, 0.95)}
    (axes,) = speed_figure(points, y_label="AUC").axes
    assert [text.get_text() for text in axes.texts] == ["a", "b"]
    assert np.allclose([line.get_xydata()[0] for line in axes.lines], list(points.values()))
    assert axes.get_xscale() == "log"
