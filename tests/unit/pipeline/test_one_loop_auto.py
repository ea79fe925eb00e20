"""`track`, `run`, `flow`, `render` and the viewer have the same windows where the events choose them."""

import csv

import numpy as np
import pytest

import evcrisp
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.estimate import model_for
from evcrisp.pipeline.tracking import Tracker
from evcrisp.video import VideoConfig
from evcrisp.video.frames import frame_contents
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import write_store
from evcrisp.viewer.requests import Request

SIZE = (120, 90)


@pytest.fixture(scope="module")
def events():
    """Return a motion that becomes slower, and a pause."""
    knots = ((0, 900, 0), (20_000, 900, 0), (40_000, 200, 0), (150_000, 200, 0))
    moving = evcrisp.simulate(
        resolution=SIZE, trajectory=knots, duration_us=110_000, noise_hz=4.0, seed=4
    ).events.with_signal(None)
    late = moving.t + 2_000_000 * (moving.t > 70_000)
    return evcrisp.Events(x=moving.x, y=moving.y, t=late, p=moving.p, resolution=SIZE)


@pytest.fixture(scope="module")
def tracked(events):
    results = list(evcrisp.track(events))
    lengths = {result.window.t_end - result.window.t_start for result in results}
    assert 3 <= len(results) <= 7  # the viewer starts six windows earlier
    assert len(lengths) > 1
    return results


@pytest.fixture(scope="module")
def labels(tracked):
    return np.concatenate([result.signal for result in tracked])


def test_run_and_flow(events, tracked, labels, tmp_path):
    evcrisp.write(tmp_path / "scene.npz", events)
    made = evcrisp.run(tmp_path / "scene.npz", tmp_path / "out")
    with np.load(made.labels) as stored:
        np.testing.assert_array_equal(stored["signal"], labels)
    flow = evcrisp.write_flow_files(tmp_path / "scene.npz", tmp_path / "flow")
    expected = [(result.window.t_start, result.window.t_end) for result in tracked]
    for table in (made.motion, flow.table):
        with table.open() as file:
            rows = list(csv.DictReader(file))
        assert [(int(row["t_start_us"]), int(row["t_end_us"])) for row in rows] == expected


@pytest.mark.parametrize("fps", [30, 100])
def test_film(events, tracked, labels, fps):
    estimator = AutoRegret()
    tracker = Tracker(estimator, model_for("auto", SIZE, None, estimator), SIZE)
    config = VideoConfig(panes=("denoised",), fps=fps)
    seen = []
    frames = list(frame_contents((events,), config, tracker, seen.append))
    assert sum(map(len, seen)) == len(events)
    starts = [frame.t_start for frame in frames]
    assert set(np.diff(starts)) == {config.step_us}  # the pause is shown too
    assert frames[-1].t_start <= events.t[-1] < frames[-1].t_end
    for frame in frames:
        first, last = np.searchsorted(events.t, (frame.t_start, frame.t_end))
        np.testing.assert_array_equal(frame.events.t, events.t[first:last])
        np.testing.assert_array_equal(frame.signal, labels[first:last])


@pytest.mark.parametrize("order", [1, -1])
def test_viewer(events, tracked, order, tmp_path):
    store = write_store((events,), SIZE, tmp_path).store()
    t_first = int(events.t[0])
    expected = [(r.window.t_start - t_first, r.window.t_end - r.window.t_start) for r in tracked]
    assert list(map(tuple, store.windows().tolist())) == expected
    computer = Computer(store)
    for (start_us, duration_us), wanted in list(zip(expected, tracked, strict=True))[::order]:
        fields = {"start_us": start_us, "duration_us": duration_us, "windows": "auto"}
        request = Request.from_json({"kind": "estimate", **fields})
        result = computer._tracked(request, store.window(start_us, duration_us))
        for name in ("signal", "theta", "aligned_x"):
            np.testing.assert_array_equal(getattr(result, name), getattr(wanted, name))
        assert result.warnings == wanted.warnings
