"""The kernels of the search against slow and obvious versions."""

import numpy as np
import pytest

from evcrisp.kernels.auto import hot_pixels as hot
from evcrisp.kernels.contrast import splat, spline
from evcrisp.kernels.search import array_ops as columns
from evcrisp.kernels.search import structure_tensor as bends
from evcrisp.kernels.search import subsample


def located(x, y, scale, shift, shape):
    n = x.size
    cell, a, b = np.empty(n, np.int64), np.empty(n), np.empty(n)
    spline.locate(x, y, 1.0 / scale, *shift, np.array(shape), cell, a, b)
    return cell, a, b


@pytest.mark.parametrize("n", [0, 1, 7, 500])
@pytest.mark.parametrize("scale", [1, 2, 8])
@pytest.mark.parametrize("shape", [(4, 4), (5, 9), (24, 33)])
def test_voting_in_steps_is_voting_at_once(n, scale, shape):
    rng = np.random.default_rng(n + scale)
    x, y = (rng.uniform(-9.0, scale * side + 9.0, n) for side in (shape[1], shape[0]))
    shift = (0.3, -0.2)
    cell, a, b = located(x, y, scale, shift, shape)
    image, expected = np.full(shape, 7.0), np.zeros(shape)
    spline.accumulate(cell, a, b, image)
    u, v = x / scale + shift[0], y / scale + shift[1]
    splat.accumulate_spline(u, v, np.ones(n), expected)
    np.testing.assert_allclose(image, expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1, 4])
def test_slopes_in_steps_are_slopes_at_once(scale):
    rng = np.random.default_rng(3)
    shape, n = (20, 31), 400
    image = rng.normal(size=shape)
    x, y = rng.uniform(-5.0, 31.0 * scale, n), rng.uniform(-5.0, 22.0 * scale, n)
    cell, a, b = located(x, y, scale, (0.1, 0.4), shape)
    ours, theirs = (np.empty(n), np.empty(n)), (np.empty(n), np.empty(n))
    spline.slopes(cell, a, b, image, *ours)
    splat.slope_spline(image, x / scale + 0.1, y / scale + 0.4, *theirs)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert (cell < 0).any()  # some outside, on purpose


def test_what_is_not_a_number_has_no_place():
    x = np.array([np.nan, np.inf, -np.inf, 1e300, 5.0])
    cell, a, b = located(x, np.full(5, 5.0), 1, (0.0, 0.0), (12, 12))
    assert (cell[:4] == -1).all()
    assert cell[4] == 4 * 12 + 4
    image = np.empty((12, 12))
    spline.accumulate(cell, a, b, image)
    assert image.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (8, 8), (13, 7)])
def test_the_sum_of_squares_counts_every_pixel(shape):
    image = np.random.default_rng(1).normal(size=shape)
    assert spline.sum_of_squares(image) == pytest.approx((image**2).sum(), rel=1e-13)


@pytest.mark.parametrize(("n", "stretch"), [(10, 3), (1000, 7), (64, 64), (5, 2)])
def test_thinning_takes_one_event_of_every_stretch(n, stretch):
    x, y, dt = np.arange(n) * 1.0, np.arange(n) * 2.0, np.arange(n) * 3.0
    out = tuple(np.empty(n // stretch) for _ in range(3))
    subsample.subsample(x, y, dt, stretch, *out)
    places = out[0].astype(int)
    np.testing.assert_array_equal(places // stretch, np.arange(n // stretch))
    np.testing.assert_array_equal(out[1], 2.0 * out[0])
    np.testing.assert_array_equal(out[2], 3.0 * out[0])


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_chosen_events_are_copied_in_order(share):
    rng = np.random.default_rng(1)
    x, y, dt = rng.normal(size=(3, 100))
    keep = rng.random(100) < share
    out = tuple(np.empty(int(keep.sum()) + 1) for _ in range(3))
    subsample.select(x, y, dt, keep, *out)
    for ours, theirs in zip(out, (x, y, dt), strict=True):
        np.testing.assert_array_equal(ours[:-1], theirs[keep])


@pytest.mark.parametrize("scale", [1, 2])
def test_a_map_is_built_at_once(scale):
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-5.0, 40.0, 300), rng.uniform(-5.0, 30.0, 300)
    shape, shift = (24, 33), (0.3, -0.2)
    cell, a, b = located(x, y, scale, shift, shape)
    image, expected = np.empty(shape), np.empty(shape)
    spline.accumulate(cell, a, b, expected)
    scratch = np.empty(300, np.int32), np.empty(300), np.empty(300)
    spline.locate_and_accumulate(x, y, 1.0 / scale, *shift, *scratch, image)
    np.testing.assert_array_equal(image, expected)
    np.testing.assert_array_equal(scratch[0], cell)


def test_thinning_does_not_take_always_the_same_place():
    x = np.arange(8000) * 1.0
    out = tuple(np.empty(1000) for _ in range(3))
    subsample.subsample(x, x, x, 8, *out)
    assert np.bincount(out[0].astype(int) % 8, minlength=8).min() > 100


def slow_hot(x, y, shape, least, factor):
    counts = np.zeros(shape, int)
    np.add.at(counts, (y, x), 1)
    marked = []
    for column, row in zip(x.tolist(), y.tolist(), strict=True):
        patch = counts[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3]
        around = (patch.sum() - counts[row, column]) / max(patch.size - 1, 1)
        marked.append(counts[row, column] > least + factor * around)
    return np.array(marked, bool)


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (20, 30)])
def test_hot_pixels_are_those_far_above_their_neighbors(shape):
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, shape[1], 300), rng.integers(0, shape[0], 300)
    x[:90], y[:90] = 0, 0
    x[90:120], y[90:120] = shape[1] - 1, shape[0] - 1
    x, y = x.astype(np.uint16), y.astype(np.uint16)
    counts, pixels = np.zeros(shape, np.float32), np.empty(shape, np.bool_)
    out = np.empty(300, np.bool_)
    hot.count_pixels(x, y, counts)
    found = hot.find_hot(counts, 12, 6.0, pixels)
    hot.mark_events(x, y, pixels, out)
    expected = slow_hot(x, y, shape, 12, 6.0)
    np.testing.assert_array_equal(out, expected)
    assert found == expected.any()


@pytest.mark.parametrize("n_params", [1, 2, 6])
@pytest.mark.parametrize(("shape", "tile"), [((2, 2), 4), ((24, 33), 8), ((17, 16), 1)])
def test_bends_are_products_of_slopes_along_displacements(n_params, shape, tile):
    rng = np.random.default_rng(n_params)
    image = rng.normal(size=shape)
    tiles = tuple(-(-side // tile) for side in shape)
    along = rng.normal(size=(2, *tiles, n_params))
    out = np.full((n_params, n_params), 7.0)
    steep, square = bends.structure_tensor(image, tile, along[0], along[1], out)
    expected, steep_expected = np.zeros((n_params, n_params)), 0.0
    for r in range(shape[0] - 1):
        for c in range(shape[1] - 1):
            (a, b), (d, e) = image[r : r + 2, c : c + 2]
            cross = 0.25 * ((b - a) + (e - d)) * ((d - a) + (e - b))
            tensor = np.array([[(b - a) ** 2, cross], [cross, (d - a) ** 2]])
            moved = along[:, r // tile, c // tile]
            expected += moved.T @ tensor @ moved
            steep_expected += np.trace(tensor)
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-12)
    assert steep == pytest.approx(steep_expected)
    assert square == pytest.approx((image[:-1, :-1] ** 2).sum())


def test_numbers_at_the_ends_are_counted():
    values = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf, -np.inf])
    assert columns.count_at_ends(values, 0.0, 1.0) == (2, 3)
    assert columns.count_at_ends(values[:0], 0.0, 1.0) == (0, 0)
