"""Labels and doubts where a motion is hardly known: random scenes that took no part in any choice."""

import numpy as np
import pytest
from benchmarks.quality import label_scenes
from benchmarks.quality.random_scenes import HISTORY_US, settings_of

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc
from evcrisp.simulation import ObjectConfig


def random_scene(number):
    """Return a random scene, its window after a history, and which events are in it."""
    settings, length_us = settings_of(number)
    end = HISTORY_US + length_us
    scene = evcrisp.simulate(**settings, duration_us=end, window_us=length_us, seed=number)
    first = int(np.searchsorted(scene.events.t, HISTORY_US))
    window = Window(scene.events[first:], HISTORY_US, end, first)
    return scene, window, slice(first, None)


# Slow or dense scenes; the motion of most has the doubt `chance`.
@pytest.mark.parametrize("number", [2019, 2044, 2070, 2071, 2085, 2086, 2087, 2112])
def test_labels_are_as_good_as_those_of_warm_filters(number):
    scene, window, own = random_scene(number)
    signal = np.asarray(window.events.signal)
    best = max(
        float(rank_auc(denoise(scene.events, name).score[own], signal)) for name in ("stcf", "ebf")
    )
    assert rank_auc(evcrisp.estimate(window).score, signal) > best - 0.005


# In these, the one motion that is found moves 0.5 and 0.7 of the events by more than 3 px otherwise.
@pytest.mark.parametrize("number", [2058, 2070])
def test_one_motion_that_is_wrong_in_parts_is_doubted(number):
    assert not evcrisp.estimate(random_scene(number)[1]).reliable


def clusters_alone(seed, size, rate_hz, length_us, *, mixed):
    """Return a window of clusters of noise."""
    rng = np.random.default_rng(seed)
    columns = label_scenes.clusters(rng, rate_hz, size, mixed=mixed)
    x, y, t, p = (np.asarray(column) for column in columns)
    inside = (x >= 0) & (x < size[0]) & (y >= 0) & (y < size[1]) & (t < length_us)
    order = np.flatnonzero(inside)[np.argsort(t[inside], kind="stable")]
    events = evcrisp.Events(x=x[order], y=y[order], t=t[order], p=p[order] > 0, resolution=size)
    return Window(events, 0, length_us)


@pytest.mark.parametrize("seed", [21, 22, 23])
def test_clusters_of_noise_are_no_reliable_motion(seed, monkeypatch):
    monkeypatch.setattr(label_scenes, "TOTAL_US", 202_000)
    window = clusters_alone(seed, (128, 128), 20.0, 200_000, mixed=True)
    assert not evcrisp.estimate(window).reliable


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("seed", [31, 32])
def test_support_of_more_neighbors_does_not_keep_clusters(seed, mixed, monkeypatch):
    monkeypatch.setattr(label_scenes, "TOTAL_US", 32_000)
    window = clusters_alone(seed, (128, 128), 5.0, 30_000, mixed=mixed)
    assert evcrisp.estimate(window).signal.mean() <= 0.15


@pytest.mark.parametrize("seed", [1, 2])
def test_velocities_of_a_turning_thing_hold_at_the_ends_of_a_window(seed):
    thing = ObjectConfig(motion="similarity", theta=(260.0, -120.0, 3.0, 0.0), size=(0.4, 0.5))
    scene = evcrisp.simulate(
        theta=(-60.0, 90.0), objects=(thing,), duration_us=90_000, noise_hz=2.0, seed=seed
    )
    first = int(np.searchsorted(scene.events.t, 40_000))
    result = evcrisp.estimate(Window(scene.events[first:], 40_000, 90_000, first))
    chosen = (scene.object[first:] == 1) & np.asarray(scene.events.signal[first:]) & result.signal
    chosen &= np.abs(scene.events.t[first:] - 65_000) > 15_000
    off_px = 0.05 * np.linalg.norm(result.velocity - scene.velocity[first:], axis=1)[chosen]
    assert len(result.layers) >= 2
    assert off_px.mean() < 1.8
