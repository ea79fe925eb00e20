"""``--start``, ``--duration``, ``--roi`` and ``--stream`` of all commands that read a recording.

A command with a cut gives what it gives for a file that has that part only.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

import evcrisp
from evcrisp.core.camera import Camera
from evcrisp.estimators.estimate import warn_ideal_lens

CUT = {"start_us": 20_000, "duration_us": 50_000, "roi": (8, 6, 64, 48)}
WORDS = ("--start", "20ms", "--duration", "0.05", "--roi", "8,6,64,48")
FACTS = {"start_us": 20_000, "duration_us": 50_000, "roi": [8, 6, 64, 48]}


@pytest.fixture
def part_file(scene_file, tmp_path):
    """Return a file with the part only, under the same name."""
    (tmp_path / "part").mkdir()
    path = tmp_path / "part" / scene_file.name
    evcrisp.write(path, evcrisp.read(scene_file, **CUT))
    return path


def test_convert_writes_the_part(run, scene_file, part_file, tmp_path):
    printed = run("convert", scene_file, tmp_path / "a.npz", *WORDS).stdout
    expected = evcrisp.read(part_file)
    assert evcrisp.read(tmp_path / "a.npz").equals(expected)
    assert printed == f"Wrote {len(expected):,} events to {tmp_path / 'a.npz'}.\n"
    assert expected.resolution == (64, 48)
    assert 100 < len(expected) < len(evcrisp.read(scene_file))


def test_convert_shifts_the_first_event_of_the_part_to_zero(run, scene_file, tmp_path):
    run("convert", scene_file, tmp_path / "a.npz", "--start-at-zero", *WORDS)
    assert evcrisp.read(tmp_path / "a.npz").t[0] == 0


def test_filter_labels_the_part(run, scene_file, part_file, tmp_path):
    for name, path, words in (("a", scene_file, WORDS), ("b", part_file, ())):
        labels = tmp_path / f"{name}-labels.npz"
        run("filter", path, tmp_path / f"{name}.npz", "--labels", labels, *words)
    assert evcrisp.read(tmp_path / "a.npz").equals(evcrisp.read(tmp_path / "b.npz"))
    assert same_arrays(tmp_path / "a-labels.npz", tmp_path / "b-labels.npz")


def same_arrays(first, second):
    with np.load(first) as a, np.load(second) as b:
        return set(a) == set(b) and all(np.array_equal(a[name], b[name]) for name in a)


def test_run_labels_the_part_and_says_so(run, scene_file, part_file, tmp_path):
    for name, path, words in (("a", scene_file, WORDS), ("b", part_file, ())):
        run("run", path, "-o", tmp_path / name, "-m", "cmax", "--window-ms", 20, *words)
    a, b = tmp_path / "a", tmp_path / "b"
    assert same_arrays(a / "labels.npz", b / "labels.npz")
    for name in ("motion.csv", "layers.csv", "scene.clean.npz"):
        assert (a / name).read_bytes() == (b / name).read_bytes()
    cut, whole = (json.loads((folder / "summary.json").read_text()) for folder in (a, b))
    assert (cut["cut"], whole["cut"]) == (FACTS, None)
    assert cut["stream"] == "events"
    assert cut | {"cut": None} == whole
    assert (
        np.load(a / "labels.npz")["signal"].size == cut["n_events"] == len(evcrisp.read(part_file))
    )


def test_evaluate_measures_the_part(run, scene_file, part_file, tmp_path):
    words = ("--json", "--no-aocc", "--slice-events", 100)
    a = json.loads(run("evaluate", scene_file, *words, *WORDS).stdout)
    b = json.loads(run("evaluate", part_file, *words).stdout)
    assert a["quality"] == b["quality"]
    run("filter", scene_file, tmp_path / "x.npz", "--labels", tmp_path / "labels.npz", *WORDS)
    labeled = run("evaluate", scene_file, "--labels", tmp_path / "labels.npz", *words, *WORDS)
    assert json.loads(labeled.stdout)["quality"]["raw"] == a["quality"]["recording"]
    wrong = run("evaluate", scene_file, "--labels", tmp_path / "labels.npz", code=1).stderr
    assert "labels, but the recording has" in wrong


def test_evaluate_cuts_a_cleaned_recording_at_the_times_of_the_raw_one(run, tmp_path, make_events):
    """The cleaned recording starts later: its own first event must not shift the part."""
    raw = make_events(4000, resolution=(40, 30))
    evcrisp.write(tmp_path / "raw.npz", raw)
    evcrisp.write(tmp_path / "clean.npz", raw[500::2])
    words = ("--raw", tmp_path / "raw.npz", "--json", "--no-aocc", "--slice-events", 100)
    cut = ("--start", "50ms", "--duration", "20ms")
    facts = json.loads(run("evaluate", tmp_path / "clean.npz", *words, *cut).stdout)
    t_first = int(raw.t[0])
    inside = raw.between(t_first + 50_000, t_first + 70_000)
    kept = raw[500::2].between(t_first + 50_000, t_first + 70_000)
    assert facts["quality"]["raw"]["n_events"] == len(inside)
    assert facts["quality"]["cleaned"]["n_events"] == len(kept)


def test_evaluate_compares_the_result_of_a_part_with_the_raw_recording(run, scene_file, tmp_path):
    """The cleaned recording has the size of the region; it is not cut to the region again."""
    run("run", scene_file, "-o", tmp_path / "a", "-m", "cmax", *WORDS)
    words = ("--raw", scene_file, "--json", "--no-aocc", "--slice-events", 100)
    part = tmp_path / "a" / "scene.clean.npz"
    facts = json.loads(run("evaluate", part, *words, *WORDS).stdout)
    assert facts["quality"]["raw"]["n_events"] == len(evcrisp.read(scene_file, **CUT))
    assert facts["quality"]["cleaned"]["n_events"] == len(evcrisp.read(part))


def test_render_shows_the_part(run, scene_file, part_file, tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    for name, path, words in (("a", scene_file, WORDS), ("b", part_file, ())):
        run("render", path, tmp_path / f"{name}.gif", "--fps", 50, "--panes", "raw", *words)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_flow_has_the_size_of_the_region(run, scene_file, part_file, tmp_path):
    for name, path, words in (("a", scene_file, WORDS), ("b", part_file, ())):
        run("flow", path, "-o", tmp_path / name, "-m", "cmax", "--window-ms", 25, *words)
    files = sorted(file.name for file in (tmp_path / "b").iterdir())
    assert "flow-000001.npz" in files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("kind", ["scatter", "maps", "motion"])
def test_plot_draws_the_part(run, scene_file, part_file, tmp_path, kind):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    more = () if kind == "motion" else ("--start-ms", 10)
    for name, path, words in (("a", scene_file, WORDS), ("b", part_file, ())):
        words = ("-m", "cmax", "--window-ms", 20, *more, *words)
        run("plot", kind, path, "-o", tmp_path / f"{name}.png", *words)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_pareto_has_the_front_of_a_window_of_the_part(run, scene_file, part_file):
    words = ("--start-ms", 10, "--window-ms", 20, "--points", 3)
    printed = [
        run("pareto", scene_file, *words, *WORDS).stdout,
        run("pareto", part_file, *words).stdout,
    ]
    assert printed[0] == printed[1]


def test_info_counts_the_part_and_names_it(run, scene_file, part_file):
    page = run("info", scene_file, *WORDS).stdout
    assert (
        "part            from 0.02 s to 0.07 s after the first event; 64 x 48 px from x=8, y=6"
        in page
    )
    a = json.loads(run("info", scene_file, "--json", *WORDS).stdout)
    b = json.loads(run("info", part_file, "--json").stdout)
    assert (a["cut"], b["cut"]) == (FACTS, None)
    assert (a["n_events"], a["width"], a["height"]) == (b["n_events"], 64, 48)
    assert a["streams"][0]["n_elements"] == len(evcrisp.read(scene_file))
    assert "part " not in run("info", scene_file).stdout


def test_exported_page_has_the_part(run, scene_file, part_file, tmp_path):
    pytest.importorskip("starlette", reason="starlette is not installed")
    words = ("-m", "cmax", "--windows", 2, "--front-points", 0, "--window-ms", 20)
    for name, path, more in (("a", scene_file, WORDS), ("b", part_file, ())):
        run("view", path, "--export", tmp_path / f"{name}.html", *words, *more)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_viewer_reads_the_part(scene_file, part_file, tmp_path):
    from evcrisp.viewer.session import ViewOptions
    from evcrisp.viewer.worker import ReadTask, read_recording

    options = ViewOptions(path=scene_file, **CUT)
    facts = read_recording(
        ReadTask(str(scene_file), str(tmp_path), options.opening), lambda *_: None
    )
    store = facts["store"]
    assert (store.n_events, store.resolution) == (len(evcrisp.read(part_file)), (64, 48))


def test_viewer_refuses_a_start_after_the_end_before_it_serves(run, scene_file):
    result = run("view", scene_file, "--no-browser", "--start", 7, code=1)
    assert "--start of 7 s lies after the last event" in result.stderr


@pytest.mark.parametrize("given", [True, False])
def test_calibration_follows_the_region(run, scene_file, part_file, tmp_path, given):
    """A rotation in a region equals one with the principal point moved; also of the default lens."""
    whole = Camera(70.0, 71.0, 39.0, 30.5, (0.02, 0, 0, 0, 0)) if given else Camera.ideal((80, 60))
    moved = whole.cropped(CUT["roi"])
    write_calibration(tmp_path / "whole.txt", whole)
    write_calibration(tmp_path / "moved.txt", moved)
    rotation = ("-m", "cmax", "--motion", "rotation", "--window-ms", 25)
    camera = ("--camera", tmp_path / "whole.txt") if given else ()
    warn_ideal_lens.cache_clear()
    result = run("run", scene_file, "-o", tmp_path / "a", *rotation, *camera, *WORDS)
    assert ("an ideal lens with a field of view" in result.stderr) == (not given)
    run("run", part_file, "-o", tmp_path / "b", *rotation, "--camera", tmp_path / "moved.txt")
    assert (tmp_path / "a" / "motion.csv").read_text() == (
        tmp_path / "b" / "motion.csv"
    ).read_text()
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["camera"]["cx"] == moved.cx
    assert summary["camera"]["is_cropped"]


def write_calibration(path, camera):
    numbers = (camera.fx, camera.fy, camera.cx, camera.cy, *camera.distortion)
    path.write_text(" ".join(map(repr, numbers)))


def test_region_far_from_the_principal_point_is_no_mistake(run, scene_file, tmp_path):
    """Neither an error nor a warning: the calibration is compared with the whole sensor."""
    write_calibration(tmp_path / "calib.txt", Camera.ideal((80, 60)))
    words = ("-m", "cmax", "--motion", "rotation", "--camera", tmp_path / "calib.txt")
    result = run("run", scene_file, "-o", tmp_path / "a", *words, "--roi", "50,0,30,25")
    assert "principal point" not in result.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5s", 1_500_000),
        ("200ms", 200_000),
        ("30us", 30),
        ("0.25", 250_000),
        (" 2 s ", 2_000_000),
        (".5ms", 500),
        ("0.000001", 1),
        ("0.1s", 100_000),
        ("0", 0),
    ],
)
def test_times_have_units_and_a_plain_number_means_seconds(text, expected):
    from evcrisp.cli.options import Time

    assert Time().convert(text, None, None) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--start", "1m"),
            "expected a time such as 1.5s, 200ms or 30us; a plain number means seconds",
        ),
        (("--start", "-1s"), "expected a time such as"),
        (("--start", "1e3"), "expected a time such as"),
        (("--start", "nan"), "expected a time such as"),
        (("--start", ""), "expected a time such as"),
        (("--start", "0.5us"), "expected whole microseconds; got 0.5us"),
        (("--start", "9999999999999s"), "expected 0 us to 1000000000 s"),
        (("--duration", "0"), "expected 1 us to 1000000000 s; got 0."),
        (("--duration", "0us"), "expected 1 us"),
        (("--roi", "1,2,3"), "expected X,Y,W,H in px, such as 100,50,64,48"),
        (("--roi", "1,2,3,0"), "W and H of 1 or more"),
        (("--roi", "-1,2,3,4"), "expected X,Y,W,H"),
        (("--roi", "1.5,2,3,4"), "expected X,Y,W,H"),
        (("--roi", "a,b,c,d"), "expected X,Y,W,H"),
        (("--roi", "70,0,20,20"), "--roi must lie on the sensor of 80x60 px"),
        (("--roi", "70,0,20,20"), "The part on the sensor is 70,0,10,20."),
        (("--roi", "80,0,20,20"), "The sensor has columns 0 to 79 and rows 0 to 59."),
        (("--stream", "left"), "has no stream of events 'left'. Known: events."),
    ],
)
def test_wrong_parts_are_explained(run, scene_file, words, message):
    assert message in run("info", scene_file, *words, code=2).stderr


def test_start_after_the_end_leaves_no_output(run, scene_file, tmp_path):
    for words in (
        ("convert", scene_file, tmp_path / "a.npz"),
        ("filter", scene_file, tmp_path / "a.npz"),
        ("run", scene_file, "-o", tmp_path / "a", "-m", "cmax"),
        ("flow", scene_file, "-o", tmp_path / "a", "-m", "cmax"),
        ("evaluate", scene_file, "-o", tmp_path / "a.json"),
        ("plot", "scatter", scene_file, "-o", tmp_path / "a.png"),
        ("render", scene_file, tmp_path / "a.gif"),
        ("info", scene_file),
    ):
        result = run(*words, "--start", "5s", code=1)
        assert "--start of 5 s lies after the last event" in result.stderr
        assert "ends 0.09" in result.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_part_without_events_is_written_with_a_warning(run, tmp_path):
    events = evcrisp.Events(x=[1, 2], y=[1, 2], t=[0, 10**6], p=[1, 0], resolution=(8, 8))
    evcrisp.write(tmp_path / "a.npz", events)
    words = ("--start", "0.5", "--duration", "10ms")
    result = run("convert", tmp_path / "a.npz", tmp_path / "b.npz", *words)
    assert "Wrote 0 events" in result.stdout
    assert "there are no events in the part that was chosen" in result.stderr
    run("run", tmp_path / "a.npz", "-o", tmp_path / "c", *words)
    assert json.loads((tmp_path / "c" / "summary.json").read_text())["n_events"] == 0


@pytest.fixture
def stereo(make_events, tmp_path):
    """Return a file of two cameras, and their events."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    left, right = make_events(300, seed=1), make_events(400, seed=2)
    with h5py.File(tmp_path / "stereo.h5", "w") as file:
        for side, part in (("left", left), ("right", right)):
            for name in "xytp":
                file.create_dataset(f"prophesee/{side}/{name}", data=getattr(part, name))
            file.create_dataset(f"prophesee/{side}/calib/resolution", data=[346, 260])
    return tmp_path / "stereo.h5", left, right


def test_stream_is_chosen_and_listed(run, stereo, tmp_path):
    path, _, right = stereo
    run("convert", path, tmp_path / "a.npz", "--stream", "right")
    assert evcrisp.read(tmp_path / "a.npz").equals(right)
    result = run("info", path)
    assert (
        "2 streams of events (left, right); reading left. Choose another with --stream"
        in result.stderr
    )
    assert (
        "stream          left, 346 x 260 px, 300 events (read)\nstream          right"
        in result.stdout
    )
    facts = json.loads(run("info", path, "--json", "--stream", "right").stdout)
    assert (facts["stream"], facts["n_events"]) == ("right", 400)
    message = run("info", path, "--stream", "middle", code=2).stderr
    assert "has no stream of events 'middle'. Known: left, right." in message


def test_cleaned_stream_is_compared_with_that_of_the_raw_file(run, stereo, tmp_path):
    path, _, right = stereo
    evcrisp.write(tmp_path / "clean.npz", right[::2])
    words = ("--raw", path, "--stream", "right", "--json", "--no-aocc", "--slice-events", 50)
    facts = json.loads(run("evaluate", tmp_path / "clean.npz", *words).stdout)
    assert facts["quality"]["raw"]["n_events"] == 400


def test_program_cuts_a_recording(scene_file, tmp_path):
    words = ["convert", str(scene_file), str(tmp_path / "a.aedat4"), *WORDS]
    result = subprocess.run(
        [sys.executable, "-m", "evcrisp", *words], capture_output=True, text=True, timeout=120
    )
    assert (result.returncode, result.stderr.count("Error")) == (0, 0), result.stderr
    expected = evcrisp.read(scene_file, **CUT).with_signal(None)
    assert evcrisp.read(tmp_path / "a.aedat4").equals(expected)
