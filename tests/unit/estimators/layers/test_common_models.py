"""Models on which the motions of all layers may lie."""

from functools import partial

import numpy as np
import pytest

from evcrisp import Camera, Events, Window
from evcrisp.estimators.layers.common_models import common_models
from evcrisp.estimators.layers.find_layers import FoundLayers
from evcrisp.estimators.layers.fitting import constant_motion
from evcrisp.estimators.layers.layer_contrasts import is_as_sharp, layer_contrasts
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.motion import Rigid, Translation
from evcrisp.search.window_data import WindowData

SIZE = (160, 120)
CENTER = (79.5, 59.5)


@pytest.fixture(scope="module")
def window():
    rng = np.random.default_rng(1)
    n = 3000
    events = Events(
        x=rng.integers(0, 160, n), y=rng.integers(0, 120, n), t=np.sort(rng.integers(0, 30_000, n)),
        p=rng.integers(0, 2, n) > 0, resolution=SIZE,
    )  # fmt: skip
    data = WindowData.of(Window(events, 0, 30_000), Translation())
    return LayerWindow.of(data, events, np.ones(n, bool))


def models(window, layers, camera=None, *, is_signal=True):
    signal = np.full(len(window), is_signal)
    contrasts = partial(layer_contrasts, window, layers, signal)
    return common_models(window, layers, signal, contrasts, camera)


def found(window, motions):
    """Return layers, one per half of the columns."""
    label = np.zeros(window.cells_shape, np.int16)
    if len(motions) > 1:
        label[:, :, label.shape[2] // 2 :] = 1
    return FoundLayers(np.array(motions), label)


def affine(vx, vy, xx, xy, yx, yy):
    return np.array([vx, vy, xx, xy, yx, yy, *CENTER])


@pytest.mark.parametrize(
    ("motion", "name"),
    [
        (affine(5, -3, 0, 0, 0, 0), "translation"),
        (affine(5, -3, 0.05, -0.1, 0.1, 0.05), "similarity"),
        (affine(5, -3, 0.1, 0.0, 0.0, -0.1), "affine"),
    ],
)
def test_the_simplest_model_comes_first_with_its_parameters(window, motion, name):
    starts = models(window, found(window, [motion]))
    first = starts[0]
    assert first.model.name == name
    x, y = np.array([20.0, 140.0]), np.array([100.0, 10.0])
    a, b = x - CENTER[0], y - CENTER[1]
    moved = motion[:2, None] + motion[2:6].reshape(2, 2) @ np.stack((a, b))
    # A short time: the similarity turns, the field is straight.
    warped = first.model.warp(first.theta, x, y, np.full(2, 1e-3))
    np.testing.assert_allclose(np.stack((x, y)) - 1e-3 * moved, warped, atol=1e-4)
    order = ["translation", "rigid", "similarity", "affine", "homography"]
    k = order.index(name)
    # Simpler ones come last, for edges along which the others slide.
    assert [start.model.name for start in starts] == order[k:] + order[1:3][: max(k - 1, 0)]


def test_a_turn_without_growth_is_rigid(window):
    starts = models(window, found(window, [affine(3, -2, 0.0, -0.1, 0.1, 0.0)]))
    names = [start.model.name for start in starts]
    assert names == ["rigid", "similarity", "affine", "homography"]


def test_layers_that_move_apart_share_no_model(window):
    # An affine field through two halves would stretch, and miss both.
    motions = [affine(12, 0, 0, 0.3, 0, 0), affine(-12, 9, 0, -0.3, 0.2, 0)]
    assert models(window, found(window, motions)) == []


def test_others_may_belong_to_the_field_of_a_large_layer_that_turns(window):
    motions = [affine(3, -2, 0.0, -0.1, 0.1, 0.0), affine(-25, 20, 0, 0, 0, 0)]
    label = np.zeros(window.cells_shape, np.int16)
    label[:, :, : label.shape[2] // 4] = 1
    starts = models(window, FoundLayers(np.array(motions), label))
    assert [start.model.name for start in starts] == ["rigid", "similarity"]
    np.testing.assert_allclose(starts[0].theta, (3.0, -2.0, 0.1), atol=1e-4)


def test_others_that_are_sharper_with_their_own_motion_do_not_belong_to_a_field():
    turning, moving = affine(3, -2, 0.0, -0.1, 0.1, 0.0), affine(-25, 20, 0, 0, 0, 0)
    rng = np.random.default_rng(2)
    # Points that stay for the whole window: one quarter shifts, the rest turns.
    tau = np.sort(rng.uniform(-0.5, 0.5, 6000))
    number = rng.integers(0, 300, tau.size)
    points = rng.uniform((15, 15), (145, 105), (300, 2))
    is_left = points[:, 0] < 40
    a, b = (points - CENTER).T
    moved = np.where(is_left[:, None], moving[:2], turning[:2] + 0.1 * np.stack((-b, a), axis=1))
    x, y = (points[number] + tau[:, None] * moved[number]).T.round()
    events = Events(
        x=x.astype(int), y=y.astype(int), t=((tau + 0.5) * 29_999).astype(int),
        p=np.ones(tau.size, bool), resolution=SIZE,
    )  # fmt: skip
    data = WindowData.of(Window(events, 0, 30_000), Translation())
    window = LayerWindow.of(data, events, np.ones(tau.size, bool))
    label = np.zeros(window.cells_shape, np.int16)
    label[:, :, : label.shape[2] // 4] = 1
    assert models(window, FoundLayers(np.array([turning, moving]), label)) == []
    names = [s.model.name for s in models(window, FoundLayers(np.array([turning, turning]), label))]
    assert names[0] == "rigid"
    # Layers with one motion are as sharp with it; layers with two are not.
    for motions, is_one in (([turning, turning], True), ([turning, moving], False)):
        layers = FoundLayers(np.array(motions), label)
        contrasts = layer_contrasts(window, layers, np.ones(len(window), bool))
        assert len(contrasts) == 2
        theta = np.array([3.0, -2.0, 0.1])
        assert is_as_sharp(window, contrasts, Rigid.for_sensor(SIZE), theta) is is_one


def test_others_do_not_belong_to_a_large_layer_that_only_shifts(window):
    motions = [affine(3, -2, 0, 0, 0, 0), affine(-25, 20, 0, 0, 0, 0)]
    label = np.zeros(window.cells_shape, np.int16)
    label[:, :, : label.shape[2] // 4] = 1
    assert models(window, FoundLayers(np.array(motions), label)) == []


def test_layers_of_one_field_share_its_model(window):
    left = affine(5, -3, 0.05, -0.1, 0.1, 0.05)
    # The same field, about another center.
    other = left.copy()
    other[6:] = 20.0, 30.0
    other[:2] += left[2:6].reshape(2, 2) @ (other[6:] - left[6:])
    starts = models(window, found(window, [left, other]))
    assert starts[0].model.name == "similarity"


def test_a_camera_offers_a_rotation(window):
    camera = Camera(fx=150.0, fy=150.0, cx=79.5, cy=59.5)
    layers = found(window, [constant_motion(np.array([4.0, 2.0]), CENTER)])
    assert models(window, layers, camera)[0].model.name == "rotation"
    assert "rotation" not in [start.model.name for start in models(window, layers)]


def test_few_signal_events_share_nothing(window):
    layers = found(window, [constant_motion(np.zeros(2), CENTER)])
    assert models(window, layers, is_signal=False) == []


def test_a_compact_object_that_turns_offers_no_model_of_the_view(window):
    layers = found(window, [affine(4, 2, 0.0, -0.1, 0.1, 0.0)])
    inside = np.hypot(window.x - 40, window.y - 40) < 20
    assert common_models(window, layers, inside, []) == []


def test_a_compact_object_alone_offers_its_translation(window):
    layers = found(window, [constant_motion(np.array([4.0, 2.0]), CENTER)])
    inside = np.hypot(window.x - 40, window.y - 40) < 20
    (start,) = common_models(window, layers, inside, [])
    assert start.model.name == "translation"
    np.testing.assert_allclose(start.theta, (4.0, 2.0), rtol=1e-6)


def test_a_compact_object_at_rest_offers_no_model(window):
    layers = found(window, [constant_motion(np.zeros(2), CENTER)])
    inside = np.hypot(window.x - 40, window.y - 40) < 20
    assert common_models(window, layers, inside, []) == []


def test_two_compact_objects_offer_no_model_of_the_view(window):
    layers = found(window, [constant_motion(np.array([4.0, 2.0]), CENTER)] * 2)
    left = np.hypot(window.x - 30, window.y - 30) < 14
    right = np.hypot(window.x - 130, window.y - 90) < 14
    assert common_models(window, layers, left | right, []) == []
