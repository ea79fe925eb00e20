"""Row of balls: where it is, how fast it is, and which share of it is kept."""

import numpy as np
import pytest
from benchmarks.quality import cradle

import evcrisp


def ring_events(first_x, rng, n=4000):
    """Return events on the outlines of four balls, and noise."""
    angle, ball = rng.uniform(0.0, 2 * np.pi, n), rng.integers(0, 4, n)
    x = first_x + cradle.DISTANCE_PX * ball + cradle.RADIUS_PX * np.cos(angle)
    y = cradle.ROW_Y + cradle.RADIUS_PX * np.sin(angle)
    x = np.concatenate((np.rint(x), rng.integers(0, 346, n // 4)))
    y = np.concatenate((np.rint(y), rng.integers(0, 260, n // 4)))
    t = np.sort(rng.integers(0, 30_000, x.size))
    p = np.ones(x.size, bool)
    events = evcrisp.Events(x=x.astype(int), y=y.astype(int), t=t, p=p, resolution=(346, 260))
    return events, ball


@pytest.mark.parametrize("first_x", [85.0, 100.0, 117.5])
def test_row_is_found_with_the_events_of_each_ball(first_x, rng):
    events, ball = ring_events(first_x, rng)
    found, balls = cradle.balls_of(events, np.ones(len(events), bool))
    assert found == pytest.approx(first_x, abs=1.0)
    for number in range(4):
        own = np.flatnonzero(ball == number)
        assert balls[number][own].mean() > 0.99


def test_reference_only_counts_events_of_the_filter(rng):
    events, _ = ring_events(100.0, rng)
    reference = rng.random(len(events)) < 0.5
    _, balls = cradle.balls_of(events, reference)
    assert not balls[:, ~reference].any()


def test_velocity_of_the_row_ignores_that_a_hit_moves_it_by_a_ball():
    steps = np.array([6.0, 6.0, 6.0 - cradle.DISTANCE_PX, 6.0, 6.0])
    speed, has_hit = cradle.row_velocity(np.append(100.0, 100.0 + np.cumsum(steps)))
    np.testing.assert_allclose(speed[1:-1], 200.0)  # 6 px in 30 ms
    assert np.isnan(speed[[0, -1]]).all()
    assert has_hit.tolist() == [False, False, False, True, False, False]


def test_share_of_balls_that_is_kept(rng):
    events, ball = ring_events(100.0, rng)
    found = cradle.balls_of(events, np.ones(len(events), bool))
    labels = np.ones(len(events), bool)
    labels[np.flatnonzero(ball == 2)] = False
    shares = cradle.kept_shares([labels], [found])
    assert shares.shape == (1, 4)
    assert shares[0, 2] < 0.1
    assert (shares[0, [0, 1, 3]] > 0.9).all()


def test_without_the_recording_it_is_left_out(tmp_path, capsys):
    assert cradle.measure(tmp_path) == {}
    assert "left out" in capsys.readouterr().err
