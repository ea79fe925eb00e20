"""Kernels of the search against oracles and against kernels of contrast maps."""

import numpy as np
import pytest
from tests.oracles.auto import hot_pixels as hot_pixels_oracle
from tests.oracles.search import array_ops as columns_oracle
from tests.oracles.search import structure_tensor as oracle

from evcrisp.kernels.auto import hot_pixels
from evcrisp.kernels.contrast import splat, spline
from evcrisp.kernels.search import array_ops, structure_tensor
from evcrisp.kernels.search.translations import square_of_translation, squares_of_translations


def located(x, y, scale, shift, shape):
    n = x.size
    cell, a, b = np.empty(n, np.int64), np.empty(n), np.empty(n)
    spline.locate(x, y, 1.0 / scale, *shift, np.array(shape), cell, a, b)
    return cell, a, b


@pytest.mark.parametrize("n", [0, 1, 7, 500])
@pytest.mark.parametrize("scale", [1, 2, 8])
@pytest.mark.parametrize("shape", [(4, 4), (5, 9), (24, 33)])
def test_accumulate_matches_accumulate_spline(n, scale, shape):
    rng = np.random.default_rng(n + scale)
    x, y = (rng.uniform(-9.0, scale * side + 9.0, n) for side in (shape[1], shape[0]))
    shift = (0.3, -0.2)
    cell, a, b = located(x, y, scale, shift, shape)
    image, expected = np.full(shape, 7.0), np.zeros(shape)
    spline.accumulate(cell, a, b, image)
    u, v = x / scale + shift[0], y / scale + shift[1]
    splat.accumulate_spline(u, v, np.ones(n), expected)
    np.testing.assert_allclose(image, expected, atol=1e-12)


def test_squares_of_translations_are_those_of_one_map_after_the_other():
    rng = np.random.default_rng(4)
    n, shape, shift, gain = 300, (24, 33), (5.3, 6.1), 0.25
    x, y, dt = rng.uniform(0.0, 80.0, n), rng.uniform(0.0, 60.0, n), rng.uniform(-0.02, 0.02, n)
    thetas, found = rng.normal(0.0, 900.0, (5, 2)), np.full(5, np.nan)
    squares_of_translations(thetas, x, y, dt, gain, *shift, shape, found)
    for theta, total in zip(thetas, found, strict=True):
        image = np.zeros(shape)
        u = (x - theta[0] * dt) * gain + shift[0]
        v = (y - theta[1] * dt) * gain + shift[1]
        splat.accumulate_spline(u, v, np.ones(n), image)
        assert total == pytest.approx((image**2).sum(), rel=1e-12)


@pytest.mark.parametrize("n", [0, 1, 300])
def test_square_of_a_translation_has_the_slope_of_its_differences(n):
    rng = np.random.default_rng(n)
    shape, shift, gain = (24, 33), (5.3, 6.1), 0.25
    x, y, dt = rng.uniform(0.0, 80.0, n), rng.uniform(0.0, 60.0, n), rng.uniform(-0.02, 0.02, n)
    theta = np.array([310.0, -170.0])

    def square(vx, vy):
        image = np.zeros(shape)
        u, v = (x - vx * dt) * gain + shift[0], (y - vy * dt) * gain + shift[1]
        splat.accumulate_spline(u, v, np.ones(n), image)
        return (image**2).sum()

    image, slope = np.full(shape, np.nan), np.full(2, np.nan)
    buffers = np.empty(n, np.int32), np.empty((4, n))
    found = square_of_translation(theta, x, y, dt, gain, *shift, *buffers, image, slope)
    assert found == pytest.approx(square(*theta), rel=1e-12)
    assert found == pytest.approx((image**2).sum(), rel=1e-12)
    steps = 1e-3 * np.eye(2)
    numeric = [(square(*(theta + s)) - square(*(theta - s))) / 2e-3 for s in steps]
    # Half of the derivative by theta, times the scale.
    np.testing.assert_allclose(slope, np.array(numeric) / (2.0 * gain), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", [1, 4])
def test_slopes_match_slope_spline(scale):
    rng = np.random.default_rng(3)
    shape, n = (20, 31), 400
    image = rng.normal(size=shape)
    x, y = rng.uniform(-5.0, 31.0 * scale, n), rng.uniform(-5.0, 22.0 * scale, n)
    cell, a, b = located(x, y, scale, (0.1, 0.4), shape)
    found, expected = (np.empty(n), np.empty(n)), (np.empty(n), np.empty(n))
    spline.slopes(cell, a, b, image, *found)
    splat.slope_spline(image, x / scale + 0.1, y / scale + 0.4, *expected)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (cell < 0).any()  # some are outside


def test_positions_that_are_not_finite_are_outside():
    x = np.array([np.nan, np.inf, -np.inf, 1e300, 5.0])
    cell, a, b = located(x, np.full(5, 5.0), 1, (0.0, 0.0), (12, 12))
    assert (cell[:4] == -1).all()
    assert cell[4] == 4 * 12 + 4
    image = np.empty((12, 12))
    spline.accumulate(cell, a, b, image)
    assert image.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (8, 8), (13, 7)])
def test_sum_of_squares_includes_every_pixel(shape):
    image = np.random.default_rng(1).normal(size=shape)
    assert spline.sum_of_squares(image) == pytest.approx((image**2).sum(), rel=1e-13)


def places(n, seed=0):
    """Return whole pixels, and times of whole microseconds in s."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 346, n) * 1.0, rng.integers(0, 260, n) * 1.0
    return x, y, np.sort(rng.integers(-15_000, 15_000, n)) / 1e6


def thinned(x, y, dt, interval=4, salt=77, center=(172.5, 129.5, -0.0000005)):
    keep = np.empty(x.size, np.bool_)
    unit = np.array([2.0, 2.0, 2e6])
    array_ops.thin(x, y, dt, np.array(center), unit, salt, 2**32 // interval, keep)
    return keep


@pytest.mark.parametrize("n", [0, 1, 3000])
@pytest.mark.parametrize("interval", [2, 7])
@pytest.mark.parametrize("salt", [0, 2**32 - 1])
def test_thin_matches_oracle(n, interval, salt):
    x, y, dt = places(n)
    center, unit = (172.5, 129.5, 0.0), (2.0, 2.0, 2e6)
    wanted = columns_oracle.thin(x, y, dt, center, unit, salt, 2**32 // interval)
    np.testing.assert_array_equal(thinned(x, y, dt, interval, salt, center), wanted)


@pytest.mark.parametrize("interval", [2, 3, 8, 20])
def test_thin_keeps_an_even_share(interval):
    x, y, dt = places(40_000)
    keep = thinned(x, y, dt, interval)
    # Also of parts of space and time, and after an earlier selection.
    for part in (x < 100, y > 200, dt < -0.01, (x.astype(int) + y.astype(int)) % 2 == 0):
        n = part.sum() / interval
        assert abs(np.count_nonzero(keep & part) - n) < 5.0 * np.sqrt(n)
    again = thinned(x[keep], y[keep], dt[keep], interval, salt=78)
    assert abs(again.mean() - 1.0 / interval) < 5.0 * np.sqrt(1.0 / (interval * again.size))


def test_thin_spreads_events_of_few_times_and_of_one_pixel():
    x, y, dt = places(20_000)
    coarse = np.round(dt, 2)
    assert thinned(x, y, coarse).mean() == pytest.approx(0.25, abs=0.02)
    assert thinned(np.full_like(x, 3.0), np.full_like(y, 5.0), dt).mean() == pytest.approx(
        0.25, abs=0.02
    )


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_select_copies_events_in_order(share):
    rng = np.random.default_rng(1)
    x, y, dt = rng.normal(size=(3, 100))
    keep = rng.random(100) < share
    out = tuple(np.empty(int(keep.sum()) + 1) for _ in range(3))
    array_ops.select(x, y, dt, keep, *out)
    for copied, column in zip(out, (x, y, dt), strict=True):
        np.testing.assert_array_equal(copied[:-1], column[keep])


@pytest.mark.parametrize("scale", [1, 2])
def test_locate_and_accumulate_matches_its_steps(scale):
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-5.0, 40.0, 300), rng.uniform(-5.0, 30.0, 300)
    shape, shift = (24, 33), (0.3, -0.2)
    cell, a, b = located(x, y, scale, shift, shape)
    image, expected = np.empty(shape), np.empty(shape)
    spline.accumulate(cell, a, b, expected)
    buffers = np.empty(300, np.int32), np.empty(300), np.empty(300)
    spline.locate_and_accumulate(x, y, 1.0 / scale, *shift, *buffers, image)
    np.testing.assert_array_equal(image, expected)
    np.testing.assert_array_equal(buffers[0], cell)


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (20, 30)])
def test_hot_pixels_match_oracle(shape):
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, shape[1], 300), rng.integers(0, shape[0], 300)
    x[:90], y[:90] = 0, 0
    x[90:120], y[90:120] = shape[1] - 1, shape[0] - 1
    x, y = x.astype(np.uint16), y.astype(np.uint16)
    counts, pixels = np.zeros(shape, np.float32), np.empty(shape, np.bool_)
    out = np.empty(300, np.bool_)
    hot_pixels.count_pixels(x, y, counts)
    found = hot_pixels.find_hot(counts, 12, 6.0, pixels)
    hot_pixels.mark_events(x, y, pixels, out)
    expected = hot_pixels_oracle.mark_events(x, y, shape, 12, 6.0)
    np.testing.assert_array_equal(out, expected)
    assert found == expected.any()


@pytest.mark.parametrize("n_params", [1, 2, 6])
@pytest.mark.parametrize("lead", [(0, 0), (3, 1)])
@pytest.mark.parametrize(("shape", "tile"), [((2, 2), 4), ((24, 33), 8), ((17, 16), 4)])
def test_structure_tensor_matches_oracle(n_params, lead, shape, tile):
    rng = np.random.default_rng(n_params)
    image = rng.normal(size=shape)
    tiles = tuple(-(-(side + before) // tile) for side, before in zip(shape, lead, strict=True))
    along = rng.normal(size=(2, *tiles, n_params))
    out = np.full((n_params, n_params), 7.0)
    energy, square = structure_tensor.structure_tensor(
        image, tile, np.array(lead), along[0], along[1], out
    )
    expected = oracle.structure_tensor(image, tile, lead, along[0], along[1])
    np.testing.assert_allclose(out, expected[0], rtol=1e-9, atol=1e-12)
    assert (energy, square) == pytest.approx(expected[1:])


@pytest.mark.parametrize("n", [0, 1, 200])
def test_counts_at_ends_match_oracle(n):
    rng = np.random.default_rng(n)
    values, dt = rng.integers(0, 10, n) * 1.0, np.sort(rng.normal(size=n))
    found = array_ops.count_at_ends(values, dt, 0.1, 3.0, 7.0)
    assert found == columns_oracle.count_at_ends(values, dt, 0.1, 3.0, 7.0)
    assert array_ops.count_at_ends(np.full(n, np.nan), dt, 0.1, 3.0, 7.0) == ((0, 0), (0, 0))
