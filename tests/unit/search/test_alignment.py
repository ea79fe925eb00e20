"""Objective of an alignment: value and gradient for all models, maps and polarities."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from evcrisp import Events, Window
from evcrisp.contrast import FOOTPRINTS, POLARITIES, ContrastMap
from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.motion import MOTION_MODELS, Rotation, motion_model
from evcrisp.objectives import OBJECTIVES, Entropy, GradientMagnitude, Poisson, Variance
from evcrisp.search.alignment import Alignment, MultiReference
from evcrisp.search.contrast_engine import MapBuffers
from evcrisp.search.window_data import WindowData
from evcrisp.simulation import DEFAULT_THETA

RESOLUTION = (40, 30)
DISTORTED = Camera(40.0, 42.0, 20.5, 14.0, (-0.2, 0.05, 1e-3, -1e-3, 0.0))
MODELS = {name: motion_model(name, RESOLUTION) for name in MOTION_MODELS}
MODELS["distorted rotation"] = Rotation(DISTORTED)
SMOOTH = ContrastMap(footprint="spline", padding_px=6)


def moving_edges(n=400, seed=2):
    """Return a window in which vertical lines of both polarities move right at 150 px/s."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.integers(0, 50_000, n))
    line = rng.integers(0, 4, n)
    x = np.clip(5 + 8 * line + 150.0 * (t - 25_000) / 1e6, 0, 39)
    return Window(
        Events(
            x=x.astype(int), y=rng.integers(0, 30, n), t=t, p=line % 2 == 0, resolution=RESOLUTION
        ),
        0,
        50_000,
    )


def problem(model="translation", contrast=SMOOTH, objective=None, **options):
    data = WindowData.of(moving_edges(), MODELS[model])
    return Alignment(data, contrast, objective or Variance(), **options)


def central_differences(fun, theta, step):
    return np.array(
        [
            (fun(theta + step * unit) - fun(theta - step * unit)) / (2.0 * step)
            for unit in np.eye(theta.size)
        ]
    )


def assert_gradient_matches_differences(alignment, theta, step=1e-5, rtol=1e-5):
    value, gradient = alignment.value_and_gradient(theta)
    np.testing.assert_allclose(value, alignment.value(theta), rtol=1e-12)
    expected = central_differences(alignment.value, theta, step)
    np.testing.assert_allclose(gradient, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize("model", MODELS)
def test_gradient_matches_differences_for_every_model(model):
    theta = 0.37 * np.array(DEFAULT_THETA[MODELS[model].name])
    assert_gradient_matches_differences(problem(model), theta)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("polarity", POLARITIES)
def test_gradient_matches_differences_for_every_objective_and_polarity(objective, polarity):
    chosen = OBJECTIVES[objective]()
    if polarity == "signed" and not chosen.accepts_signed:
        pytest.skip("objective refuses signed maps")
    alignment = problem(objective=chosen, polarity=polarity)
    assert_gradient_matches_differences(alignment, np.array([61.3, -17.9]), 1e-4, rtol=1e-4)


@pytest.mark.parametrize("footprint", [name for name in FOOTPRINTS if name != "nearest"])
@pytest.mark.parametrize("scale", [1, 2])
def test_gradient_matches_differences_for_every_map(footprint, scale):
    contrast = ContrastMap(footprint=footprint, padding_px=6, scale=scale)
    weight = np.random.default_rng(4).uniform(size=400)
    # A tent has kinks and a truncated Gaussian has steps; small differences meet few of them.
    alignment = problem(contrast=contrast, weight=weight)
    assert_gradient_matches_differences(alignment, np.array([61.3, -17.9]), 1e-6, rtol=3e-4)


def test_true_motion_is_sharper_than_no_motion():
    alignment = problem()
    assert alignment.value(np.array([150.0, 0.0])) > 2.0 * alignment.value(np.zeros(2))


def test_objective_of_two_maps_is_their_sum():
    theta = np.array([100.0, 5.0])
    alignment = problem(polarity="separate")
    on, off = alignment.maps(theta)
    assert alignment.value(theta) == pytest.approx(np.var(on) + np.var(off), rel=1e-12)
    np.testing.assert_allclose(alignment.iwe(theta), problem().iwe(theta), atol=1e-12)
    np.testing.assert_allclose(on - off, problem(polarity="signed").iwe(theta), atol=1e-12)


def test_events_of_weight_0_are_ignored():
    theta = np.array([80.0, 0.0])
    keep = np.arange(400) % 3 > 0
    weighted = problem(weight=keep.astype(float))
    part = replace(problem(), data=problem().data.subset(keep))
    np.testing.assert_allclose(weighted.iwe(theta), part.iwe(theta), atol=1e-13)
    for one, other in zip(
        weighted.value_and_gradient(theta), part.value_and_gradient(theta), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_results_do_not_share_memory():
    alignment = problem()
    theta = np.array([150.0, 0.0])
    iwe, (value, gradient) = alignment.iwe(theta), alignment.value_and_gradient(theta)
    before = iwe.copy(), gradient.copy()
    alignment.value_and_gradient(np.array([-90.0, 30.0]))
    np.testing.assert_array_equal(iwe, before[0])
    np.testing.assert_array_equal(gradient, before[1])
    again = alignment.value_and_gradient(theta)
    assert again[0] == value
    np.testing.assert_array_equal(again[1], gradient)


def test_alignments_can_share_buffers():
    shared = MapBuffers()
    theta = np.array([120.0, 3.0])
    fine = problem(buffers=shared)
    coarse = replace(fine, contrast=replace(SMOOTH, scale=2))
    assert coarse.buffers is shared
    for alignment in (fine, coarse, fine):
        own = replace(alignment, buffers=MapBuffers())
        assert alignment.value(theta) == own.value(theta)
        np.testing.assert_array_equal(
            alignment.value_and_gradient(theta)[1], own.value_and_gradient(theta)[1]
        )


def test_buffers_grow_and_keep_their_memory():
    buffers = MapBuffers()
    buffers.fit((4, 3), 10)
    image, x = buffers.image, buffers.x
    assert image.shape == (4, 3)
    buffers.fit((2, 3), 6)
    assert buffers.image.shape == (2, 3)
    assert buffers.slope_y.shape == (6,)
    assert np.shares_memory(image, buffers.image)
    assert np.shares_memory(x, buffers.x)
    assert not np.shares_memory(buffers.x, buffers.y)
    buffers.fit((5, 5), 0)
    assert buffers.image.shape == (5, 5)
    assert buffers.x.shape == (0,)


def test_buffers_of_threads_are_separate():
    buffers = MapBuffers()
    buffers.fit((4, 3), 10)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: buffers.x.size).result() == 0
    assert pickle.loads(pickle.dumps(buffers)).x.size == 0


def test_normalized_objective_is_1_without_motion():
    for polarity in POLARITIES:
        normal = problem(polarity=polarity).normalized()
        assert normal.value(np.zeros(2)) == pytest.approx(1.0)
        assert_gradient_matches_differences(normal, np.array([61.3, -17.9]), 1e-4)


@pytest.mark.parametrize("objective", [Variance(), GradientMagnitude()])
@pytest.mark.parametrize("model", ["translation", "similarity", "rotation"])
def test_multi_reference_gradient_matches_differences(objective, model):
    multi = MultiReference.of(problem(model, objective=objective))
    none = np.zeros(len(MODELS[model].param_names))
    assert multi.value(none) == pytest.approx(1.0)
    theta = 0.37 * np.array(DEFAULT_THETA[MODELS[model].name])
    assert_gradient_matches_differences(multi, theta, rtol=1e-4)


def test_multi_reference_uses_start_middle_and_end():
    alignment = problem()
    multi = MultiReference.of(alignment)
    theta = np.array([150.0, 20.0])
    np.testing.assert_allclose(multi.iwe(theta), alignment.iwe(theta), atol=1e-12)
    start, middle, end = (part.data.warp.dt for part in multi.parts)
    np.testing.assert_allclose(start - middle, 0.025)
    np.testing.assert_allclose(middle - end, 0.025)
    still = alignment.value(np.zeros(2))
    loss = sum(
        weight * still / Alignment(alignment.data.at(offset), SMOOTH, Variance()).value(theta)
        for weight, offset in ((1, -0.025), (2, 0.0), (1, 0.025))
    )
    assert multi.value(theta) == pytest.approx(4.0 / loss)


def test_likelihood_of_two_maps_is_per_event():
    window = moving_edges()
    kept = np.flatnonzero(window.events.p | (np.arange(400) % 3 == 0))  # fewer OFF than ON
    data = WindowData.of(window, MODELS["translation"]).subset(kept)
    both = Alignment(data, SMOOTH, Poisson(), polarity="separate")
    theta, n_pixels = np.array([120.0, 8.0]), 52 * 42
    on, off = (n_pixels * Poisson().value(iwe) for iwe in both.maps(theta))
    n_on = int(data.p.sum())
    per_event = on / n_on + off / (len(data) - n_on)
    # Up to a factor that does not depend on the motion.
    assert both.value(theta) == pytest.approx(per_event * 0.5 * len(data) / n_pixels)
    assert_gradient_matches_differences(both, theta, 1e-4, rtol=1e-4)


def test_multi_reference_does_not_reward_collapse():
    # A zoom by exp(5) over half of the window moves all late events to a few pixels.
    collapse = np.array([0.0, 0.0, 0.0, 200.0])
    true = np.array([150.0, 0.0, 0.0, 0.0])
    alignment = problem("similarity")
    multi = MultiReference.of(alignment)
    assert alignment.value(collapse) > alignment.value(true)
    assert multi.value(collapse) < multi.value(np.zeros(4)) < multi.value(true)


def test_multi_reference_refuses_negative_objectives():
    with pytest.raises(ConfigError, match="need an objective of 0 or more; 'entropy' is below"):
        MultiReference.of(problem(objective=Entropy()))


def test_multi_reference_is_0_if_events_leave_the_map():
    multi = MultiReference.of(problem())
    value, gradient = multi.value_and_gradient(np.array([1e9, 0.0]))
    assert value == multi.value(np.array([1e9, 0.0])) == 0.0
    assert not gradient.any()


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_windows_with_0_or_1_event_have_finite_values(n, objective):
    events = moving_edges().events[:n]
    data = WindowData.of(Window(events, 0, 50_000), MODELS["affine"])
    alignment = Alignment(data, SMOOTH, OBJECTIVES[objective](), polarity="separate")
    value, gradient = alignment.value_and_gradient(np.full(6, 1e-3))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_multi_reference_of_empty_window_is_0():
    data = WindowData.of(Window(moving_edges().events[:0], 0, 50_000), MODELS["affine"])
    multi = MultiReference.of(Alignment(data, SMOOTH, Variance()))
    assert multi.value_and_gradient(np.zeros(6))[0] == 0.0


def test_gradient_is_finite_if_all_events_are_outside():
    value, gradient = problem().value_and_gradient(np.array([1e9, 0.0]))
    assert value >= 0.0
    assert np.isfinite(gradient).all()


def test_objectives_of_counts_refuse_signed_maps():
    with pytest.raises(ConfigError, match="'entropy' needs counts, and a signed map has values"):
        problem(objective=Entropy(), polarity="signed")
