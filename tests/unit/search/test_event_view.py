"""View of the events of a window, density at its sides, and subsamples."""

import numpy as np
import pytest
from tests.unit.search.windows import data_of

from evcrisp.core.camera import Camera
from evcrisp.motion import Rotation, Similarity, Translation, prepare
from evcrisp.search.event_view import EventView, subsampled

CAMERA = Camera(80.0, 90.0, 30.0, 20.0)


def uniform(n=20_000, seed=0, model=None):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(10, 50, n) * 1.0, rng.integers(3, 33, n) * 1.0
    return prepare(model or Translation(), x, y, np.sort(rng.uniform(-0.02, 0.02, n)))


@pytest.mark.parametrize("model", [Translation(), Similarity((3.0, 4.0)), Rotation(CAMERA)])
def test_view_is_that_of_the_outermost_pixels(model):
    view = EventView.of(uniform(model=model))
    np.testing.assert_allclose(view.sides_px, (9.5, 2.5, 49.5, 32.5), atol=1e-9)
    np.testing.assert_allclose(view.center_px, (29.5, 17.5), atol=1e-9)


@pytest.mark.parametrize("model", [Translation(), Rotation(CAMERA)])
def test_density_of_uniform_events_is_one(model):
    warp = uniform(100_000, model=model)
    np.testing.assert_allclose(EventView.of(warp).density_at_sides(warp), 1.0, atol=0.05)


def test_density_follows_the_events():
    warp = uniform()
    sparse = warp.subset((warp.y > 10) | (np.arange(len(warp)) % 10 == 0))
    density = EventView.of(sparse).density_at_sides(sparse)
    assert density[0] == pytest.approx(0.12, abs=0.05)
    assert density[1:].min() > 0.8


def test_the_end_of_a_moving_thing_is_no_border():
    # A bar of 10 px moves right by 40 px: its events end left only at first, and right only at last.
    rng = np.random.default_rng(2)
    n = 20_000
    dt = np.sort(rng.uniform(-0.02, 0.02, n))
    x = np.floor(30.0 + 1000.0 * dt + rng.uniform(0, 10, n))
    warp = prepare(Translation(), x, rng.integers(0, 40, n) * 1.0, dt)
    density = EventView.of(warp).density_at_sides(warp)
    np.testing.assert_allclose(density[:2], 1.0, atol=0.1)
    np.testing.assert_array_equal(density[2:], 0.0)


def test_subsample_has_about_the_requested_size():
    _, data = data_of()
    for n in (10, 100, 700):
        assert 0.5 * n <= len(subsampled(data.warp, n)) <= 2.0 * n
    assert subsampled(data.warp, len(data)) is data.warp


@pytest.mark.parametrize("model", [Translation(), Rotation(CAMERA)])
def test_subsample_of_a_subsample_is_even(model):
    warp = uniform(40_000, model=model)
    part = subsampled(subsampled(warp, 10_000), 2_500)
    assert len(part) == pytest.approx(2_500, rel=0.1)


def test_copies_of_one_event_are_not_lost():
    warp = prepare(Translation(), *(np.full(1000, value) for value in (3.0, 5.0, 0.0)))
    assert len(subsampled(warp, 100)) > 0
