"""Kernels of contrast maps against their oracles."""

import numpy as np
import pytest
from tests.oracles.contrast import blur as blur_oracle
from tests.oracles.contrast import kept_map as kept_oracle
from tests.oracles.contrast import sobel as sobel_oracle
from tests.oracles.contrast import splat as oracle

from evcrisp.contrast import FOOTPRINTS, ContrastMap
from evcrisp.contrast.contrast_map import gaussian_taps
from evcrisp.kernels.contrast import blur, gaussian_splat, negative_binomial, sobel, splat, spline
from evcrisp.kernels.contrast.kept_map import kept_map, kept_map_of_pixels, variance

SHAPE = (12, 17)
SIGMA, RADIUS = 1.3, 6
WITH_SLOPE = [name for name in FOOTPRINTS if name != "nearest"]


def random_positions(n, seed=3):
    """Return positions inside, outside, on borders, and on whole and half pixels."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-3.0, 20.0, n), rng.uniform(-3.0, 15.0, n)
    x[::5], y[::7] = np.round(x[::5]), np.round(y[::7])
    x[1::5], y[1::7] = np.round(x[1::5]) + 0.5, np.round(y[1::7]) + 0.5
    return x, y


#: Positions at and beyond the edges of the map; then positions that are not finite or huge.
AROUND = (-1.0, -0.5, -1e-12, 0.0, 0.5, 1.0, 10.0, 10.5, 11.0, 11.5, 15.0, 15.5, 16.0, 16.5, 17.0)
EDGES = np.array([*AROUND, np.nan, np.inf, -np.inf, 1e300, -1e300])


def edge_positions():
    x, y = np.meshgrid(EDGES, EDGES)
    return x.ravel(), y.ravel()


def kernel(action, footprint):
    """Return a kernel, its extra arguments, and those of the oracle."""
    if footprint != "gaussian":
        return getattr(splat, f"{action}_{footprint}"), (), {}
    along = np.empty(2 * RADIUS + 1), np.empty(2 * RADIUS + 1)
    options = {"sigma": SIGMA, "radius": RADIUS}
    return getattr(gaussian_splat, f"{action}_gaussian"), (SIGMA, *along), options


CASES = {
    "none": (np.empty(0), np.empty(0)),
    "one": (np.array([3.25]), np.array([7.75])),
    "many": random_positions(400),
    "edges": edge_positions(),
}


@pytest.fixture(params=list(CASES))
def positions(request):
    return CASES[request.param]


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_accumulate_matches_oracle(footprint, positions):
    x, y = positions
    weight = np.random.default_rng(1).uniform(-1.0, 2.0, x.size)
    accumulate, extra, options = kernel("accumulate", footprint)
    out = np.ones(SHAPE)
    accumulate(x, y, weight, *extra, out)
    expected = 1.0 + oracle.accumulate(footprint, x, y, weight, SHAPE, **options)
    np.testing.assert_allclose(out, expected, atol=1e-13)


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_sample_matches_oracle(footprint, positions):
    x, y = positions
    image = np.random.default_rng(2).normal(size=SHAPE)
    sample, extra, options = kernel("sample", footprint)
    values = np.full(x.size, np.nan)
    sample(image, x, y, *extra, values)
    expected = oracle.sample(footprint, image, x, y, **options)
    np.testing.assert_allclose(values, expected, atol=1e-13)


@pytest.mark.parametrize("footprint", WITH_SLOPE)
def test_slope_matches_oracle(footprint, positions):
    x, y = positions
    image = np.random.default_rng(2).normal(size=SHAPE)
    slope, extra, options = kernel("slope", footprint)
    slope_x, slope_y = np.full(x.size, np.nan), np.full(x.size, np.nan)
    slope(image, x, y, *extra, slope_x, slope_y)
    expected = oracle.slope(footprint, image, x, y, **options)
    np.testing.assert_allclose((slope_x, slope_y), expected, atol=1e-13)


@pytest.mark.parametrize("footprint", WITH_SLOPE)
def test_slope_matches_differences_of_samples(footprint):
    rng = np.random.default_rng(4)
    # Off the positions at which the pixels of a footprint change.
    x, y = rng.integers(6, 11, 50) + 0.2, rng.integers(5, 8, 50) - 0.3
    image = rng.normal(size=SHAPE)
    sample, extra, _ = kernel("sample", footprint)
    slope, _, _ = kernel("slope", footprint)
    slope_x, slope_y = np.empty(50), np.empty(50)
    slope(image, x, y, *extra, slope_x, slope_y)
    step, ahead, behind = 1e-5, np.empty(50), np.empty(50)
    for dx, dy, found in ((step, 0.0, slope_x), (0.0, step, slope_y)):
        sample(image, x + dx, y + dy, *extra, ahead)
        sample(image, x - dx, y - dy, *extra, behind)
        np.testing.assert_allclose(found, (ahead - behind) / (2.0 * step), atol=1e-9)


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_self_value_matches_map_of_one_event(footprint, positions):
    x, y = positions
    own, extra, options = kernel("self_value", footprint)
    taps = np.array([0.5, 0.2, 0.05])
    values = np.full(x.size, np.nan)
    own(x, y, *SHAPE, *(extra or (taps,)), values)
    one = np.ones(1)
    for k in range(0, x.size, 7):
        here = x[k : k + 1], y[k : k + 1]
        alone = oracle.accumulate(footprint, *here, one, SHAPE, **options)
        if footprint != "gaussian":
            alone = blur_oracle.blur(alone, taps)
        expected = oracle.sample(footprint, alone, *here, **options)[0]
        np.testing.assert_allclose(values[k], expected, atol=1e-14)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 40), (40, 3), (31, 23)])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("in_place", [False, True])
def test_blur_matches_oracle(shape, sigma, in_place):
    image = np.random.default_rng(5).normal(size=shape)
    taps = gaussian_taps(sigma)
    expected = blur_oracle.blur(image, taps)
    out = image if in_place else np.full(shape, np.nan)
    radius = taps.size - 1
    blur.blur(image, taps, np.zeros((2 * radius + 2, shape[1] + 2 * radius)), out)
    np.testing.assert_allclose(out, expected, atol=1e-14)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 2), (3, 3), (4, 4), (9, 13)])
def test_mean_square_slope_matches_oracle(shape):
    image = np.random.default_rng(6).normal(size=shape)
    value, gradient = sobel_oracle.mean_square_slope(image)
    np.testing.assert_allclose(sobel.mean_square_slope(image), value, atol=1e-15)
    found = sobel.differentiate_mean_square_slope(image, np.zeros((6, shape[1] + 2)))
    np.testing.assert_allclose(found, value, atol=1e-15)
    np.testing.assert_allclose(image, gradient, atol=1e-15)


@pytest.mark.parametrize("r", [1e-3, 0.1, 1.0, 7.3, 500.0])
def test_gamma_ratio_agrees_with_scipy(r):
    special = pytest.importorskip("scipy.special", reason="reference implementation")
    m = np.concatenate(([0.0], np.geomspace(1e-9, 1e6, 61), np.linspace(0.01, 12.0, 40)))
    value, slope = np.array([negative_binomial.gamma_ratio(one, r) for one in m]).T
    terms = special.gammaln(m + r), special.gammaln(m + 1.0)
    # Differences of large numbers, also in scipy: the error is relative to the terms.
    scale = 1.0 + np.maximum(*np.abs(terms))
    np.testing.assert_allclose((value - (terms[0] - terms[1])) / scale, 0.0, atol=3e-14)
    expected = special.digamma(m + r) - special.digamma(m + 1.0)
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_contrast_map_matches_oracle(footprint):
    x, y = random_positions(200, seed=8)
    weight = np.random.default_rng(9).uniform(0.0, 1.0, 200)
    contrast = ContrastMap(footprint=footprint, sigma_px=0.8, padding_px=3, scale=2)
    u, v = (x + 3.5) / 2 - 0.5, (y + 3.5) / 2 - 0.5
    shape = (9, 12)  # (12 + 6) / 2 and, rounded up, (17 + 6) / 2
    sharp = oracle.accumulate(footprint, u, v, weight, shape, **_gaussian(footprint))
    expected = sharp if footprint == "gaussian" else blur_oracle.blur(sharp, gaussian_taps(0.8))
    np.testing.assert_allclose(contrast.build(x, y, weight, (17, 12)), expected, atol=1e-13)


def _gaussian(footprint):
    return {"sigma": 0.8, "radius": 4} if footprint == "gaussian" else {}


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_map_can_be_a_strided_array(footprint):
    rng = np.random.default_rng(6)
    contrast = ContrastMap(footprint=footprint, padding_px=2)
    x, y, weight = rng.uniform(0.0, 20.0, 50), rng.uniform(0.0, 15.0, 50), rng.uniform(0.5, 2.0, 50)
    shape = contrast.shape((21, 16))
    whole, part = np.zeros(shape), np.zeros((*shape, 2))[:, :, 1]
    for image in (whole, part):
        contrast.accumulate(*contrast.to_map(x, y), weight, image)
    np.testing.assert_array_equal(part, whole)
    np.testing.assert_array_equal(contrast.sample(part, x, y), contrast.sample(whole, x, y))


def test_bilinear_map_includes_last_row_and_column():
    rng = np.random.default_rng(8)
    x, y = rng.integers(0, 9, 300).astype(float), rng.integers(0, 7, 300).astype(float)
    tent = ContrastMap(footprint="bilinear", sigma_px=0.0, padding_px=0)
    plain = tent.build(x, y, np.ones(300), (9, 7))
    mirrored = tent.build(8.0 - x, 6.0 - y, np.ones(300), (9, 7))[::-1, ::-1]
    assert plain.sum() == 300.0
    np.testing.assert_array_equal(plain, mirrored)


@pytest.mark.parametrize("scale", range(1, 10))
def test_center_of_first_coarse_pixel_is_0(scale):
    middle = np.array([0.5 * (scale - 1)])
    tent = ContrastMap(footprint="bilinear", sigma_px=0.0, padding_px=0, scale=scale)
    iwe = tent.build(middle, middle, np.ones(1), (64, 48))
    assert iwe[0, 0] == 1.0


@pytest.mark.parametrize("sigma_px", [0.0, 1.0])
def test_integer_map_is_blurred_like_float_map(sigma_px):
    counts = np.random.default_rng(3).integers(0, 9, (12, 15))
    contrast = ContrastMap(sigma_px=sigma_px)
    np.testing.assert_array_equal(contrast.blur(counts), contrast.blur(counts.astype(float)))


@pytest.mark.parametrize("resolution", [(34, 34), (61, 45), (346, 260)])
@pytest.mark.parametrize("n", [0, 1, 1024, 5000])
@pytest.mark.parametrize("scale", [2, 3])
def test_map_of_kept_events(resolution, n, scale):
    rng = np.random.default_rng(n + scale)
    width, height = resolution
    kept = rng.random(n) < 0.7
    contrast = ContrastMap(footprint="spline", sigma_px=0.0, scale=scale)
    shape = contrast.shape(resolution)
    aligned = rng.uniform(-9.0, width + 9.0, n), rng.uniform(-9.0, height + 9.0, n)
    if n > 2:
        aligned[0][:2] = np.nan, np.inf
    pixels = (
        rng.integers(0, width, n).astype(np.uint16),
        rng.integers(0, height, n).astype(np.uint16),
    )
    for x, y in (aligned, pixels):
        image, wanted = np.full(shape, np.nan), kept_oracle.kept_map(x, y, kept, scale, resolution)
        kept_map(x, y, kept, contrast.padding_px, scale, image)
        np.testing.assert_array_equal(image, wanted)
        assert variance(image) == pytest.approx(wanted.var(), rel=1e-12, abs=1e-300)
    if scale == 2:
        of_pixels = np.full(shape, np.nan)
        kept_map_of_pixels(*pixels, kept, contrast.padding_px, of_pixels)
        np.testing.assert_array_equal(of_pixels, image)


@pytest.mark.parametrize("scale", [1, 2])
def test_overlap_of_pairs_is_the_sum_of_samples_without_own_parts(scale):
    rng = np.random.default_rng(scale)
    x, y = rng.uniform(-9.0, 49.0, (2, 400))  # some of them off the map
    contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=4, scale=scale)
    image, shift = np.empty(contrast.shape((40, 30))), 4.5 / scale - 0.5
    cell, a, b = np.empty(400, np.int32), np.empty(400), np.empty(400)
    spline.locate_and_accumulate(x, y, 1.0 / scale, shift, shift, cell, a, b, image)
    np.testing.assert_allclose(
        image, contrast.build(x, y, np.ones(400), (40, 30)), rtol=1e-12, atol=1e-12
    )
    wanted = contrast.leave_one_out(image, x, y).sum()
    np.testing.assert_allclose(spline.overlap_of_pairs(cell, a, b, image), wanted, rtol=1e-10)
