"""Whether one motion explains a window."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.layers.misfit import Misfit, misfit_of
from evcrisp.estimators.reliability.misaligned import measured_misfit
from evcrisp.estimators.reliability.motion_terms import terms_of
from evcrisp.motion import Translation, motion_model
from evcrisp.simulation import ObjectConfig

WINDOW_US = 30_000


def scene(seed=1, **settings):
    defaults = {"resolution": (173, 130), "theta": (300.0, -120.0), "noise_hz": 5.0}
    return evcrisp.simulate(**(defaults | settings), duration_us=WINDOW_US, seed=seed).events


def misfit(events, motion="translation", t_start=0):
    model = motion_model(motion, events.resolution)
    window = Window(events, t_start, t_start + WINDOW_US)
    return misfit_of(AutoRegret().run_both(window, model).by_motion)


@pytest.mark.parametrize("texture", ["shapes", "dots", "rocks"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_right_motion_explains_a_window(texture, seed):
    assert not misfit(scene(seed, texture=texture)).is_large()


@pytest.mark.parametrize("seed", [1, 2])
def test_one_motion_does_not_explain_an_object(seed):
    item = ObjectConfig(theta=(-300.0, 200.0), size=(0.4, 0.5), texture="dots")
    assert misfit(scene(seed, objects=(item,))).is_large()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_translation_does_not_explain_a_turn(seed):
    turning = scene(seed, motion="similarity", theta=(0.0, 0.0, 8.0, 0.0), texture="dots")
    assert misfit(turning).is_large()
    assert not misfit(turning, "similarity").is_large()


def test_the_share_of_the_covariance_replaces_that_of_a_map_only_where_it_is_low():
    turn = {"motion": "similarity", "theta": (0.0, 0.0, 8.0, 0.0)}
    is_replaced = []
    for settings in ({}, turn):
        events = scene(1, resolution=(346, 260), texture="dots", **settings)
        result = AutoRegret().run_both(Window(events, 0, WINDOW_US), Translation()).by_motion
        found, exact = measured_misfit(result, None), misfit_of(result)
        assert found.is_large() == exact.is_large() == bool(settings)
        assert (found.unexplained, found.spot) == (exact.unexplained, exact.spot)
        is_replaced.append(found.misaligned != exact.misaligned)
        known = terms_of(result, result.signal)
        np.testing.assert_array_equal(found.terms.curvature, known.curvature)
    assert is_replaced == [True, False]


def test_windows_without_motion_or_signal_have_no_misfit():
    nothing = Events.empty((173, 130))
    assert misfit(nothing) == Misfit(0.0, 0.0)


def test_what_several_motions_leave_raises_the_limit():
    assert Misfit(0.05, 0.0).is_large()
    assert not Misfit(0.05, 0.0).is_large(Misfit(0.04, 0.0))
    assert Misfit(0.0, 0.31).is_large(Misfit(0.5, 0.2))
    assert not Misfit(0.0, 0.44).is_large(Misfit(0.0, 0.4))
    assert Misfit(0.0, 0.46).is_large(Misfit(0.0, 0.4))
    assert Misfit(0.25, 0.5).total == 0.75


@pytest.mark.parametrize("seed", [113, 117, 123])
def test_a_small_object_stands_out(seed):
    rng = np.random.default_rng(seed)
    item = ObjectConfig(
        theta=(-260.0, 140.0), center=tuple(rng.uniform(0.3, 0.7, 2)), size=(0.08, 0.1)
    )
    sensor = {"contrast": 3.2, "c_on": 0.25, "c_off": 0.25, "feature_px": 38.0}
    whole = {"resolution": (346, 260), "texture": "dots", **sensor}
    found, without = misfit(scene(seed, objects=(item,), **whole)), misfit(scene(seed, **whole))
    assert found.spot > 10.0 > without.spot
    assert found.is_large()
    assert not found.is_large(found)
    assert not without.is_large()


def test_misfit_does_not_depend_on_time_offset():
    events, offset = scene(), 2**60
    later = Events(
        x=events.x, y=events.y, t=events.t + offset, p=events.p, resolution=events.resolution
    )
    assert misfit(later, t_start=offset) == misfit(events)
    assert np.isfinite(misfit(events).total)
