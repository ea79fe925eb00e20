"""Every path through a recording with objects gives the labels, layers and flow of `track`."""

import csv

import numpy as np
import pytest

import evcrisp
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.estimate import model_for
from evcrisp.motion.open_motion import OPEN_MOTIONS
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing
from evcrisp.simulation import ObjectConfig
from evcrisp.video import VideoConfig
from evcrisp.video.frames import frame_contents
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import write_store
from evcrisp.viewer.requests import Request

SIZE = (120, 90)
WINDOW_US = 20_000
WINDOWING = Windowing(window_us=WINDOW_US)


@pytest.fixture(scope="module")
def events():
    """Return three windows and a half of two objects, with a hot pixel and noise."""
    objects = (
        ObjectConfig(theta=(-300, 150), center=(0.4, 0.3), size=(0.4, 0.5), texture="dots"),
        ObjectConfig(theta=(250, 200), center=(0.55, 0.5), size=(0.4, 0.5), texture="dots"),
    )
    scene = evcrisp.simulate(
        resolution=SIZE, theta=(0.0, 0.0), objects=objects, duration_us=70_000, noise_hz=4.0, seed=4
    )
    hot = evcrisp.Events(
        x=[20] * 60, y=[10] * 60, t=np.arange(60) * 1_100, p=[1] * 60, resolution=SIZE
    )
    columns = {
        name: np.concatenate([getattr(part, name) for part in (scene.events, hot)])
        for name in "xytp"
    }
    return evcrisp.Events.sorted_from(**columns, resolution=SIZE)


@pytest.fixture(scope="module", params=OPEN_MOTIONS)
def tracked(request, events):
    """Return an open motion and its estimates."""
    results = list(evcrisp.track(events, motion=request.param, windowing=WINDOWING))
    assert len(results) == 4
    assert max(len(result.layer_motions) for result in results) > 1
    return request.param, results


@pytest.fixture
def recording(events, tmp_path):
    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    return path


def test_run_writes_the_labels_of_track(tracked, recording, tmp_path):
    motion, results = tracked
    expected = np.concatenate([result.signal for result in results])
    made = evcrisp.run(recording, tmp_path / "out", motion=motion, windowing=WINDOWING)
    with np.load(made.labels) as labels:
        np.testing.assert_array_equal(labels["signal"], expected)
    assert len(evcrisp.read(made.cleaned)) == expected.sum()
    with made.motion.open() as file:
        rows = list(csv.DictReader(file))
    model = model_for(motion, SIZE, None, AutoRegret())
    for row, result in zip(rows, results, strict=True):
        named = zip(model.param_names, model.param_units, strict=True)
        written = [float(row[f"{name} [{unit}]"]) for name, unit in named]
        assert int(row["n_layers"]) == len(result.layer_motions)
        np.testing.assert_allclose(written, result.parameters(model), rtol=1e-5, atol=1e-5)


def test_flow_files_have_the_flow_of_track(tracked, recording, tmp_path):
    motion, results = tracked
    evcrisp.write_flow_files(recording, tmp_path / "flow", motion=motion, windowing=WINDOWING)
    flows = [evcrisp.read_flow(path) for path in sorted((tmp_path / "flow").glob("*.npz"))]
    assert len(flows) == len(results)
    for flow, result in zip(flows, results, strict=True):
        wanted = result.flow()
        np.testing.assert_array_equal(flow.valid, wanted.valid)
        np.testing.assert_array_equal(flow.velocity, wanted.velocity)


def test_frames_of_a_film_have_the_labels_of_track(tracked, events):
    motion, results = tracked
    estimator = AutoRegret()
    tracker = Tracker(estimator, model_for(motion, SIZE, None, estimator), SIZE)
    config = VideoConfig(panes=("denoised",), fps=50, speed=1.0, window_us=WINDOW_US)
    frames = list(frame_contents((events,), config, tracker, lambda chunk: None))
    expected = np.concatenate([result.signal for result in results])
    np.testing.assert_array_equal(np.concatenate([f.signal for f in frames]), expected)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 2, 1)])
def test_the_viewer_has_the_layers_of_track_in_any_order(tracked, order, events, tmp_path):
    motion, results = tracked
    store = write_store((events,), events.resolution, tmp_path).store()
    computer = Computer(store)
    for k in order:
        request = Request.from_json(
            {
                "kind": "estimate", "start_us": k * WINDOW_US, "duration_us": WINDOW_US,
                "method": "auto", "motion": motion,
            }
        )  # fmt: skip
        window = store.window(request.start_us, request.duration_us)
        result, wanted = computer._tracked(request, window), results[k]
        for name in ("signal", "layer", "theta", "velocity", "aligned_x", "aligned_y"):
            np.testing.assert_array_equal(
                getattr(result, name), getattr(wanted, name), err_msg=name
            )
        assert [part.id for part in result.layers] == [part.id for part in wanted.layers]
