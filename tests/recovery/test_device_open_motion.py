"""Windows whose motion is found, on a device, have the answers of the CPU from a cold start."""

from functools import lru_cache

import numpy as np
import pytest

import evcrisp
from evcrisp import Window, Windowing
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.devices import device_method
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.simulation import ObjectConfig

SIZE = (173, 130)
THINGS = (
    ObjectConfig(theta=(-260.0, 90.0), size=(0.35, 0.4), texture="rocks"),
    ObjectConfig(theta=(60.0, -280.0), center=(0.75, 0.7), size=(0.3, 0.4), texture="dots"),
)

#: Largest difference of motions, px of displacement within a window, and least share of equal labels.
MAX_PX, LEAST_EQUAL = 0.05, 0.999


@lru_cache
def windows():
    """Return windows of one to three motions, of a turn, of a growing image, of noise, and of few events."""
    settings = (
        {"theta": (150.0, -60.0)},
        {"theta": (150.0, -60.0), "objects": THINGS[:1]},
        {"theta": (90.0, 40.0), "objects": THINGS},
        {"motion": "rotation", "theta": (0, 0, 6.0)},
        {"motion": "similarity", "theta": (60.0, 0.0, 0.0, 4.0)},
    )
    out = []
    for seed, one in enumerate(settings):
        scene = evcrisp.simulate(
            duration_us=30_000, seed=seed, resolution=SIZE, noise_hz=3.0, **one
        )
        # A part of the sensor: the search is on the rectangle of the events.
        events = scene.events[(scene.events.x > 4) & (scene.events.y < 125)]
        out.append(Window(events, 0, 30_000))
    rng = np.random.default_rng(0)
    x, y, p = (rng.integers(0, n, 4000) for n in (*SIZE, 2))
    noise = evcrisp.Events(x=x, y=y, t=np.arange(4000) * 7, p=p > 0, resolution=SIZE)
    return [*out, Window(noise, 0, 30_000), Window(noise[:200], 0, 1400), Window(noise[:0], 0, 10)]


def assert_equal(mine, wanted):
    """Compare motions, labels, and where motions hold."""
    moved = np.hypot(mine.aligned_x - wanted.aligned_x, mine.aligned_y - wanted.aligned_y)
    assert moved.max(initial=0.0) <= MAX_PX
    assert len(mine.layer_motions) == len(wanted.layer_motions)
    if len(mine):
        assert (mine.signal == wanted.signal).mean() >= LEAST_EQUAL
        assert (mine.layer == wanted.layer).mean() >= LEAST_EQUAL
    assert mine.motion.name == wanted.motion.name
    assert (mine.status, mine.doubts, mine.warnings) == (
        wanted.status,
        wanted.doubts,
        wanted.warnings,
    )
    assert (mine.w_map is None) == (wanted.w_map is None)
    if mine.w_map is not None:
        np.testing.assert_allclose(mine.w_map, wanted.w_map, rtol=0, atol=1e-3)


@pytest.mark.parametrize("motion", ["auto", "layers", "flow"])
def test_windows_of_a_batch_are_those_of_the_cpu(motion):
    method = device_method(AutoRegret(), OpenMotion(motion), "torch-cpu")
    found = method.estimate(windows())
    kinds = set()
    for mine, window in zip(found, windows(), strict=True):
        wanted = AutoRegret().run(window, OpenMotion(motion))
        assert_equal(mine, wanted)
        kinds.add((mine.layer_map is not None, len(mine.layer_motions)))
    assert {(False, 1), (True, 2)} <= kinds
    if motion == "auto":
        names = [result.motion.name for result in found]
        assert names[0] == "translation"
        assert {"similarity", "rigid", "affine"} & set(names[3:5])


def test_estimate_has_covariance_and_doubts():
    window = windows()[1]
    mine = evcrisp.estimate(window, device="torch-cpu", deterministic=True)
    wanted = evcrisp.estimate(window)
    assert_equal(mine, wanted)
    for one, other in zip(mine.layers, wanted.layers, strict=True):
        np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-4)
        assert one.doubts == other.doubts


@lru_cache
def street():
    """Return a recording of two motions with a pixel that fires too often."""
    scene = evcrisp.simulate(
        theta=(150.0, -60.0), objects=THINGS[:1], duration_us=90_000, noise_hz=3.0, seed=1,
        resolution=SIZE,
    )  # fmt: skip
    n, t = 600, np.linspace(0, 89_000, 600).astype(np.int64)
    events = scene.events
    columns = {"x": np.full(n, 20), "y": np.full(n, 30), "p": np.ones(n, bool), "t": t}
    order = np.argsort(np.concatenate((events.t, t)), kind="stable")
    columns = {
        k: np.concatenate((getattr(events, k), column))[order] for k, column in columns.items()
    }
    return evcrisp.Events(**columns, resolution=SIZE)


def test_layers_keep_their_numbers_and_hot_pixels_are_noise():
    windowing = Windowing(window_us=30_000)
    found = list(evcrisp.track(street(), windowing=windowing, device="torch-cpu"))
    assert [len(result.layers) for result in found] == [2, 2, 2]
    assert [sorted(layer.id for layer in result.layers) for result in found] == [[0, 1]] * 3
    for result in found:
        velocities = {layer.id: layer.velocity for layer in result.layers}
        first = {layer.id: layer.velocity for layer in found[0].layers}
        for k, velocity in velocities.items():
            assert np.abs(velocity - first[k]).max() < 60.0
        hot = (result.window.events.x == 20) & (result.window.events.y == 30)
        assert hot.sum() > 150
        assert not result.signal[hot].any()
        assert (result.layer[hot] == -1).all()


def test_run_and_flow_take_a_device(run, tmp_path):
    path, where = tmp_path / "street.npz", ("--window-ms", 30, "--device", "torch-cpu")
    evcrisp.write(path, street())
    tracked = list(
        evcrisp.track(street(), windowing=Windowing(window_us=30_000), device="torch-cpu")
    )
    result = run("run", path, "-o", tmp_path / "run", *where)
    assert "3 windows" in result.output
    labels = np.load(tmp_path / "run" / "labels.npz")["signal"]
    np.testing.assert_array_equal(labels, np.concatenate([one.signal for one in tracked]))
    run("flow", path, "-o", tmp_path / "flow", *where)
    for k, one in enumerate(tracked):
        flow = evcrisp.read_flow(tmp_path / "flow" / f"flow-{k:06d}.npz")
        np.testing.assert_array_equal(flow.velocity, one.flow().velocity)
    words = ("--jobs", 0, *where)
    run("flow", path, tmp_path / "street.npz", "-o", tmp_path / "flows", *words)
    assert list((tmp_path / "flows").rglob("flow-000002.npz"))
