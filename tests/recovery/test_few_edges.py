"""Motions of things with few edges: known where corners or ends show them, doubted otherwise."""

import numpy as np
import pytest
from benchmarks.quality.few_edges import CLOSED, OPEN, measure, summary

import evcrisp
from evcrisp import Doubt, Window
from evcrisp.estimators.reliability.covariance import _scale

SHAPES = (*CLOSED, *OPEN)


def rows_of(shape, path, seed=0):
    """Return the windows of one scene."""
    return measure(SHAPES.index(shape) + 8 * path, seed)


@pytest.mark.parametrize("shape", CLOSED)
def test_closed_things_in_constant_motion_are_reliable_and_right(shape):
    found = summary(rows_of(shape, 0) + rows_of(shape, 3))
    assert found["windows"] >= 3
    assert found["reliable"] >= 0.6
    assert found["error_px"] < 0.3
    assert found["wrong"] == 0


def test_intervals_of_closed_things_contain_the_truth():
    rows = [row for shape in CLOSED for path in (0, 3) for row in rows_of(shape, path)]
    assert summary(rows)["coverage"] >= 0.9


def test_short_bars_are_reliable_though_little_is_known_along_them():
    """The interval says how little: standard deviations of 0.5 to 1.6 px in windows of 4 to 5 px."""
    rows = [row for seed in (0, 57) for path in (3, 4) for row in rows_of("bar", path, seed)]
    wide = [row for row in rows if row["reliable"] and np.linalg.norm(row["std_px"]) > 1.0]
    assert len(wide) >= 10
    sigmas = np.array([row["sigmas"] for row in wide])
    assert (sigmas < 1.96).mean() >= 0.9
    assert max(row["error_px"] for row in wide) < 2.0


@pytest.mark.parametrize("path", range(3))
@pytest.mark.parametrize("shape", OPEN)
def test_open_things_are_never_reliable(shape, path):
    rows = rows_of(shape, path) + rows_of(shape, path, seed=3)
    assert rows
    assert not any(row["reliable"] for row in rows)


def test_across_long_edges_the_motion_is_right():
    rows = [row for shape in OPEN for row in rows_of(shape, 0)]
    normal = [row["normal_px"] for row in rows if row["doubts"] == ["aperture"]]
    assert len(normal) >= 5
    assert np.median(normal) < 0.3


@pytest.mark.parametrize("angle", [0.0, 0.5])
def test_ends_of_an_edge_at_the_border_of_the_view_are_no_ends(angle):
    """A part of the sensor is read out: the edge ends where the part does, and does not move there."""
    y, x = np.mgrid[0:700, 0:700] - 350.0
    image = np.where(x * np.cos(angle) + y * np.sin(angle) > 0, 1.0, 0.2)
    scene = evcrisp.simulate(
        theta=(200, 150), image=image, duration_us=90_000, noise_hz=2.0, seed=4
    ).events
    inside = (scene.x >= 100) & (scene.x < 220) & (scene.y >= 80) & (scene.y < 160)
    part = scene[inside].between(30_000, 60_000)
    for motion in ("auto", "translation"):
        result = evcrisp.estimate(Window(part, 30_000, 60_000), motion=motion)
        assert Doubt.APERTURE in result.doubts


def test_a_small_swing_within_a_window_is_a_change_of_the_motion():
    """A thing swings by 1.4 px, four times in a second: the best motion is not its mean motion, zero."""
    t = np.arange(0, 502_000, 1_000)
    speed = 35.0 * np.cos(8e-6 * np.pi * t)
    y, x = np.mgrid[0:400, 0:400] - 200.0
    image = np.where(np.maximum(abs(x), abs(y)) < 15, 0.25, 1.0)
    scene = evcrisp.simulate(
        trajectory=tuple(map(tuple, np.column_stack((t, speed, 0.6 * speed)).tolist())),
        image=image, duration_us=500_000, resolution=(128, 128), noise_hz=1.0, seed=2,
    )  # fmt: skip
    results = list(evcrisp.track(scene.events, windowing=evcrisp.Windowing(window_us=250_000)))
    assert len(results) == 2
    assert not any(result.reliable for result in results)


def test_one_tile_does_not_tell_six_parameters():
    """The unit of parameters that no tile tells is their own."""
    along = np.array([[[1.0, 0.0, 3.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 3.0, 0.0, 1.0]]])
    backward = _scale(along, np.array([5.0]))
    assert backward.shape == (6, 6)
    assert np.isfinite(backward).all()
