"""Recordings tracked, run and filtered on a device."""

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, Windowing
from evcrisp.estimators.devices import DeviceMethod
from evcrisp.pipeline.pieces.estimation import PieceMethod
from evcrisp.pipeline.pieces.plan import PieceSizes

SIZE = (96, 72)
DEVICE = "torch-cpu"
TIMED = Windowing(window_us=15_000)


@pytest.fixture(scope="module")
def events():
    """Return a scene with a pixel that fires too often, by the history before a window."""
    scene = evcrisp.simulate(
        theta=(220.0, -80.0), duration_us=75_000, noise_hz=4.0, seed=2, resolution=SIZE
    )
    n, extra = len(scene.events), 120
    order = np.argsort(
        np.concatenate((scene.events.t, np.linspace(0, 74_000, extra))), kind="stable"
    )
    columns = {
        name: np.concatenate((getattr(scene.events, name), np.full(extra, value)))[order]
        for name, value in (("x", 50), ("y", 20), ("p", 1))
    }
    t = np.concatenate((scene.events.t, np.linspace(0, 74_000, extra).astype(np.int64)))[order]
    assert t.size == n + extra
    return Events(t=t, resolution=SIZE, **columns)


@pytest.mark.parametrize(
    "windowing", [TIMED, Windowing(window_us=20_000, overlap=0.5), Windowing(window_events=1500), Windowing()],
    ids=["time", "overlap", "count", "auto"],
)  # fmt: skip
def test_windows_are_those_of_the_cpu(events, windowing):
    found = list(evcrisp.track(events, motion="translation", windowing=windowing, device=DEVICE))
    expected = list(evcrisp.track(events, motion="translation", windowing=windowing))
    assert [r.window.t_end for r in found] == [r.window.t_end for r in expected]
    length_s = [(r.window.t_end - r.window.t_start) / 1e6 for r in found]
    for mine, wanted, length in zip(found, expected, length_s, strict=True):
        # The CPU starts from the window before, a device from nothing.
        assert np.abs(mine.theta - wanted.theta).max() * length < 0.3
        assert (mine.signal == wanted.signal).mean() > 0.99
        hot = (mine.window.events.x == 50) & (mine.window.events.y == 20)
        np.testing.assert_array_equal(mine.signal[hot], wanted.signal[hot])
        np.testing.assert_allclose(mine.aligned_x, wanted.aligned_x, rtol=0, atol=0.3)
    assert (
        not found[-1]
        .signal[(found[-1].window.events.x == 50) & (found[-1].window.events.y == 20)]
        .any()
    )


def test_batches_do_not_change_results(events, monkeypatch):
    whole = list(evcrisp.track(events, motion="translation", windowing=TIMED, device=DEVICE))
    monkeypatch.setattr(DeviceMethod, "budget_bytes", property(lambda self: 1))
    parts = list(evcrisp.track(events, motion="translation", windowing=TIMED, device=DEVICE))
    for mine, wanted in zip(parts, whole, strict=True):
        np.testing.assert_allclose(mine.theta, wanted.theta, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(mine.signal, wanted.signal)


def test_windows_that_follow_the_motion_are_refused(events):
    with pytest.raises(
        ConfigError, match="`displacement_px` needs the motion of the window before"
    ):
        evcrisp.track(
            events, motion="translation", windowing=Windowing(displacement_px=4.0), device=DEVICE
        )


def test_run_writes_the_results_of_track(events, tmp_path):
    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    result = evcrisp.run(
        path, tmp_path / "result", motion="translation", windowing=TIMED, device=DEVICE
    )
    labels = np.load(result.labels)
    tracked = list(evcrisp.track(events, motion="translation", windowing=TIMED, device=DEVICE))
    np.testing.assert_array_equal(labels["signal"], np.concatenate([r.signal for r in tracked]))
    assert (result.summary["n_windows"], result.summary["device"]) == (len(tracked), DEVICE)
    on_cpu = evcrisp.run(path, tmp_path / "cpu", motion="translation", windowing=TIMED)
    assert "device" not in on_cpu.summary


def test_pieces_of_a_recording_have_a_warm_up(events, tmp_path):
    from evcrisp.pipeline.pieces.plan import Marks
    from evcrisp.pipeline.pieces.streaming import streamed_pieces

    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    sizes = PieceSizes(piece=len(events) // 2, rest=500, warm=4000, estimated=2500)
    with evcrisp.open(path) as recording:
        motion = evcrisp.motion.Translation()
        estimator = evcrisp.estimators.AutoRegret()
        found = []
        for device in (None, DEVICE):
            method = PieceMethod(estimator, motion, SIZE, TIMED, sizes, device)
            parts = streamed_pieces(iter(recording.chunks()), Marks(TIMED, sizes))
            found.append([r for part in parts for r in method.estimates(part)])
    assert len(found[0]) == 5
    for wanted, mine in zip(*found, strict=True):
        assert (mine.window.t_start, mine.window.index) == (
            wanted.window.t_start,
            wanted.window.index,
        )
        assert (mine.signal == wanted.signal).mean() > 0.99


def test_filters_write_the_same_events_on_a_device(events, tmp_path):
    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    for device in ("cpu", DEVICE):
        evcrisp.filter_recording(path, tmp_path / f"{device}.npz", "stcf", device=device)
    found, expected = (evcrisp.read(tmp_path / f"{name}.npz") for name in (DEVICE, "cpu"))
    for name in "xytp":
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert 0 < len(found) < len(events)


def test_filters_without_a_parallel_form_are_refused(events):
    with pytest.raises(ConfigError, match="has no parallel form for the device.*activity, baf"):
        evcrisp.denoise(events, "mlpf", device=DEVICE)


def test_commands_take_a_device(run, events, tmp_path):
    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    words = ("--motion", "translation", "--window-ms", "25", "--device", DEVICE, "--deterministic")
    result = run("run", path, "-o", tmp_path / "out", *words)
    assert "3 windows" in result.output
    run("filter", path, tmp_path / "kept.npz", "-m", "baf", "--device", DEVICE)
    expected = evcrisp.denoise(events, "baf").kept(events)
    assert len(evcrisp.read(tmp_path / "kept.npz", resolution=(96, 72))) == len(expected)
    words = ("--method", "cmax", "--device", DEVICE)
    failed = run("run", path, "-o", tmp_path / "none", *words, code=2)
    assert "--method cannot run on the device 'torch-cpu'" in failed.output


def test_many_recordings_take_a_device(run, events, tmp_path):
    for name in ("a", "b"):
        evcrisp.write(tmp_path / f"{name}.npz", events[:3000])
    out = tmp_path / "out"
    paths = [tmp_path / "a.npz", tmp_path / "b.npz"]
    run("filter", *paths, "-o", out, "--jobs", 0, "--device", DEVICE, "--to", "npz")
    expected = evcrisp.denoise(events[:3000], "baf").kept(events[:3000])
    kept = sorted(out.rglob("*.npz"))
    assert [len(evcrisp.read(path)) for path in kept] == [len(expected)] * 2
    words = ("--motion", "translation", "--window-ms", "15", "--device", DEVICE)
    run("run", *paths, "-o", tmp_path / "runs", "--jobs", 0, *words)
    assert (tmp_path / "runs" / "a" / "motion.csv").exists()
