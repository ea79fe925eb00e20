"""``--camera``: calibrations of other programs, and the camera of several."""

import json

import pytest
from tests.unit.core.calibration.test_calibration_file import KALIBR, ROS_FILE

import evcrisp


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a recording and two calibrations."""
    path = tmp_path_factory.mktemp("camera")
    scene = evcrisp.simulate(resolution=(346, 260), duration_us=12_000, seed=1)
    evcrisp.write(path / "scene.npz", scene.events)
    (path / "info.yaml").write_text(ROS_FILE)
    (path / "chain.yaml").write_text(KALIBR)
    return path


def run_with(run, folder, camera, out, **more):
    words = ("-m", "cmax", "--motion", "rotation", "--window-ms", 12, "--camera", camera)
    return run("run", folder / "scene.npz", "-o", out, *words, **more)


def summary_of(out):
    return json.loads((out / "summary.json").read_text())


def test_ros_calibration_is_read(run, folder, tmp_path):
    run_with(run, folder, folder / "info.yaml", tmp_path / "out")
    summary = summary_of(tmp_path / "out")
    assert (summary["camera"]["fx"], summary["camera_source"]) == (226.38, "given")


def test_name_chooses_a_camera_of_a_chain(run, folder, tmp_path):
    result = run_with(run, folder, f"{folder / 'chain.yaml'}:cam1", tmp_path / "out")
    assert summary_of(tmp_path / "out")["camera"]["lens"] == "equidistant"
    assert "cameras" not in result.stderr
    result = run_with(run, folder, folder / "chain.yaml", tmp_path / "first")
    assert summary_of(tmp_path / "first")["camera"]["fx"] == 226.38
    assert "has 2 cameras (cam0, cam1); taking cam0." in result.stderr


def test_name_of_a_file_may_have_a_colon(run, folder, tmp_path):
    path = tmp_path / "my:cam0"
    path.write_text("226 226 173 130")
    run_with(run, folder, path, tmp_path / "out")
    assert summary_of(tmp_path / "out")["camera"]["fx"] == 226.0


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ("{}/chain.yaml:cam9", "chain.yaml: there is no camera 'cam9'; the file has cam0, cam1."),
        ("{}/none.yaml:cam9", "none.yaml:cam9' does not exist"),
        ("{}", "is a directory"),
    ],
)
def test_wrong_camera_is_explained(run, folder, tmp_path, camera, message):
    result = run_with(run, folder, camera.format(folder), tmp_path / "out", code=2)
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_calibration_is_not_overwritten(run, folder):
    camera, output = f"{folder / 'chain.yaml'}:cam1", folder / "chain.yaml"
    words = ("pareto", folder / "scene.npz", "--camera", camera, "-o", output, "--force")
    assert "chain.yaml" in run(*words, code=1).stderr
    assert output.read_text() == KALIBR


@pytest.fixture(scope="module")
def ecd(tmp_path_factory):
    """Return an ECD folder with a calibration."""
    path = tmp_path_factory.mktemp("ecd") / "scene"
    path.mkdir()
    scene = evcrisp.simulate(resolution=(240, 180), duration_us=40_000, seed=1)
    evcrisp.write(path / "events.txt", scene.events.with_signal(None))
    (path / "calib.txt").write_text("199 199 119.5 89.5 -0.3 0.1 0 0 0")
    return path


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("flow", ("-o", "flow")),
        ("render", ("a.gif", "--panes", "aligned")),
        ("pareto", ("--points", 3, "-o", "a.json")),
        ("evaluate", ("--no-aocc",)),
    ],
)
def test_commands_use_the_calibration_of_the_recording(
    run, ecd, tmp_path, monkeypatch, command, words
):
    monkeypatch.chdir(tmp_path)
    method = () if command == "pareto" else ("-m", "cmax")
    messages = run(command, ecd, *words, "--motion", "rotation", *method).stderr
    assert messages.count("Info: ") == messages.count("using the calibration in its calib.txt") == 1
    assert "has no camera" not in messages


def test_run_on_the_events_of_a_folder_uses_its_calibration(run, ecd, tmp_path):
    words = ("--motion", "rotation", "-m", "cmax", "--json")
    found = [
        json.loads(run("run", path, "-o", tmp_path / path.name, *words).stdout)
        for path in (ecd, ecd / "events.txt")
    ]
    assert [summary["camera_source"] for summary in found] == ["calib.txt", "calib.txt"]
    rows = [(tmp_path / name / "motion.csv").read_text() for name in (ecd.name, "events.txt")]
    assert rows[0] == rows[1]


def test_plot_uses_the_calibration_of_the_recording(run, ecd, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for kind in ("aligned", "motion"):
        words = ("--motion", "rotation", "-m", "cmax", "-o", tmp_path / f"{kind}.png")
        assert run("plot", kind, ecd, *words).stderr.count("in its calib.txt") == 1


def test_info_shows_the_calibration(run, ecd, tmp_path):
    page = run("info", ecd).stdout
    assert "calibration     Camera(fx=199, fy=199, cx=119.5, cy=89.5, plumb_bob)" in page
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "events.txt").write_bytes((ecd / "events.txt").read_bytes())
    (broken / "calib.txt").write_text("199 199")
    assert "calibration     not readable: " in run("info", broken).stdout
