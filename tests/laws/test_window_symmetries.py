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
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.protocol import run_estimator
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.search.config import SearchConfig

WINDOW_US = 30_000
MOTIONS = ("translation", "similarity", "rotation")

#: Largest difference of the motion, px over the window, and share of other labels.
MAX_PX, MAX_LABELS = 0.005, 0.002

BY_NAME = {symmetry.name: symmetry for symmetry in SYMMETRIES}

#: The arithmetic is the same but for rounding.
EXACT = ("mirror x", "mirror y", "transpose", "swap polarity", "shift time")

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
        # The noise samples of `auto` are not mirrored in time.
        if method not in CAUSAL and (method, symmetry) != ("auto", "reverse time")
    ],
)
@pytest.mark.parametrize("tick_us", [1, 200])
def test_order_in_time_does_not_matter(method, symmetry, tick_us):
    # Few events: the threshold of `auto` reads every k-th of many. With ticks of 200 us many events
    # have the same time. A window of an odd length has its reference time exactly in the middle.
    events = scene(5, (310.0, -140.0), resolution=(61, 50)).events
    t = events.t // tick_us * tick_us
    coarse = Events(x=events.x, y=events.y, t=t, p=events.p, resolution=events.resolution)
    window = Window(coarse, 0, WINDOW_US + 1)
    assert 1000 < len(events) < 4096
    moved, labels = difference(config(method), window, "translation", BY_NAME[symmetry])
    assert moved < MAX_PX
    assert labels < MAX_LABELS


@pytest.mark.parametrize("symmetry", ["pad", "cut elsewhere"])
@pytest.mark.parametrize("motion", MOTIONS)
def test_empty_pixels_around_the_view_keep_the_motion(window, motion, symmetry):
    # The motion alone: `auto` measures noise on the whole sensor. With a small tolerance, since the
    # bound of the search depends on the sensor, and so its path.
    method = Cmax(search=SearchConfig(tol_px=1e-3))
    moved, _ = difference(method, window, motion, BY_NAME[symmetry])
    assert moved < MAX_PX


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
@pytest.mark.parametrize("symmetry", EXACT)
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
