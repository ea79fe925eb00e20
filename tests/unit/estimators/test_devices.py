"""Devices: what they run, and what they say where they cannot."""

import logging
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, MissingExtraError, Window
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.devices import DeviceMethod, device_method
from evcrisp.motion import Translation
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.simulation import ObjectConfig
from evcrisp.tensors import devices, lazy
from evcrisp.tensors.cuda import kernels
from evcrisp.tensors.lazy import torch

SIZE = (96, 72)


@pytest.fixture(scope="module")
def events():
    scene = evcrisp.simulate(
        theta=(200.0, -90.0), duration_us=20_000, noise_hz=3.0, seed=1, resolution=SIZE
    )
    return scene.events


@pytest.fixture(autouse=True)
def _says_again():
    devices.say_once.cache_clear()


def without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in list(vars(lazy.torch)):
        monkeypatch.delattr(lazy.torch, name)


def test_estimate_on_a_device_equals_that_of_the_cpu(events):
    expected = evcrisp.estimate(events, motion="translation")
    found = evcrisp.estimate(events, motion="translation", device="torch-cpu")
    np.testing.assert_allclose(found.theta, expected.theta, rtol=0, atol=1e-4)
    np.testing.assert_array_equal(found.signal, expected.signal)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-4)
    assert (found.doubts, found.reliable) == (expected.doubts, expected.reliable)


def test_a_window_without_events_has_an_estimate():
    nothing = evcrisp.Events.empty(SIZE)
    found = evcrisp.estimate(nothing, motion="translation", device="torch-cpu")
    assert (found.status.name, len(found)) == ("TOO_FEW_EVENTS", 0)


def test_cuda_without_a_gpu_says_what_to_do(events, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ConfigError, match="torch finds no CUDA device.*Use 'cpu', or 'auto'"):
        evcrisp.estimate(events, motion="translation", device="cuda")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ConfigError, match=r"torch finds 2 CUDA device\(s\); got 'cuda:2'"):
        devices.torch_device("cuda:2")


def test_cuda_without_torch_names_the_extra(events, monkeypatch):
    without_torch(monkeypatch)
    with pytest.raises(Exception, match=r'pip install "evcrisp\[torch\]"') as caught:
        evcrisp.estimate(events, motion="translation", device="cuda")
    assert caught.type is MissingExtraError


def test_auto_is_the_cpu_where_there_is_no_gpu(events, monkeypatch, caplog):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with caplog.at_level(logging.WARNING):
        assert devices.torch_device("auto") is None
    assert "Device 'auto' is the CPU: torch finds no CUDA device." in caplog.text
    without_torch(monkeypatch)
    devices.say_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert devices.torch_device("auto") is None
    assert 'pip install "evcrisp[torch]"' in caplog.text


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cpu:1", "", 3])
def test_unknown_devices_are_refused(device):
    with pytest.raises(ConfigError, match="must be one of 'cpu', 'cuda', 'auto', 'torch-cpu'"):
        devices.torch_device(device)


class Moved(Translation):
    """A motion of another package."""

    name = "moved"


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [({"motion": Moved()}, "motion"), ({"method": "cmax", "motion": "translation"}, "method")],
)
def test_what_a_device_cannot_run_is_an_error(events, arguments, parameter):
    with pytest.raises(ConfigError, match="runs the method 'auto' with the motions auto") as caught:
        evcrisp.estimate(events, device="torch-cpu", **arguments)
    assert caught.value.parameter == parameter


def test_auto_is_the_cpu_for_what_a_gpu_cannot_run(monkeypatch, caplog):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with caplog.at_level(logging.WARNING):
        assert device_method(AutoRegret(), Moved(), "auto") is None
    assert "Device 'auto' is the CPU: a GPU runs the method 'auto' with the motions" in caplog.text
    for motion in (Translation(), OpenMotion()):
        found = device_method(AutoRegret(), motion, "auto")
        assert found is not None
        assert found.device.type == "cuda"


def test_a_start_is_refused(events):
    with pytest.raises(ConfigError, match="`theta0` is not for this device"):
        evcrisp.estimate(events, motion="translation", device="torch-cpu", theta0=(1.0, 2.0))


def test_batches_that_do_not_fit_are_halved(events, monkeypatch, caplog):
    windows = [Window(events.between(t, t + 4_000), t, t + 4_000) for t in range(0, 20_000, 4_000)]
    method, sizes = DeviceMethod(AutoRegret(), Translation(), torch.device("cpu")), []
    expected, run = method.estimate(windows), DeviceMethod._run

    def run_two_at_most(self, batch):
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return run(self, batch)

    monkeypatch.setattr(DeviceMethod, "_run", run_two_at_most)
    with caplog.at_level(logging.WARNING):
        found = method.estimate(windows)
    assert sizes == [5, 2, 3, 1, 2]
    assert (
        "A batch of 5 windows does not fit in the memory of the device: it is halved."
        in caplog.text
    )
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine.theta, wanted.theta, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(mine.signal, wanted.signal)


def test_a_window_that_does_not_fit_is_an_error(events, monkeypatch):
    def run(self, batch):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(DeviceMethod, "_run", run)
    method = DeviceMethod(AutoRegret(), Translation(), torch.device("cpu"))
    with pytest.raises(
        ConfigError, match="too little memory for a window of .* events. Use shorter"
    ):
        method.estimate([Window(events, 0, 20_000)])


def test_batches_follow_the_budget(events, monkeypatch):
    parts = [events.between(t, t + 4_000) for t in range(0, 20_000, 4_000)]
    windows = [Window(part, k * 4_000, (k + 1) * 4_000) for k, part in enumerate(parts)]
    method, sizes = DeviceMethod(AutoRegret(), Translation(), torch.device("cpu")), []
    run = DeviceMethod._run
    monkeypatch.setattr(
        DeviceMethod, "_run", lambda self, batch: sizes.append(len(batch)) or run(self, batch)
    )
    budget = sum(map(DeviceMethod.cost_bytes, windows[:2]))
    assert budget > DeviceMethod.cost_bytes(windows[0]) > 500 * len(parts[0])
    monkeypatch.setattr(DeviceMethod, "budget_bytes", property(lambda self: budget))
    found = method.estimate(windows)
    assert [len(result) for result in found] == [len(part) for part in parts]
    assert sizes[0] == 2
    assert sum(sizes) == 5


WITHOUT_NUMBA = """
    import sys
    sys.modules["numba"] = None  # an import raises ImportError
    import numpy as np
    import evcrisp
    from evcrisp import Camera

    data = np.load(sys.argv[1])
    columns = {name: data[name] for name in "xytp"}
    events = evcrisp.Events(**columns, resolution=tuple(data["size"].tolist()))
    for motion in ("translation", "rotation", "auto"):
        result = evcrisp.estimate(events, motion=motion, device="torch-cpu")
        print(motion, int(result.signal.sum()), *result.theta.round(3), *[d.code for d in result.doubts])
    windowing = evcrisp.Windowing(window_us=10_000)
    tracked = evcrisp.track(events, motion="translation", windowing=windowing, device="torch-cpu")
    print("windows", *[len(result) for result in tracked])
    try:
        evcrisp.track(events, motion="translation", device="torch-cpu")
    except evcrisp.ConfigError as error:
        print("windowing", error)
    columns = {name: data["several_" + name] for name in "xytp"}
    several = evcrisp.Events(**columns, resolution=tuple(data["size"].tolist()))
    result = evcrisp.estimate(several, device="torch-cpu")
    print("several", result.motion.name, *[d.code for d in result.doubts])
    try:
        evcrisp.estimate(events, motion="layers", device="torch-cpu")
    except evcrisp.ConfigError as error:
        print("layers", error)
    print("baf", int(evcrisp.denoise(events, "baf", device="torch-cpu").signal.sum()))
"""


def test_a_device_needs_no_numba(events, tmp_path):
    path = tmp_path / "events.npz"
    thing = ObjectConfig(theta=(-300.0, 150.0), size=(0.5, 0.6), texture="rocks")
    several = evcrisp.simulate(
        theta=(200.0, -90.0), objects=(thing,), duration_us=20_000, seed=1, resolution=SIZE
    ).events
    columns = {name: getattr(events, name) for name in "xytp"}
    more = {f"several_{name}": getattr(several, name) for name in "xytp"}
    np.savez(path, size=np.array(SIZE), **columns, **more)
    program = [sys.executable, "-c", textwrap.dedent(WITHOUT_NUMBA), str(path)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    for motion in ("translation", "rotation", "auto"):
        # Labels by neighbors need numba too: those of the found translation are by its motion alone.
        given = "translation" if motion == "auto" else motion
        expected = evcrisp.estimate(events, motion=given)
        n_signal, *rest = lines[motion].split()
        assert int(n_signal) == int(expected.signal.sum())
        *theta, doubt = rest
        np.testing.assert_allclose(np.array(theta, float), expected.theta, rtol=0, atol=2e-3)
        assert doubt == "not_assessed"
    n = [int(word) for word in lines["windows"].split()]
    assert (len(n), sum(n)) == (2, len(events))
    assert lines["windowing"].startswith("The windows that the events choose need numba")
    assert lines["several"] == "translation poorly_explained not_assessed"
    assert "need numba, which is not installed: they keep the translation" in done.stderr
    assert "labels by neighbors need numba" in done.stderr
    assert len(evcrisp.estimate(several).layers) == 2
    assert lines["layers"].startswith("`motion` looks for several motions")
    assert int(lines["baf"]) == int(evcrisp.denoise(events, "baf").signal.sum())


def test_a_gpu_without_cupy_uses_torch_operations_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    devices.say_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert kernels.cuda_kernels("labels.cu", torch.device("cuda"), {}) is None
    assert 'pip install "evcrisp[cuda]"' in caplog.text
    assert kernels.cuda_kernels("labels.cu", torch.device("cpu"), {}) is None
