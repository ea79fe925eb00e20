"""State of the search for motions over windows, and events of hot pixels."""

from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, Status, Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.layers.motion_finder import MotionFinder, with_hot_events
from evcrisp.motion import Translation
from evcrisp.motion.open_motion import OPEN_MOTIONS, OpenMotion
from evcrisp.simulation import Forward, ObjectConfig

SIZE = (173, 130)
WINDOW_US = 30_000
FIELDS = ("theta", "signal", "score", "confidence", "aligned_x", "aligned_y", "layer")


@pytest.fixture(scope="module")
def events():
    """Return three windows with two objects."""
    objects = (
        ObjectConfig(theta=(-250, 120), center=(0.4, 0.3), size=(0.35, 0.45), texture="dots"),
        ObjectConfig(theta=(150, 120), center=(0.6, 0.6), size=(0.35, 0.45), texture="dots"),
    )
    return evcrisp.simulate(
        resolution=SIZE, theta=(0.0, 0.0), objects=objects, duration_us=3 * WINDOW_US,
        noise_hz=5.0, seed=3,
    ).events.with_signal(None)  # fmt: skip


def window(events, k=0):
    start = k * WINDOW_US
    return Window(events.between(start, start + WINDOW_US), start, start + WINDOW_US)


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_windows_with_few_events_have_one_translation(events, motion):
    few = window(events[:299])
    found = evcrisp.estimate(few, motion=motion)
    given = evcrisp.estimate(few, motion="translation")
    assert found.layer_map is None
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(given, name), err_msg=name)


def test_a_session_remembers_layers_and_a_new_one_does_not(events):
    model = OpenMotion("auto")
    session = AutoRegret().start_session(SIZE)
    tracked = [session.run(window(events, k), model) for k in range(3)]
    cold = AutoRegret().start_session(SIZE).run(window(events, 2), model)
    assert [len(result.layer_motions) for result in tracked] == [2, 2, 2]
    assert {part.id for part in tracked[2].layer_motions} == {0, 1}
    # The motions agree, however the search began.
    for part in tracked[2].layers:
        difference = min(np.linalg.norm(part.velocity - other.velocity) for other in cold.layers)
        assert difference * WINDOW_US / 1e6 < 0.6


def test_labels_of_the_first_motion_can_end_an_estimate_which_can_be_completed(events):
    asked = []

    def is_in_vain(labels):
        asked.append(labels)
        return True

    method, model = AutoRegret(), Translation()
    whole = method.run_both(window(events), model)
    early = method.run_both(window(events), model, is_in_vain=is_in_vain)
    assert early.is_given_up
    assert not whole.is_given_up
    np.testing.assert_array_equal(asked[0], whole.by_motion.signal)
    np.testing.assert_array_equal(early.by_motion.score, whole.by_motion.score)
    completed = early.completed()
    for name in ("theta", "signal", "score", "aligned_x", "w_map"):
        np.testing.assert_array_equal(
            getattr(completed.final, name), getattr(whole.final, name), err_msg=name
        )


@pytest.mark.parametrize("theta", [(0.0, 0.0), (180.0, -60.0)])
def test_an_early_end_of_one_motion_changes_no_bit(events, theta):
    moved = evcrisp.simulate(
        resolution=SIZE, theta=theta, duration_us=WINDOW_US, noise_hz=5.0, seed=4
    )
    method = AutoRegret()
    n_early = []

    def patient(window, model, start, *, is_in_vain=None):
        return method.run_both(window, model, start)

    def hasty(window, model, start, *, is_in_vain=None):
        both = method.run_both(window, model, start, is_in_vain=is_in_vain)
        n_early.append(both.is_given_up)
        return both

    for seen in (window(events), Window(moved.events, 0, WINDOW_US)):
        found, wanted = (
            MotionFinder(run, 0.1).run(seen, OpenMotion("auto")) for run in (hasty, patient)
        )
        for name in FIELDS:
            assert getattr(found, name).tobytes() == getattr(wanted, name).tobytes(), name
    assert n_early[0]  # of the window with two objects
    assert not all(n_early)


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_equal_windows_give_equal_bytes(events, motion):
    first, second = (evcrisp.estimate(window(events), motion=motion) for _ in range(2))
    for name in FIELDS:
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name


def test_events_of_hot_pixels_are_noise_of_no_layer(events):
    whole = window(events)
    hot = np.random.default_rng(1).uniform(size=len(whole.events)) < 0.1
    others = replace(whole, events=whole.events[~hot])
    inner = evcrisp.estimate(others)
    result = with_hot_events(inner, whole, hot)
    assert not result.signal[hot].any()
    assert (result.layer[hot] == -1).all()
    assert result.score[hot].max() <= inner.score.min()
    for name in FIELDS[1:]:
        np.testing.assert_allclose(
            getattr(result, name)[~hot], getattr(inner, name), atol=1e-9, err_msg=name
        )
    x, y = result.align(whole.events, whole.t_ref)
    np.testing.assert_allclose((result.aligned_x, result.aligned_y), (x, y), atol=1e-9)


@pytest.mark.parametrize("motion", ["layers", "flow"])
@pytest.mark.parametrize("n", [300, 2000])
def test_windows_of_one_hot_pixel_keep_nothing(motion, n):
    one = Events(x=[50] * n, y=[50] * n, t=np.arange(n) * 15, p=[True] * n, resolution=SIZE)
    result = evcrisp.estimate(Window(one, 0, WINDOW_US), motion=motion)
    assert not result.signal.any()
    np.testing.assert_array_equal(result.theta, 0.0)


def test_layers_are_sorted_by_their_number_of_events(events):
    for motion in OPEN_MOTIONS:
        sizes = [len(part) for part in evcrisp.estimate(window(events), motion=motion).layers]
        assert sizes[0] == max(sizes)


SENSOR = {"contrast": 3.2, "c_on": 0.25, "c_off": 0.25, "noise_hz": 5.0, "feature_px": 38.0}


def after_history(**settings):
    """Return a scene, its second window of 30 ms, and which of its true signal is in it."""
    found = evcrisp.simulate(**(SENSOR | settings), duration_us=2 * WINDOW_US)
    first = int(np.searchsorted(found.events.t, WINDOW_US))
    return found, Window(found.events[first:], WINDOW_US, 2 * WINDOW_US), slice(first, None)


@pytest.mark.parametrize(
    "background",
    [
        {"theta": (150.0, -210.0)},
        {"motion": "similarity", "theta": (60.0, 40.0, 1.6, 0.6), "texture": "star"},
    ],
    ids=["translation", "similarity"],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_small_objects_are_not_noise_of_a_moving_background(background, seed):
    item = ObjectConfig(
        motion="translation", theta=(-260.0, 140.0), center=(0.6, 0.45), size=(0.16, 0.2),
        texture="dots",
    )  # fmt: skip
    found, whole, own = after_history(**background, objects=(item,), seed=seed)
    result = evcrisp.estimate(whole)
    of_item = (found.object[own] == 1) & found.events.signal[own]
    assert of_item.sum() > 200
    assert result.signal[of_item].mean() > 0.8
    assert len(result.layers) >= 2
    # Before a background that turns and grows, the motion of the object can still be wrong.
    if "motion" not in background:
        error_px = np.linalg.norm(result.velocity - found.velocity[own], axis=1) * WINDOW_US / 1e6
        assert np.median(error_px[of_item]) < 1.5


def test_a_plane_at_an_angle_moves_by_a_homography():
    ground = Forward(speed_m_s=8.0, wall_m=None, ceiling_m=None, foe=(0.5, 0.3))
    names, errors_px = [], []
    for seed in range(1, 6):
        found, whole, own = after_history(field=ground, texture="dots", seed=seed)
        result = evcrisp.estimate(whole)
        moved_px = (result.velocity - found.velocity[own]) * WINDOW_US / 1e6
        names.append(result.motion.name)
        errors_px.append(np.linalg.norm(moved_px, axis=1)[found.events.signal[own]].mean())
    # In one of them three layers are as good.
    assert names.count("homography") >= 4
    assert np.median(errors_px) < 0.7
    assert max(errors_px) < 1.5


def turning_bar(seed, n_windows=16, n_events=350, turn=0.1, length_us=100_000):
    """Return a few events of a bar that turns by ``turn`` rad per window."""
    rng, n = np.random.default_rng(seed), n_windows * n_events
    t = np.sort(rng.integers(0, n_windows * length_us, n))
    along, side = rng.uniform(-70.0, 70.0, n), rng.integers(0, 2, n)
    angle, across = 0.3 + turn * t / length_us, 4.0 * (side - 0.5)
    x = 120.0 + along * np.cos(angle) - across * np.sin(angle)
    y = 90.0 + along * np.sin(angle) + across * np.cos(angle)
    columns = {"x": np.rint(x).astype(int), "y": np.rint(y).astype(int), "t": t}
    return Events(**columns, p=(side == 1) ^ (along < 0), resolution=(240, 180))


@pytest.mark.parametrize("seed", [0, 3])
def test_a_model_that_collapses_is_given_up(seed):
    windowing = evcrisp.Windowing(window_us=100_000)
    results = list(evcrisp.track(turning_bar(seed), windowing=windowing))
    assert {result.motion.name for result in results} > {"translation", "affine"}
    for result in results:
        assert result.status is Status.CONVERGED or result.motion.name == "translation"
