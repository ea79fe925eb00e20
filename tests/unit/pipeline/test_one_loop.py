"""`track`, `run`, `render` and the viewer give the same labels for the same windows."""

import numpy as np
import pytest

import evcrisp
from evcrisp.estimators import ESTIMATORS
from evcrisp.estimators.estimate import model_for
from evcrisp.pipeline.tracking import Tracker
from evcrisp.pipeline.windowing import Windowing
from evcrisp.video import VideoConfig
from evcrisp.video.frames import frame_contents
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import write_store
from evcrisp.viewer.requests import Request

WINDOW_US = 20_000


@pytest.fixture(scope="module")
def events():
    """Return three windows and a half, with a hot pixel and noise."""
    scene = evcrisp.simulate(
        resolution=(64, 48), theta=(250.0, -90.0), duration_us=70_000, noise_hz=4.0, seed=4
    )
    hot = evcrisp.Events(
        x=[20] * 60, y=[10] * 60, t=np.arange(60) * 1_100, p=[1] * 60, resolution=(64, 48)
    )
    plain = scene.events.with_signal(None)
    columns = (np.concatenate([getattr(part, name) for part in (plain, hot)]) for name in "xytp")
    return evcrisp.Events.sorted_from(
        **dict(zip("xytp", columns, strict=True)), resolution=(64, 48)
    )


def options(method):
    return {"n_steps": 30} if method == "paper" else {}


@pytest.mark.parametrize("method", ESTIMATORS)
def test_every_path_gives_the_labels_of_track(method, events, tmp_path):
    windowing = Windowing(window_us=WINDOW_US)
    tracked = list(evcrisp.track(events, method, windowing=windowing, **options(method)))
    expected = np.concatenate([result.signal for result in tracked])
    assert len(tracked) == 4
    assert expected.sum() > 0

    path = tmp_path / "scene.npz"
    evcrisp.write(path, events)
    result = evcrisp.run(
        path, tmp_path / "out", method=method, windowing=windowing, **options(method)
    )
    with np.load(result.labels) as labels:
        np.testing.assert_array_equal(labels["signal"], expected)
    assert len(evcrisp.read(result.cleaned)) == expected.sum()

    estimator = ESTIMATORS[method](**options(method))
    # The motion that was asked for; "auto" may find another model in each window.
    model = model_for("auto", events.resolution, None, estimator)
    tracker = Tracker(estimator, model, events.resolution)
    config = VideoConfig(panes=("denoised",), fps=50, speed=1.0, window_us=WINDOW_US)
    frames = list(frame_contents((events,), config, tracker, lambda chunk: None))
    np.testing.assert_array_equal(np.concatenate([f.signal for f in frames]), expected)


@pytest.mark.parametrize("method", ESTIMATORS)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 2, 1)])
def test_the_viewer_gives_the_labels_of_track_in_any_order(method, order, events, tmp_path):
    tracked = list(evcrisp.track(events, method, windowing=Windowing(window_us=WINDOW_US)))
    store = write_store((events,), events.resolution, tmp_path).store()
    computer = Computer(store)
    for k in order:
        request = Request.from_json(
            {
                "kind": "estimate",
                "start_us": k * WINDOW_US,
                "duration_us": WINDOW_US,
                "method": method,
            }
        )
        window = store.window(request.start_us, request.duration_us)
        result = computer._tracked(request, window)
        np.testing.assert_array_equal(result.signal, tracked[k].signal)
        np.testing.assert_array_equal(result.theta, tracked[k].theta)


def test_viewer_knows_hot_pixels_of_the_last_seconds(tmp_path):
    """A pixel of 25 Hz is hot over a second only; the viewer jumps to the end."""
    scene = evcrisp.simulate(
        resolution=(64, 48), theta=(60.0, 0.0), duration_us=1_600_000, noise_hz=0.5, seed=4
    )
    t = np.arange(5_000, 1_600_000, 40_000)
    hot = evcrisp.Events(x=[20] * t.size, y=[10] * t.size, t=t, p=[1] * t.size, resolution=(64, 48))
    columns = {
        name: np.concatenate([getattr(part, name) for part in (scene.events, hot)])
        for name in "xytp"
    }
    events = evcrisp.Events.sorted_from(**columns, resolution=(64, 48))
    tracked = list(evcrisp.track(events, "cmax", windowing=Windowing(window_us=40_000)))
    computer = Computer(write_store((events,), events.resolution, tmp_path).store())
    k = 36
    request = Request.from_json(
        {"kind": "estimate", "start_us": k * 40_000, "duration_us": 40_000, "method": "cmax"}
    )
    result = computer._tracked(request, computer.store.window(k * 40_000, 40_000))
    assert not tracked[k].signal.all()
    np.testing.assert_array_equal(result.signal, tracked[k].signal)
