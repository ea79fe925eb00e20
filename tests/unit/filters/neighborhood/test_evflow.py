"""Event flow: known masks, edges of known speed, and what has no plane."""

import numpy as np
import pytest

from evcrisp import ConfigError, Events
from evcrisp.filters import denoise, denoiser

# 24 events (t, x, y, p) on 8x6 pixels whose masks are known from the program E-MLB itself.
TOY = """0,2,2,1 300,2,3,1 600,3,2,1 900,3,3,1 1000,7,5,0 1200,3,4,1 1500,4,2,1 1500,4,3,0 2000,0,0,0
2300,2,2,1 2600,4,3,1 2600,4,2,1 3000,7,5,0 3500,5,3,1 3800,5,2,1 4200,6,4,0 5000,1,1,1 5000,5,3,1
5200,5,4,1 5500,6,3,1 7000,0,5,1 7000,1,5,1 9000,1,4,1 9001,0,4,1"""


@pytest.mark.parametrize(
    ("params", "mask"),
    [
        ({}, "000000010011000000010000"),
        ({"tau_us": 5000, "radius": 2}, "000001110110011111110000"),
    ],
)
def test_the_preset_emlb_gives_the_known_masks(params, mask):
    t, x, y, p = np.array([row.split(",") for row in TOY.split()], np.int64).T
    events = Events(x=x, y=y, t=t + 1_000_000, p=p, resolution=(8, 6))
    labels = denoise(events, "evflow", "emlb", **params)
    assert "".join(str(int(keep)) for keep in labels.signal) == mask


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
def test_the_score_tells_the_speed_of_an_edge(direction, px_ms):
    labels = denoise(edge(direction, px_ms), "evflow", max_px_ms=2.0, radius=2)
    speed = 2.0 * (1.0 / labels.score[labels.score > 0] - 1.0)
    assert speed.size > 1000
    np.testing.assert_allclose(np.median(speed), px_ms, rtol=0.02)
    assert labels.signal.mean() > 0.8 if px_ms < 2 else labels.signal.mean() < 0.05


def test_edges_along_an_axis_stay_and_only_emlb_rejects_them():
    events = edge((1.0, 0.0), 1.0)
    params = {"radius": 2, "tau_us": 5000}
    assert denoise(events, "evflow", **params).signal.mean() > 0.8
    assert denoise(events, "evflow", "emlb", **params).signal.mean() < 0.3


def test_events_on_one_line_or_too_few_are_no_plane():
    line = Events(x=range(3, 8), y=range(3, 8), t=range(0, 500, 100), p=[1] * 5, resolution=(9, 9))
    assert not denoise(line, "evflow", radius=4).score.any()
    few = Events(x=[3, 4, 3, 4], y=[3, 3, 4, 4], t=[0, 9, 22, 31], p=[1] * 4, resolution=(9, 9))
    assert not denoise(few, "evflow").score.any()
    assert denoise(few, "evflow", min_events=3).score.any()


def test_the_place_on_the_sensor_does_not_matter():
    events = edge((0.6, 0.8), 2.0)
    moved = Events(
        x=events.x + 600, y=events.y + 440, t=events.t, p=events.p, resolution=(640, 480)
    )
    np.testing.assert_array_equal(denoise(events, "evflow").score, denoise(moved, "evflow").score)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tau_us": 0}, "`tau_us` must be positive; got 0"),
        ({"radius": 0}, "`radius` must be positive; got 0"),
        ({"min_events": 2}, "`min_events` must be 3 or more; got 2"),
        ({"max_px_ms": 0.0}, "`max_px_ms` must be a positive number; got 0.0"),
    ],
)
def test_impossible_parameters_are_explained(params, message):
    with pytest.raises(ConfigError, match=message):
        denoiser("evflow", params=params)
