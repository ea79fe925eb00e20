"""Tracking from window to window: starts, window lengths, and hot pixels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.core.status import Status
from evcrisp.estimators.result import Estimate
from evcrisp.filters import denoise
from evcrisp.motion import motion_model
from evcrisp.pipeline.label_merging import merge_labels
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing


@dataclass(frozen=True)
class Scripted:
    """A method with prescribed results, one per window; the last one repeats."""

    name: ClassVar[str] = "scripted"

    ends: tuple  # pairs of theta and status
    starts: list  # theta0 of each window, filled by `run`

    def run(self, window, model, theta0=None):
        theta, status = self.ends[min(len(self.starts), len(self.ends) - 1)]
        self.starts.append(None if theta0 is None else theta0.tolist())
        n, zeros = len(window.events), np.zeros(len(window.events))
        return Estimate(
            theta=np.array(theta), signal=np.ones(n, bool), score=zeros, confidence=zeros,
            aligned_x=zeros, aligned_y=zeros, status=status, motion=model, window=window,
            config=self,
        )  # fmt: skip


@pytest.fixture
def track_scripted(make_events):
    """Return a function that tracks two seconds of noise with prescribed results."""
    events = make_events(20_000, resolution=(96, 72), t_start=0, duration_us=2_000_000)

    def run(ends, motion="translation", **windows):
        starts = []
        results = list(
            track(events, Scripted(ends, starts), motion, windowing=Windowing(**windows))
        )
        return results, starts

    return run


def test_only_a_usable_motion_starts_the_next_window(track_scripted):
    bad = [s for s in Status if s not in (Status.CONVERGED, Status.MAX_ITER)]
    good = ((9.0, 1.0), Status.CONVERGED), ((8.0, 2.0), Status.MAX_ITER)
    ends = (good[0], *(((-5.0, 700.0), status) for status in bad), good[1], good[0])
    _, starts = track_scripted(ends, window_us=30_000)
    n = 1 + len(bad)
    assert starts[: n + 3] == [None, *[[9.0, 1.0]] * n, [8.0, 2.0], [9.0, 1.0]]


@pytest.mark.parametrize(
    ("speed", "length_us"), [(1e6, 2_000), (100.0, 50_000), (1.0, 100_000), (0.0, 100_000)]
)
def test_windows_of_constant_displacement_last_2_to_100_ms(track_scripted, speed, length_us):
    results, _ = track_scripted((((0.0, -speed), Status.CONVERGED),), displacement_px=5.0)
    lengths = [r.window.t_end - r.window.t_start for r in results[1:-1]]
    np.testing.assert_allclose(lengths, length_us, rtol=1e-4)


def test_window_length_follows_the_last_usable_motion(track_scripted):
    ends = (((100.0, 0.0), Status.CONVERGED), ((1e5, 0.0), Status.COLLAPSED))
    results, _ = track_scripted(ends, displacement_px=5.0)
    lengths = [r.window.t_end - r.window.t_start for r in results[1:-1]]
    np.testing.assert_allclose(lengths, 50_000, rtol=1e-4)


def test_displacement_is_that_of_a_typical_pixel(track_scripted):
    """In a zoom, the corners move twice as far as most pixels."""
    results, _ = track_scripted((((2.0,), Status.CONVERGED),), "zoom", displacement_px=3.0)
    length_s = (results[1].window.t_end - results[1].window.t_start) / 1e6
    x, y = (side.ravel().astype(float) for side in np.meshgrid(np.arange(96), np.arange(72)))
    moved = motion_model("zoom", (96, 72)).warp(np.array([2.0]), x, y, 1e-4)
    displacement_px = np.hypot(moved[0] - x, moved[1] - y) * length_s / 1e-4
    assert 0.4 < (displacement_px < 3.0).mean() < 0.85


def with_busy_pixels(events, n_pixels, n_each, seed=0):
    """Return events mixed with events of busy pixels, and a mask of the latter."""
    rng = np.random.default_rng(seed)
    pixels = rng.choice(events.width * events.height, n_pixels, replace=False)
    t = np.sort(rng.integers(0, 200_000, (n_pixels, n_each)), axis=1).ravel()
    where = np.repeat(pixels, n_each)
    order = np.argsort(np.concatenate((events.t, t)), kind="stable")
    columns = {
        "x": np.concatenate((events.x, where % events.width))[order],
        "y": np.concatenate((events.y, where // events.width))[order],
        "t": np.concatenate((events.t, t))[order],
        "p": np.concatenate((events.p, np.ones(t.size, bool)))[order],
    }
    return Events(**columns, resolution=events.resolution), order >= len(events)


def test_events_of_hot_pixels_are_noise_and_are_warped():
    scene = evcrisp.simulate(
        resolution=(160, 120), theta=(250.0, -100.0), duration_us=200_000, noise_hz=2.0, seed=4
    )
    mixed, is_hot = with_busy_pixels(scene.events, 20, 150)
    results = list(track(mixed, "cmax", windowing=Windowing(window_us=50_000)))
    for result in results[1:]:
        first = result.window.index
        masked = ~result.signal  # "cmax" labels all other events as signal
        assert masked[is_hot[first : first + len(result)]].mean() > 0.9
        assert result.score[masked].max() <= result.score[~masked].min()
        assert not result.confidence[masked].any()
        events = result.window.events
        dt = (events.t - result.window.t_ref) / 1e6
        x, y = result.motion.warp(result.theta, events.x, events.y, dt)
        np.testing.assert_allclose(result.aligned_x, x)
        np.testing.assert_allclose(result.aligned_y, y)


def test_events_in_several_windows_count_once_for_hot_pixels(make_events):
    """A pixel with ten events is not hot, however many windows contain them."""
    events = make_events(4000, resolution=(160, 120), t_start=0, duration_us=200_000)
    mixed, is_busy = with_busy_pixels(events, 5, 10)
    for overlap in (0.0, 0.5, 0.9):
        windows = Windowing(window_us=40_000, overlap=overlap)
        chunks = merge_labels(track(mixed, "cmax", windowing=windows))
        signal = np.concatenate([chunk.events.signal for chunk in chunks])
        assert signal[is_busy].all()


@pytest.mark.parametrize(
    "windows",
    [
        Windowing(window_us=7_000),
        Windowing(window_us=20_000, overlap=0.6),
        Windowing(window_events=700),
        Windowing(window_events=1500, overlap=0.3),
        Windowing(displacement_px=4.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["baf", "stcf", "ynoise", "pugm"])
def test_causal_filter_keeps_its_state_from_window_to_window(windows, name):
    scene = evcrisp.simulate(
        resolution=(96, 72), theta=(250.0, -100.0), duration_us=90_000, noise_hz=5.0, seed=4
    )
    events = scene.events.with_signal(None)
    # With a pause, and chunks independent of the windows.
    t = events.t + 50_000 * (events.t > 45_000)
    events = Events(x=events.x, y=events.y, t=t, p=events.p, resolution=events.resolution)
    chunks = [events[first : first + 900] for first in range(0, len(events), 900)]
    results = list(track(chunks, "sequential", windowing=windows, filter=name))
    whole = denoise(events, name)
    restarts = name == "pugm"  # not causal: it starts without a state in every window
    equal = []
    for result in results:
        n = slice(result.window.index, result.window.index + len(result))
        equal.append(np.array_equal(result.signal, whole.signal[n]))
    assert all(equal) is not restarts
    joined = np.concatenate([chunk.events.signal for chunk in merge_labels(results)])
    assert joined.size == len(events)
    assert restarts or np.array_equal(joined, whole.signal)


def test_hot_pixels_are_noise_with_any_filter():
    scene = evcrisp.simulate(
        resolution=(160, 120), theta=(250.0, -100.0), duration_us=200_000, noise_hz=2.0, seed=4
    )
    mixed, is_hot = with_busy_pixels(scene.events, 20, 150)
    for result in list(track(mixed, "baf+cmax", windowing=Windowing(window_us=50_000)))[1:]:
        first = result.window.index
        hot = is_hot[first : first + len(result)]
        assert result.signal[hot].mean() < 0.1
        assert result.signal[~hot].mean() > 0.5
        assert np.isfinite(result.score).all()
