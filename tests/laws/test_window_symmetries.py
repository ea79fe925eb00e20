"""Laws of every method with one motion: symmetries of a window change neither motion nor labels."""

import math

import numpy as np
import pytest
from benchmarks.quality.laws import real_windows
from benchmarks.quality.window_symmetries import SYMMETRIES, models
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evcrisp
from evcrisp import Events, Window
from evcrisp.core.status import Status
from evcrisp.estimators.protocol import run_estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.motion.open_motion import OPEN_MOTIONS
from evcrisp.simulation import ObjectConfig

WINDOW_US = 30_000
MOTIONS = ("translation", "similarity", "rotation")

#: Largest difference of the motion, px over the window, and share of other labels.
MAX_PX, MAX_LABELS = 0.005, 0.002

BY_NAME = {symmetry.name: symmetry for symmetry in SYMMETRIES}

#: The arithmetic is the same but for rounding.
EXACT = ("mirror x", "mirror y", "transpose", "swap polarity", "shift time", "pad", "cut elsewhere")

#: Causal filters label other events if time is reversed, and read events of equal time in order.
CAUSAL = ("sequential", "baf+cmax")


def scene(seed, theta, noise_hz=5.0, resolution=(121, 90)):
    """Return a window of moving shapes with noise."""
    simulated = evcrisp.simulate(
        resolution=resolution, theta=theta, duration_us=WINDOW_US, noise_hz=noise_hz, seed=seed
    )
    return Window(simulated.events.with_signal(None), 0, WINDOW_US)


def difference(estimator, window, motion, symmetry):
    """Return the difference of motion and labels."""
    one, other = models(motion, window.events.resolution, symmetry)
    changed, order = symmetry.apply(window)
    first = run_estimator(estimator, window, one, None)
    second = run_estimator(estimator, changed, other, None)
    return symmetry.difference(first, second, order)


def config(method):
    """Return a method; the published solver with fewer steps, which suffice for a law."""
    return ESTIMATORS[method](n_steps=100) if method == "paper" else ESTIMATORS[method]()


@pytest.fixture(scope="module")
def window():
    return scene(3, (310.0, -140.0))


@pytest.mark.parametrize("symmetry", EXACT)
@pytest.mark.parametrize("method", ESTIMATORS)
def test_symmetries_keep_motion_and_labels_of_every_method(window, method, symmetry):
    moved, labels = difference(config(method), window, "translation", BY_NAME[symmetry])
    assert moved < MAX_PX
    assert labels < MAX_LABELS


@pytest.mark.parametrize(
    ("method", "symmetry"),
    [
        (method, symmetry)
        for method in ESTIMATORS
        for symmetry in ("reverse time", "shuffle")
        if method not in CAUSAL
    ],
)
@pytest.mark.parametrize("tick_us", [1, 200])
def test_order_in_time_does_not_matter(method, symmetry, tick_us):
    # With ticks of 200 us many events have the same time. A window of an odd length has its reference
    # time exactly in the middle.
    events = scene(5, (310.0, -140.0), resolution=(61, 50)).events
    t = events.t // tick_us * tick_us
    coarse = Events(x=events.x, y=events.y, t=t, p=events.p, resolution=events.resolution)
    window = Window(coarse, 0, WINDOW_US + 1)
    assert 1000 < len(events) < 4096
    moved, labels = difference(config(method), window, "translation", BY_NAME[symmetry])
    assert moved < MAX_PX
    assert labels < MAX_LABELS


@pytest.mark.parametrize("symmetry", ["pad", "cut elsewhere"])
@pytest.mark.parametrize("method", ["auto", "cmax", "exact"])
@pytest.mark.parametrize("motion", MOTIONS)
def test_empty_pixels_around_the_view_change_nothing(window, motion, method, symmetry):
    moved, labels = difference(config(method), window, motion, BY_NAME[symmetry])
    assert moved < 1e-6
    assert labels == 0.0


#: Of an open motion, cells are given to motions one after the other, from the upper left on. So a mirrored,
#: transposed or reversed window may end with other layers.
KEPT_BY_LAYERS = ("swap polarity", "shift time", "shuffle", "pad", "cut elsewhere")


@pytest.mark.parametrize("symmetry", KEPT_BY_LAYERS)
@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_symmetries_keep_layers(motion, symmetry):
    objects = (ObjectConfig(theta=(-250, 120), center=(0.3, 0.4), size=(0.4, 0.5), texture="dots"),)
    events = evcrisp.simulate(
        resolution=(173, 130), theta=(150.0, -60.0), objects=objects, duration_us=WINDOW_US,
        noise_hz=5.0, seed=4,
    ).events.with_signal(None)  # fmt: skip
    window, change = Window(events, 0, WINDOW_US), BY_NAME[symmetry]
    changed, order = change.apply(window)
    one, other = (evcrisp.estimate(part, motion=motion) for part in (window, changed))
    assert len(one.layer_motions) == len(other.layer_motions)
    moved, labels = change.difference(one, other, order)
    assert moved < MAX_PX
    assert labels < MAX_LABELS


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
def test_layers_over_time_do_not_depend_on_the_sensor(motion):
    # The view of each window differs: layers are carried on in pixels of the sensor.
    objects = (ObjectConfig(theta=(-250, 120), center=(0.5, 0.5), size=(0.3, 0.3), texture="dots"),)
    events = evcrisp.simulate(
        resolution=(173, 130), theta=(150.0, -60.0), objects=objects, duration_us=3 * WINDOW_US,
        noise_hz=1.0, seed=2,
    ).events.with_signal(None)  # fmt: skip
    padded = Events(x=events.x + 50, y=events.y + 9, t=events.t, p=events.p, resolution=(260, 150))
    results = (
        list(evcrisp.track(part, motion=motion, windowing=evcrisp.Windowing(window_us=WINDOW_US)))
        for part in (events, padded)
    )
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.signal, other.signal)
        np.testing.assert_allclose(one.velocity, other.velocity, atol=1e-6)
        np.testing.assert_allclose(one.aligned_x + 50, other.aligned_x, atol=1e-6)


@pytest.mark.parametrize("symmetry", EXACT)
@pytest.mark.parametrize(
    # The exposure that `auto` computes for other motions has grid nodes from a corner.
    ("method", "motion"),
    [("auto", "translation"), *(("cmax", motion) for motion in MOTIONS)],
)
@settings(deadline=None, max_examples=6)
@given(
    seed=st.integers(0, 2**16), vx=st.floats(-500, 500), vy=st.floats(-500, 500),
    width=st.integers(60, 150), height=st.integers(60, 150), noise_hz=st.floats(0.5, 20.0),
)  # fmt: skip
def test_symmetries_keep_motion_and_labels_of_any_scene(
    method, motion, symmetry, seed, vx, vy, width, height, noise_hz
):
    # Without motion there is no maximum of the contrast to keep.
    assume(math.hypot(vx, vy) > 100.0)
    window = scene(seed, (vx, vy), noise_hz, (width, height))
    one, _ = models(motion, window.events.resolution, BY_NAME[symmetry])
    # A search that gives up ends anywhere: few events in much noise, which a similarity gathers.
    assume(run_estimator(config(method), window, one, None).status is Status.CONVERGED)
    moved, labels = difference(config(method), window, motion, BY_NAME[symmetry])
    assert moved < MAX_PX
    # Sums in another order move labels of events that are at the threshold.
    assert labels <= max(MAX_LABELS, 2.0 / len(window.events))


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", [*EXACT, "shuffle"])
@pytest.mark.parametrize("method", ["auto", "cmax"])
def test_symmetries_keep_motion_and_labels_of_real_windows(data_dir, method, symmetry):
    differences = np.array(
        [
            difference(config(method), window, "translation", BY_NAME[symmetry])
            for _, window in real_windows(data_dir, 1)
        ]
    )
    assert differences[:, 0].max() < MAX_PX
    assert differences[:, 1].max() < MAX_LABELS
