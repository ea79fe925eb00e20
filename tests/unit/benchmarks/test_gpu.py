"""Benchmarks of devices run on torch without a GPU, and compare with what another machine has stored."""

import json

import numpy as np
import pytest
from benchmarks.quality import gpu_parity
from benchmarks.speed import gpu

from evcrisp.tensors.lazy import torch

SMALL = ("--motions", "translation", "--scenes", "2", "--size", "80", "60")


def test_parity_of_a_device_with_the_compiled_kernels(capsys):
    gpu_parity.main(["--device", "torch-cpu", "--deterministic", *SMALL])
    found = json.loads(capsys.readouterr().out)["results"]
    assert len(found["windows"]) == 2
    assert found["least_equal"] >= 0.999
    assert found["largest_theta_px"] <= 0.05
    assert found["repeated"]
    assert set(found["filters"].values()) == {0}
    assert found["events"] > 1000


def test_parity_with_stored_results(tmp_path, capsys):
    path = tmp_path / "reference.npz"
    gpu_parity.main(["--write", str(path), *SMALL])
    gpu_parity.main(["--device", "torch-cpu", "--read", str(path)])
    assert json.loads(capsys.readouterr().out)["results"]["different"] == 0
    arrays = dict(np.load(path))
    arrays["1/signal"] = ~arrays["1/signal"]
    arrays["0/theta"] = arrays["0/theta"] + 100.0
    np.savez(path, **arrays)
    gpu_parity.main(["--device", "torch-cpu", "--read", str(path)])
    found = json.loads(capsys.readouterr().out)["results"]
    assert found["least_equal"] == 0.0
    assert found["largest_theta_px"] > 0.5


def test_parity_of_windows_of_several_motions(tmp_path, capsys):
    path = str(tmp_path / "reference.npz")
    words = ["--motions", "auto", "--scenes", "2", "--size", "110", "90"]
    gpu_parity.main(["--write", path, *words])
    gpu_parity.main(["--device", "torch-cpu", "--read", path])
    found = json.loads(capsys.readouterr().out)["results"]
    assert max(row["layers"] for row in found["windows"].values()) > 1
    assert found["least_equal"] >= 0.999
    assert found["largest_theta_px"] <= 0.05
    arrays = dict(np.load(path))
    arrays["0/layer"] = arrays["0/layer"] + 1
    arrays["1/velocity"] = arrays["1/velocity"] + 100.0
    np.savez(path, **arrays)
    gpu_parity.main(["--device", "torch-cpu", "--read", path])
    found = json.loads(capsys.readouterr().out)["results"]
    assert found["least_equal"] == 0.0
    assert found["largest_theta_px"] > 0.5


def test_cameras_are_stored(tmp_path):
    camera = gpu_parity.evcrisp.Camera(90.0, 91.0, 40.0, 30.0, (-0.1, 0.0, 0.0, 0.0, 0.0))
    windows = {
        "a": (gpu_parity.simulated("rotation", 1, (80, 60)).popitem()[1][0], "rotation", camera)
    }
    expected = {
        "a": gpu_parity.reference_of(windows["a"][0], gpu_parity.model_of(*windows["a"]), "cpu")
    }
    gpu_parity.stored(tmp_path / "one.npz", windows, expected)
    found, again = gpu_parity.loaded(tmp_path / "one.npz")
    assert found["a"][2] == camera
    np.testing.assert_array_equal(again["a"].theta, expected["a"].theta)
    np.testing.assert_array_equal(found["a"][0].events.t, windows["a"][0].events.t)


def test_speed_of_a_small_batch(capsys):
    gpu.main(
        [
            "--device",
            "torch-cpu",
            "--windows",
            "2",
            "--events",
            "1500",
            "--repeats",
            "1",
            "--core-windows",
            "1",
            "--steps",
            "3",
            "--found-windows",
            "1",
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["machine"] == "CPU"
    cases = found["results"]["auto"]
    assert set(cases) == {
        f"{case}, {variant}"
        for case in ("translation", "rotation", "translation, 1280x720")
        for variant in ("kernels", "deterministic", "operations")
    }
    assert all(case["resident"]["mev_s"] > 0.0 for case in cases.values())
    assert all(part["of_floor"] > 0.0 for part in found["results"]["parts"].values())
    assert found["results"]["skipped"] == []
    assert found["results"]["found"]["one motion"]["windows"] == 2
    assert found["results"]["found"]["three motions"]["mev_s"] > 0.0
    assert found["results"]["others"]["times_adam"] > 0.0
    assert found["results"]["others"]["times_one_core"] > 0.0


def test_generated_windows_have_the_motion_of_their_edges():
    columns = gpu.generated(2, 6000, (120, 90), torch.device("cpu"), 0)
    batch = gpu.batch_of(columns, 2, "translation", (120, 90))
    found = gpu.AutoBatch().run(batch)
    assert found.labels.signal.double().mean() > 0.4
    speeds = found.motions.theta.abs().amax(1)
    assert (speeds < 450.0).all()
    assert (speeds > 10.0).all()


def test_no_case_starts_after_the_budget(capsys):
    words = ["--device", "torch-cpu", "--windows", "1", "--events", "1200", "--repeats", "1"]
    gpu.main([*words, "--budget-s", "0"])
    results = json.loads(capsys.readouterr().out)["results"]
    assert results["auto"] == {}
    assert len(results["skipped"]) == 10


def test_a_cpu_is_no_device_to_measure():
    with pytest.raises(SystemExit):
        gpu.main(["--device", "cpu"])
