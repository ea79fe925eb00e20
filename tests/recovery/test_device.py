"""Motions and labels of method `auto` on tensors are those of the compiled kernels."""

from functools import lru_cache

import numpy as np
import pytest

import evcrisp
from evcrisp import Events, Window
from evcrisp.core.camera import Camera
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.auto.on_device.auto_batch import AutoBatch, DeviceOptions
from evcrisp.estimators.auto.on_device.estimates import estimates_of
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.motion import Rotation, Translation
from evcrisp.motion.registry import MOTION_MODELS
from evcrisp.tensors.lazy import torch

SIZE = (128, 96)
CAMERA = Camera(fx=105.0, fy=106.0, cx=65.0, cy=46.0, distortion=(-0.3, 0.1, 0.001, -0.0005, 0.0))
MOTIONS = {
    "translation": (Translation(), (260.0, -110.0)),
    "rotation": (Rotation(CAMERA), (0.5, -0.3, 1.0)),
    "similarity": (MOTION_MODELS["similarity"].for_sensor(SIZE), (150.0, 40.0, 1.0, 0.5)),
    "zoom": (MOTION_MODELS["zoom"].for_sensor(SIZE), (1.5,)),
}

#: Texture, noise per px, and length of windows.
SCENES = (
    ("shapes", 0.5, 40_000),
    ("rocks", 5.0, 20_000),
    ("dots", 20.0, 10_000),
    ("shapes", 2.0, 60_000),
)

#: Largest difference of motions, px of displacement within a window, and least share of equal labels.
MAX_PX, LEAST_EQUAL = 0.05, 0.999


@lru_cache
def windows_of(motion, theta):
    """Return simulated windows of a motion; all start later than zero."""
    out = []
    for seed, (texture, noise_hz, duration_us) in enumerate(SCENES):
        scene = evcrisp.simulate(
            motion=motion, theta=theta, texture=texture, noise_hz=noise_hz, seed=seed,
            duration_us=duration_us, resolution=SIZE,
        )  # fmt: skip
        t = scene.events.t + 10**9
        events = Events(x=scene.events.x, y=scene.events.y, t=t, p=scene.events.p, resolution=SIZE)
        out.append(Window(events, 10**9, 10**9 + duration_us))
    return out


def run(windows, model, **options):
    """Return the estimates of windows on tensors."""
    batch = WindowBatch.of(windows, model, "cpu")
    found = AutoBatch(options=DeviceOptions(**options)).run(batch)
    return estimates_of(windows, found, AutoRegret())


def differences(found, expected):
    """Return the displacement between two motions within the window, px, and the share of equal labels."""
    model, (width, height) = expected.motion, expected.window.events.resolution
    x, y = np.meshgrid(np.linspace(0, width - 1, 5), np.linspace(0, height - 1, 5))
    length_s = (expected.window.t_end - expected.window.t_start) / 1e6
    one, other = (model.warp(theta, x, y, length_s) for theta in (found.theta, expected.theta))
    moved = np.hypot(one[0] - other[0], one[1] - other[1]).max()
    return moved, (found.signal == expected.signal).mean()


@pytest.mark.parametrize(
    ("name", "single"), [*((name, False) for name in MOTIONS), ("translation", True)]
)
def test_motions_and_labels_of_simulated_windows(name, single):
    model, theta = MOTIONS[name]
    windows = windows_of(name, theta)
    found = run(windows, model, search_in_single=single)
    for mine, window in zip(found, windows, strict=True):
        expected = AutoRegret().run(window, model)
        moved_px, equal = differences(mine, expected)
        assert moved_px <= MAX_PX
        assert equal >= LEAST_EQUAL
        assert mine.status is expected.status
        assert (mine.motion_signal is None) == (expected.motion_signal is None)
        np.testing.assert_allclose(mine.aligned_x, expected.aligned_x, rtol=0, atol=MAX_PX)
        np.testing.assert_allclose(mine.confidence, expected.confidence, rtol=0, atol=1e-2)
        if not single:
            assert mine.n_eval == expected.n_eval
            np.testing.assert_allclose(mine.w_map, expected.w_map, rtol=0, atol=1e-3)
            assert mine.regret.value == pytest.approx(expected.regret.value, rel=1e-4)


@lru_cache
def odd_windows():
    """Return windows without a motion, of few events, with hot pixels, and with dense noise."""
    rng, out = np.random.default_rng(0), []
    for n, hot, power in ((6000, 0, 1), (12, 0, 1), (1, 0, 1), (8000, 400, 1), (20_000, 0, 4)):
        x = (SIZE[0] * rng.random(n) ** (1.0 / power)).astype(int)
        y, p = rng.integers(0, SIZE[1], n), rng.integers(0, 2, n).astype(bool)
        chosen = rng.choice(n, hot, replace=False)
        x[chosen], y[chosen] = 20, 30
        t = np.sort(rng.integers(0, 30_000, n))
        out.append(Window(Events(x=x, y=y, t=t, p=p, resolution=SIZE), 0, 30_000))
    corner = out[0].events
    kept = (corner.x > 60) & (corner.y < 70)  # a part of the sensor
    out.append(Window(corner[kept], 0, 30_000))
    fast = evcrisp.simulate(
        theta=(2500.0, 600.0), duration_us=60_000, noise_hz=5.0, seed=3, resolution=SIZE
    )
    turn = evcrisp.simulate(
        motion="rotation", theta=(0, 0, 9.0), duration_us=30_000, seed=4, resolution=SIZE
    )
    return [*out, Window(fast.events, 0, 60_000), Window(turn.events, 0, 30_000)]


def test_windows_without_a_clear_motion():
    windows = odd_windows()
    by_neighbors = 0
    for mine, window in zip(run(windows, Translation()), windows, strict=True):
        expected = AutoRegret().run(window, Translation())
        moved_px, equal = differences(mine, expected)
        assert (moved_px <= MAX_PX, equal >= LEAST_EQUAL) == (True, True), len(window.events)
        assert mine.status is expected.status
        assert mine.warnings == expected.warnings
        assert (mine.motion_signal is None) == (expected.motion_signal is None)
        by_neighbors += mine.motion_signal is not None
    assert by_neighbors >= 2


def test_a_window_does_not_depend_on_the_others_in_its_batch():
    windows = windows_of("translation", MOTIONS["translation"][1])
    together = run(windows, Translation())
    for k in (0, 2):
        alone = run([windows[k]], Translation())[0]
        np.testing.assert_allclose(alone.theta, together[k].theta, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(alone.signal, together[k].signal)
        np.testing.assert_allclose(alone.score, together[k].score, rtol=1e-4, atol=1e-4)


def bits(results):
    return [(r.theta.tobytes(), r.score.tobytes(), r.w_map.tobytes()) for r in results]


def test_deterministic_results_are_equal_bit_for_bit():
    windows = windows_of("translation", MOTIONS["translation"][1]) + odd_windows()
    n_threads = torch.get_num_threads()
    try:
        first = run(windows, Translation(), deterministic=True)
        torch.set_num_threads(1 if n_threads > 1 else 2)
        assert bits(run(windows, Translation(), deterministic=True)) == bits(first)
    finally:
        torch.set_num_threads(n_threads)
    for mine, window in zip(first, windows, strict=True):
        moved_px, equal = differences(mine, AutoRegret().run(window, Translation()))
        assert moved_px <= MAX_PX
        assert equal >= LEAST_EQUAL


def test_deterministic_maps_do_not_depend_on_the_order_of_additions(monkeypatch):
    # Additions on a GPU come in any order: here, in a random one.
    window = windows_of("translation", MOTIONS["translation"][1])[2]
    rng = torch.Generator().manual_seed(0)
    add = torch.Tensor.index_add_

    def add_in_any_order(self, dim, index, source, **more):
        order = torch.randperm(index.numel(), generator=rng)
        return add(self, dim, index[order], source[order], **more)

    expected = run([window], Translation(), deterministic=True)
    monkeypatch.setattr(torch.Tensor, "index_add_", add_in_any_order)
    assert bits(run([window], Translation(), deterministic=True)) == bits(expected)
    # The test can tell: without fixed point, the order shows.
    assert bits(run([window], Translation())) != bits(run([window], Translation()))


def test_all_tensors_are_on_the_device_of_the_events():
    # Tensors without a device would be on "meta", and mix with no others: a GPU in a test without one.
    windows = [windows_of("rotation", MOTIONS["rotation"][1])[2], odd_windows()[3]]
    for model in (MOTIONS["rotation"][0], Translation()):
        with torch.device("meta"):
            found = run(windows, model, deterministic=True)
        for mine, wanted in zip(found, run(windows, model, deterministic=True), strict=True):
            np.testing.assert_array_equal(mine.signal, wanted.signal)
