"""A rotation in the viewer uses the calibration of the recording, and says which lens it has."""

from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp.viewer import ViewOptions, export_html, serve
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import write_store
from evcrisp.viewer.requests import Request
from evcrisp.viewer.worker import ReadTask, read_recording

SIZE, WINDOW_US = (240, 180), 40_000
#: A longer lens than the one of 60 degrees that is assumed without a calibration.
NUMBERS = (300.0, 300.0, 119.5, 89.5, -0.1, 0.0, 0.0, 0.0, 0.0)
CAMERA = evcrisp.Camera(*NUMBERS[:4], distortion=NUMBERS[4:])
ROTATION = Request(
    kind="estimate", method="cmax", motion="rotation", duration_us=WINDOW_US, windows="fixed"
)


@pytest.fixture(scope="module")
def turning():
    return evcrisp.simulate(
        resolution=SIZE, motion="rotation", theta=(0.3, -0.9, 0.5), camera=CAMERA,
        duration_us=WINDOW_US, noise_hz=1.0, seed=2,
    )  # fmt: skip


@pytest.fixture(scope="module")
def ecd(turning, tmp_path_factory):
    """Return an ECD folder with a calibration, and one without."""
    folder = tmp_path_factory.mktemp("ecd")
    for name in ("with", "without"):
        (folder / name).mkdir()
        evcrisp.write(folder / name / "events.txt", turning.events.with_signal(None))
    (folder / "with" / "calib.txt").write_text(" ".join(map(str, NUMBERS)))
    return folder


def facts_of(store, camera=None, request=ROTATION):
    return read_bundle(Computer(store, camera).compute(request, lambda share: None))[0]


def test_store_of_a_recording_has_its_calibration(ecd, tmp_path):
    content = read_recording(ReadTask(str(ecd / "with"), str(tmp_path), {}), lambda *_: None)
    assert content["store"].camera == CAMERA
    content = read_recording(ReadTask(str(ecd / "without"), str(tmp_path), {}), lambda *_: None)
    assert content["store"].camera is None


def test_wrong_calibration_is_noted_and_events_are_shown(ecd, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "events.txt").write_bytes((ecd / "with" / "events.txt").read_bytes())
    (broken / "calib.txt").write_text("199 199")
    content = read_recording(ReadTask(str(broken), str(tmp_path), {}), lambda *_: None)
    assert content["store"].camera is None
    assert content["store"].n_events > 1000
    (note,) = (text for text in content["notes"] if "calib.txt" in text)
    assert note.startswith("calib.txt: ")  # not the path, which would fill the line


def test_rotation_is_that_of_the_library(ecd, turning, tmp_path):
    store = write_store((turning.events,), SIZE, tmp_path, CAMERA).store()
    facts = facts_of(store)
    assert facts["lens"] == "calib.txt"
    with evcrisp.open(ecd / "with") as recording:
        windows = evcrisp.Windowing(window_us=WINDOW_US)
        (result,) = evcrisp.track(recording, "cmax", "rotation", windowing=windows)
    np.testing.assert_allclose(facts["theta"], result.theta, atol=1e-6)
    np.testing.assert_allclose(facts["theta"], (0.3, -0.9, 0.5), atol=0.1)


def test_given_calibration_replaces_that_of_the_recording(turning, tmp_path):
    store = write_store((turning.events,), SIZE, tmp_path, CAMERA).store()
    other = evcrisp.Camera(fx=150.0, fy=150.0, cx=119.5, cy=89.5)
    given = facts_of(store, other)
    assert given["lens"] == "given"
    assert abs(given["theta"][1]) > 1.5 * abs(facts_of(store)["theta"][1])
    assert facts_of(write_store((turning.events,), SIZE, tmp_path).store())["lens"] == "ideal"


def test_motions_that_need_no_camera_have_no_lens(turning, tmp_path):
    store = write_store((turning.events,), SIZE, tmp_path, CAMERA).store()
    bare = write_store((turning.events,), SIZE, tmp_path).store()
    for motion in ("auto", "translation"):
        request = Request(kind="estimate", motion=motion, duration_us=WINDOW_US, windows="fixed")
        facts = facts_of(store, request=request)
        assert facts["lens"] == ""
        assert facts["theta"] == facts_of(bare, request=request)["theta"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "is_doubtful"),
    [("with", "lens of calib.txt", False), ("without", "lens assumed, 60\N{DEGREE SIGN} view", True)],
)  # fmt: skip
def test_page_says_which_lens_a_rotation_has(screen, ecd, name, text, is_doubtful, tmp_path):
    with serve(ViewOptions(path=ecd / name, motion="rotation", window_us=WINDOW_US)) as address:
        screen.open(address)
        screen.page.wait_for_function(
            "() => document.querySelector('[data-pane=aligned] .info').textContent.includes('lens')"
        )
        assert text in screen.info("aligned")
        title = screen.page.get_attribute("[data-pane=aligned] .info", "title")
        assert ("--camera" in title) == is_doubtful
        shown = screen.info("aligned")
    page = Path(tmp_path / "page.html")
    page.write_text(
        export_html(
            ecd / name, motion="rotation", window_us=WINDOW_US, n_windows=1, front_points=0
        ),
        encoding="utf-8",
    )
    screen.open(page.as_uri())
    assert screen.info("aligned") == shown
