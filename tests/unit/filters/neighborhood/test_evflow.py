"""Event flow on edges of known speed."""

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.filters import denoise


def edge(direction, px_ms, seed=0):
    """Return events of a straight edge that sweeps 40x40 pixels along a direction."""
    rng = np.random.default_rng(seed)
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(40), np.arange(40)))
    t = (x * direction[0] + y * direction[1]) / px_ms * 1e3 + rng.normal(0, 1, x.size)
    return Events.sorted_from(
        x=x, y=y, t=t.round().astype(int) + 200_000, p=[1] * x.size, resolution=(40, 40)
    )


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.8, -0.6)])
@pytest.mark.parametrize("px_ms", [1.0, 4.0])
def test_score_gives_speed_of_edge(direction, px_ms):
    labels = denoise(edge(direction, px_ms), "evflow", max_px_ms=2.0, radius=2)
    speed = 2.0 * (1.0 / labels.score[labels.score > 0] - 1.0)
    assert speed.size > 1000
    np.testing.assert_allclose(np.median(speed), px_ms, rtol=0.02)
    assert labels.signal.mean() > 0.8 if px_ms < 2 else labels.signal.mean() < 0.05


def test_edge_along_axis_is_kept_except_by_emlb():
    events = edge((1.0, 0.0), 1.0)
    params = {"radius": 2, "tau_us": 5000}
    assert denoise(events, "evflow", **params).signal.mean() > 0.8
    assert denoise(events, "evflow", "emlb", **params).signal.mean() < 0.3


def test_events_on_a_line_or_too_few_have_no_plane():
    line = Events(x=range(3, 8), y=range(3, 8), t=range(0, 500, 100), p=[1] * 5, resolution=(9, 9))
    assert not denoise(line, "evflow", radius=4).score.any()
    few = Events(x=[3, 4, 3, 4], y=[3, 3, 4, 4], t=[0, 9, 22, 31], p=[1] * 4, resolution=(9, 9))
    assert not denoise(few, "evflow").score.any()
    assert denoise(few, "evflow", min_events=3).score.any()


def test_scores_are_independent_of_position():
    events = edge((0.6, 0.8), 2.0)
    moved = Events(
        x=events.x + 600, y=events.y + 440, t=events.t, p=events.p, resolution=(640, 480)
    )
    np.testing.assert_array_equal(denoise(events, "evflow").score, denoise(moved, "evflow").score)
