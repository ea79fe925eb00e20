"""Contract of every method, for any window."""

import dataclasses

import numpy as np
import pytest

from evcrisp import Events, Window, estimate, simulate
from evcrisp.core.status import Status
from evcrisp.estimators import ESTIMATORS
from evcrisp.estimators.estimate import model_for
from evcrisp.motion import MOTION_MODELS
from evcrisp.motion.open_motion import OPEN_MOTIONS

pytestmark = pytest.mark.slow

RESOLUTION = (64, 48)


def events_at(x, y, t, resolution=RESOLUTION):
    n = np.broadcast(x, y, t).size
    columns = (np.broadcast_to(np.asarray(values), (n,)) for values in (x, y, t))
    x, y, t = (column.copy() for column in columns)
    return Events(x=x, y=y, t=t, p=np.arange(n) % 2 == 0, resolution=resolution)


def random_positions(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, RESOLUTION[0], n), rng.integers(0, RESOLUTION[1], n)


#: Windows with little or no evidence of a motion.
DEGENERATE = {
    "no events": lambda: events_at([], [], np.array([], np.int64)),
    "one event": lambda: events_at(3, 4, 500),
    "few events": lambda: events_at(*random_positions(8), np.arange(8) * 100),
    "one pixel": lambda: events_at(10, 20, np.arange(100) * 100),
    "one time": lambda: events_at(*random_positions(300), np.full(300, 700)),
    "one pixel and one time": lambda: events_at(5, 5, np.full(60, 700)),
    "two pixels": lambda: events_at(np.arange(200) % 2 * 40, 7, np.arange(200) * 40),
    "one row": lambda: events_at(random_positions(500)[0], 11, np.arange(500) * 20),
    "corners": lambda: events_at([0, 63, 0, 63] * 20, [0, 0, 47, 47] * 20, np.arange(80) * 100),
    "noise": lambda: events_at(*random_positions(2000), np.arange(2000) * 5),
}

#: Cases without evidence of a motion.
NO_EVIDENCE = (
    "no events",
    "one event",
    "few events",
    "one pixel",
    "one time",
    "one pixel and one time",
)


@pytest.fixture(params=sorted(ESTIMATORS))
def method(request):
    return ESTIMATORS[request.param]()


def check(result, window):
    n = len(window.events)
    assert len(result) == n
    for name in ("signal", "score", "confidence", "aligned_x", "aligned_y"):
        assert getattr(result, name).shape == (n,), name
    assert result.signal.dtype == np.bool_
    assert np.isfinite(result.score).all()
    assert np.isfinite(result.theta).all()
    assert ((result.confidence >= 0.0) & (result.confidence <= 1.0)).all()
    assert isinstance(result.status, Status)
    assert result.motion.name in MOTION_MODELS
    assert repr(result)


@pytest.mark.parametrize("motion", list(MOTION_MODELS))
@pytest.mark.parametrize("case", list(DEGENERATE))
def test_degenerate_window_gives_a_status_and_finite_numbers(method, case, motion):
    window = Window(DEGENERATE[case](), 0, 10_000)
    model = MOTION_MODELS[motion].for_sensor(RESOLUTION)
    result = method.run(window, model)
    check(result, window)
    if case in NO_EVIDENCE:
        assert result.status in (Status.TOO_FEW_EVENTS, Status.FLAT)
        np.testing.assert_array_equal(result.theta, 0.0)


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
@pytest.mark.parametrize("case", list(DEGENERATE))
def test_degenerate_window_gives_finite_numbers_for_open_motions(method, case, motion):
    window = Window(DEGENERATE[case](), 0, 10_000)
    result = method.run(window, model_for(motion, RESOLUTION, None, method))
    check(result, window)
    np.testing.assert_array_equal(result.layer == -1, ~result.signal)
    if case in NO_EVIDENCE and motion == "auto":
        assert result.status in (Status.TOO_FEW_EVENTS, Status.FLAT)
        np.testing.assert_array_equal(result.theta, 0.0)


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_methods_that_find_no_model_take_open_motions_as_translation(method, motion):
    scene = simulate(resolution=(120, 90), duration_us=20_000, noise_hz=3.0, seed=2)
    window = Window(scene.events, 0, 20_000)
    found = estimate(window, method, motion)
    if getattr(method, "finds_motion_model", False):
        assert method.name == "auto"
        assert found.signal.any()
        return
    given = estimate(window, method, "translation")
    assert found.motion == given.motion
    for name in ("theta", "signal", "score", "confidence", "aligned_x", "aligned_y"):
        np.testing.assert_array_equal(getattr(found, name), getattr(given, name), err_msg=name)


@pytest.mark.parametrize("resolution", [(1, 1), (2, 3), (500, 2), (16, 16), (1, 130)])
@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_tiny_sensors_are_accepted_for_open_motions(resolution, motion):
    rng = np.random.default_rng(1)
    n = 400
    events = events_at(
        rng.integers(0, resolution[0], n), rng.integers(0, resolution[1], n), np.arange(n) * 20,
        resolution,
    )  # fmt: skip
    window = Window(events, 0, 10_000)
    check(estimate(window, motion=motion), window)


@pytest.mark.parametrize("length_us", [1, 2, 10_000_000])
@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_windows_of_any_length_are_accepted_for_open_motions(length_us, motion):
    events = events_at(*random_positions(2000), np.arange(2000) * length_us // 2000)
    window = Window(events, 0, length_us)
    check(estimate(window, motion=motion), window)


@pytest.mark.parametrize("case", NO_EVIDENCE)
def test_start_is_returned_without_evidence(method, case):
    window = Window(DEGENERATE[case](), 0, 10_000)
    model = MOTION_MODELS["translation"].for_sensor(RESOLUTION)
    result = method.run(window, model, np.array([12.0, -34.0]))
    np.testing.assert_array_equal(result.theta, [12.0, -34.0])


@pytest.mark.parametrize("resolution", [(1, 1), (2, 3), (500, 2)])
@pytest.mark.parametrize("motion", ["translation", "homography", "rotation", "zoom"])
def test_tiny_sensors_are_accepted(method, resolution, motion):
    rng = np.random.default_rng(1)
    n = 400
    events = events_at(
        rng.integers(0, resolution[0], n), rng.integers(0, resolution[1], n), np.arange(n) * 20,
        resolution,
    )  # fmt: skip
    window = Window(events, 0, 10_000)
    check(method.run(window, MOTION_MODELS[motion].for_sensor(resolution)), window)


@pytest.mark.parametrize("theta0", [(1e7, 0.0), (-1e300, 1e300), (np.inf, 0.0), (np.nan, np.nan)])
def test_extreme_start_gives_finite_numbers(method, theta0):
    window = Window(DEGENERATE["noise"](), 0, 10_000)
    model = MOTION_MODELS["translation"].for_sensor(RESOLUTION)
    check(method.run(window, model, np.array(theta0)), window)


def test_results_are_reproducible(method):
    scene = simulate(resolution=(120, 90), duration_us=20_000, noise_hz=3.0, seed=2)
    window = Window(scene.events, 0, 20_000)
    first, second = (method.run(window, scene.motion) for _ in range(2))
    for name in ("theta", "signal", "score", "confidence", "aligned_x", "aligned_y"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name


def test_results_do_not_depend_on_time_offset(method):
    scene = simulate(resolution=(120, 90), duration_us=20_000, noise_hz=3.0, seed=3)
    events, offset = scene.events, 3_000_000_000_000
    shifted = Events(x=events.x, y=events.y, t=events.t + offset, p=events.p, resolution=(120, 90))
    first = method.run(Window(events, 0, 20_000), scene.motion)
    second = method.run(Window(shifted, offset, offset + 20_000), scene.motion)
    np.testing.assert_array_equal(first.theta, second.theta)
    np.testing.assert_array_equal(first.signal, second.signal)
    np.testing.assert_array_equal(first.score, second.score)


def test_method_is_a_frozen_dataclass_in_the_registry(method):
    assert dataclasses.is_dataclass(method)
    assert method == type(method)()
    assert ESTIMATORS[method.name] is type(method)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(method, dataclasses.fields(method)[0].name, None)
