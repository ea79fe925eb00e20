"""Laws of all contrast maps, for arbitrary events."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evcrisp.contrast import FOOTPRINTS, POLARITIES, ContrastMap, channel_weights
from evcrisp.core.errors import ConfigError, EventDataError, UnknownNameError

RESOLUTION = (20, 14)
#: Padding wider than the blur of any event on the sensor.
WIDE = 60

checked = settings(max_examples=40, deadline=None, derandomize=True)


def event_lists(low=-20.0, high=35.0, max_size=25):
    """Return lists of x, y and weight."""
    coordinate = st.floats(low, high) | st.integers(int(low), int(high)).map(float)
    event = st.tuples(coordinate, coordinate, st.floats(0.0, 2.0))
    return st.lists(event, max_size=max_size).map(
        lambda rows: np.array(rows).reshape(-1, 3).T.copy()
    )


def recipes(padding_px=5, scales=(1, 2, 3)):
    return st.builds(
        ContrastMap,
        footprint=st.sampled_from(list(FOOTPRINTS)),
        sigma_px=st.sampled_from([0.7, 1.0, 2.0]),
        padding_px=st.just(padding_px),
        scale=st.sampled_from(scales),
    )


@checked
@given(recipes(padding_px=24, scales=(1,)), event_lists(-4.0, 18.0))
def test_map_sums_to_the_weight_inside(contrast, events):
    x, y, weight = events
    iwe = contrast.build(x, y, weight, RESOLUTION)
    # A Gaussian is sampled at pixels (1.3e-4 per axis at sigma 0.7) and cut off after at least
    # 3.5 sigma (2.3e-4 per axis and side).
    rtol = 1e-3 if contrast.footprint == "gaussian" else 1e-12
    np.testing.assert_allclose(iwe.sum(), weight.sum(), rtol=rtol, atol=1e-12)


@checked
@given(recipes(), event_lists(), st.randoms(use_true_random=False))
def test_order_of_events_does_not_matter(contrast, events, random):
    order = list(range(events.shape[1]))
    random.shuffle(order)
    iwe = contrast.build(*events, RESOLUTION)
    shuffled = contrast.build(*events[:, order].copy(), RESOLUTION)
    np.testing.assert_allclose(shuffled, iwe, atol=1e-12)


@checked
@given(recipes(), event_lists(), st.floats(-3.0, 3.0))
def test_map_is_linear_in_the_weights(contrast, events, factor):
    x, y, weight = events
    other = np.cos(np.arange(x.size))
    together = contrast.build(x, y, weight + factor * other, RESOLUTION)
    apart = contrast.build(x, y, weight, RESOLUTION) + factor * contrast.build(
        x, y, other, RESOLUTION
    )
    np.testing.assert_allclose(together, apart, atol=1e-11)


@checked
@given(recipes(WIDE, (1, 2)), event_lists(0.0, 18.0), st.integers(-3, 3), st.integers(-3, 3))
def test_shift_of_events_by_whole_pixels_shifts_the_map(contrast, events, columns, rows):
    x, y, weight = np.round(events * 64.0) / 64.0  # so that a shift is exact
    moved = (x + columns * contrast.scale, y + rows * contrast.scale)
    iwe = contrast.build(x, y, weight, RESOLUTION)
    rolled = np.roll(iwe, (rows, columns), axis=(0, 1))
    np.testing.assert_allclose(contrast.build(*moved, weight, RESOLUTION), rolled, atol=1e-12)


@checked
@given(recipes(), event_lists())
def test_mirrored_events_give_the_mirrored_map(contrast, events):
    x, y, weight = events
    # Off the lines between two pixels, and on a map divisible by the scale.
    x, y = x + 0.123, y + 0.077
    resolution = (2 * 3 * 4 - 10, 2 * 3 * 5 - 10)
    iwe = contrast.build(x, y, weight, resolution)
    mirrored = contrast.build(resolution[0] - 1.0 - x, y, weight, resolution)
    np.testing.assert_allclose(mirrored, iwe[:, ::-1], atol=1e-11)
    upside_down = contrast.build(x, resolution[1] - 1.0 - y, weight, resolution)
    np.testing.assert_allclose(upside_down, iwe[::-1], atol=1e-11)


@checked
@given(recipes(), event_lists(), st.integers(0, 2**32 - 1))
def test_building_and_sampling_are_adjoint(contrast, events, seed):
    x, y, weight = events
    image = np.random.default_rng(seed).normal(size=contrast.shape(RESOLUTION))
    built = np.sum(contrast.build(x, y, weight, RESOLUTION) * image)
    sampled = np.sum(weight * contrast.sample(contrast.blur(image), x, y))
    np.testing.assert_allclose(built, sampled, rtol=1e-10, atol=1e-10)


@checked
@given(recipes(), event_lists(max_size=6))
def test_isolated_event_has_only_its_self_value(contrast, events):
    x, y, _ = events
    own = contrast.self_value(x, y, RESOLUTION)
    for k in range(x.size):
        here = x[k : k + 1], y[k : k + 1]
        alone = contrast.build(*here, np.ones(1), RESOLUTION)
        np.testing.assert_allclose(contrast.sample(alone, *here), own[k : k + 1], atol=1e-12)
        np.testing.assert_allclose(contrast.leave_one_out(alone, *here), 0.0, atol=1e-12)


@checked
@given(recipes(padding_px=24, scales=(1,)), event_lists(0.0, 13.0))
def test_leave_one_out_equals_map_without_the_event(contrast, events):
    x, y, weight = events
    iwe = contrast.build(x, y, weight, RESOLUTION)
    others = contrast.leave_one_out(iwe, x, y, weight)
    for k in range(min(x.size, 5)):
        rest = np.arange(x.size) != k
        without = contrast.build(x[rest], y[rest], weight[rest], RESOLUTION)
        expected = contrast.sample(without, x[k : k + 1], y[k : k + 1])
        np.testing.assert_allclose(others[k : k + 1], expected, atol=1e-11)


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_self_value_of_unbounded_map_has_no_border(footprint):
    contrast = ContrastMap(footprint=footprint)
    x = np.array([-500.25, 3.75, 1e6 + 0.75, np.nan, np.inf])
    own = contrast.self_value(x, np.zeros(5))
    expected = contrast.self_value(np.array([9.75]), np.zeros(1), RESOLUTION)[0]
    assert expected > 0.0
    np.testing.assert_allclose(own[1:3], expected, rtol=1e-9)
    np.testing.assert_array_equal(own[3:], 0.0)


@pytest.mark.parametrize("footprint", [name for name in FOOTPRINTS if name != "nearest"])
@pytest.mark.parametrize("scale", [1, 2])
def test_pull_back_matches_differences(footprint, scale):
    rng = np.random.default_rng(3)
    contrast = ContrastMap(footprint=footprint, padding_px=8, scale=scale)
    # Off the kinks of a tent.
    x, y = rng.integers(0, 20, 30) + 0.3, rng.integers(0, 14, 30) - 0.2
    gradient = rng.normal(size=contrast.shape(RESOLUTION))
    slope_x, slope_y = contrast.pull_back(gradient, x, y)
    step = 1e-5
    for k in range(0, 30, 6):
        moved = np.zeros(30)
        moved[k] = step
        ones = np.ones(30)
        for dx, dy, slope in ((moved, 0.0, slope_x), (0.0, moved, slope_y)):
            ahead = np.sum(gradient * contrast.build(x + dx, y + dy, ones, RESOLUTION))
            behind = np.sum(gradient * contrast.build(x - dx, y - dy, ones, RESOLUTION))
            np.testing.assert_allclose(slope[k], (ahead - behind) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("resolution", [(1, 1), (2, 3), (3, 200)])
@pytest.mark.parametrize("footprint", FOOTPRINTS)
@pytest.mark.parametrize("padding_px", [0, 2])
def test_tiny_sensors_have_maps(resolution, footprint, padding_px):
    contrast = ContrastMap(footprint=footprint, padding_px=padding_px)
    iwe = contrast.build(np.zeros(3), np.zeros(3), np.ones(3), resolution)
    assert iwe.shape == contrast.shape(resolution)
    assert np.isfinite(iwe).all()
    assert np.isfinite(contrast.leave_one_out(iwe, np.zeros(3), np.zeros(3))).all()


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_empty_window_has_an_empty_map(footprint):
    contrast, none = ContrastMap(footprint=footprint), np.empty(0)
    iwe = contrast.build(none, none, none, RESOLUTION)
    assert not iwe.any()
    assert contrast.sample(iwe, none, none).shape == (0,)


def test_tiny_blur_changes_nothing():
    image = np.random.default_rng(0).normal(size=(5, 6))
    for sigma_px in (0.0, 1e-300, 0.05):
        np.testing.assert_array_equal(ContrastMap(sigma_px=sigma_px).blur(image), image)
    nearly_unchanged = ContrastMap(sigma_px=0.11).blur(image)
    np.testing.assert_allclose(nearly_unchanged, image, atol=1e-15)


def test_blur_works_in_place_and_with_out():
    image = np.random.default_rng(1).normal(size=(9, 7))
    for contrast in (ContrastMap(), ContrastMap(footprint="gaussian"), ContrastMap(sigma_px=0.0)):
        expected, out = contrast.blur(image.copy()), np.empty((9, 7))
        assert contrast.blur(image, out=out) is out
        np.testing.assert_array_equal(out, expected)
        same = image.copy()
        assert contrast.blur(same, out=same) is same
        np.testing.assert_array_equal(same, expected)


@given(arrays(bool, st.integers(0, 30)), st.integers(0, 99))
@checked
def test_channel_weights_partition_the_events(p, seed):
    weight = np.random.default_rng(seed).uniform(size=p.size)
    (unsigned,) = channel_weights(p, "unsigned", weight)
    on, off = channel_weights(p, "separate", weight)
    (signed,) = channel_weights(p, "signed", weight)
    np.testing.assert_array_equal(unsigned, weight)
    np.testing.assert_array_equal(on + off, weight)
    np.testing.assert_array_equal(on - off, signed)
    assert not on[~p].any()
    assert not np.shares_memory(unsigned, weight)
    np.testing.assert_array_equal(channel_weights(p)[0], np.ones(p.size))


def test_invalid_parameters_are_refused():
    with pytest.raises(UnknownNameError, match="Unknown footprint 'box'. Known: bilinear"):
        ContrastMap(footprint="box")
    with pytest.raises(ConfigError, match="`sigma_px` must be a number in 0..100; got -1"):
        ContrastMap(sigma_px=-1.0)
    with pytest.raises(
        ConfigError, match="`sigma_px` must be a number in 0.5..10; got 0.0. For other blurs"
    ):
        ContrastMap(footprint="gaussian", sigma_px=0.0)
    with pytest.raises(ConfigError, match="`padding_px` must be a whole number in 0..4096; got -1"):
        ContrastMap(padding_px=-1)
    with pytest.raises(ConfigError, match="`scale` must be a whole number in 1..64; got 0"):
        ContrastMap(scale=0)
    with pytest.raises(ConfigError, match="Footprint 'nearest' has no gradient"):
        ContrastMap(footprint="nearest").pull_back(np.zeros((4, 4)), np.zeros(1), np.zeros(1))
    with pytest.raises(UnknownNameError, match="Unknown polarity 'split'"):
        channel_weights(np.ones(1, bool), "split")
    assert set(POLARITIES) == {"unsigned", "separate", "signed"}


@pytest.mark.parametrize("footprint", FOOTPRINTS)
def test_columns_of_different_lengths_are_refused(footprint):
    recipe = ContrastMap(footprint=footprint, padding_px=2)
    long, short = np.linspace(1.0, 8.0, 50), np.ones(3)
    image = np.zeros(recipe.shape((10, 10)))
    for call in (
        lambda: recipe.build(long, long, short, (10, 10)),
        lambda: recipe.build(long, short, long, (10, 10)),
        lambda: recipe.build(image, image, image, (10, 10)),
        lambda: recipe.sample(image, long, short),
        lambda: recipe.self_value(long, short),
        lambda: recipe.leave_one_out(image, long, short),
    ):
        with pytest.raises(EventDataError, match="one axis and one length"):
            call()
    with pytest.raises(ConfigError, match="`resolution` must be"):
        recipe.build(long, long, long, (-10, 10))


def test_map_without_blur_is_a_copy():
    plain = ContrastMap(sigma_px=0.0)
    image = np.ones((8, 8))
    assert not np.shares_memory(plain.blur(image), image)
