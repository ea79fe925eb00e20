"""``evcrisp render`` and ``evcrisp plot`` as a user calls them."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import evcrisp
from evcrisp.plots import FIGURES

pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "scene.npz"
    scene = evcrisp.simulate(
        resolution=(80, 60), theta=(250.0, -100.0), duration_us=100_000, noise_hz=10.0, seed=4
    )
    evcrisp.write(path, scene.events)
    return path


def opened(path):
    with pillow.open(path) as image:
        return image.n_frames, image.size, np.array(image.convert("RGB"))


def test_render_says_what_it_wrote(run, sample, tmp_path):
    path = tmp_path / "scene.mp4"
    said = run("render", sample, path).stdout
    assert said == f"Wrote 3 frames of 248 x 74 px, 0.1 s, to {path}.\n"
    assert path.read_bytes()[4:8] == b"ftyp"


def test_every_option_reaches_the_video(run, sample, tmp_path):
    path = tmp_path / "scene.gif"
    words = ["--fps", 50, "--speed", 0.5, "--window-ms", 10, "--panes", "labels, raw"]
    words += ["--colors", "dark", "--exposure", 50, "--scale", 3, "--no-titles"]
    words += ["-m", "exact", "--motion", "translation", "--set", "max_iter=5"]
    run("render", sample, path, *words)
    n_frames, size, picture = opened(path)
    assert n_frames == 10
    assert size == (3 * (2 * 80 + 4), 3 * 60)
    assert tuple(picture[0, -1]) in {(11, 14, 19), (255, 90, 82), (74, 163, 255)}
    assert run("render", sample, path, code=1).stderr.count("Use --force") == 1
    run("render", sample, path, "--force", "--panes", "raw")
    assert opened(path)[1] == (80, 74)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.avi"], "A video must end in .mp4, .gif, .webp"),
        (["a.mp4", "--fps", "0"], "Invalid value for '--fps': 0.0 is not in the range"),
        (["a.gif", "--fps", "60"], "--fps of a GIF must be at most 50"),
        (["a.mp4", "--panes", "rawr"], "Unknown pane 'rawr'. Did you mean 'raw'?"),
        (["a.mp4", "--panes", ","], "--panes must name at least one of"),
        (["a.mp4", "--colors", "red"], "Unknown palette 'red'"),
        (["a.mp4", "--method", "autoo"], "Did you mean 'auto'"),
        (["a.mp4", "--set", "nonsense=1"], "has no option 'nonsense'"),
    ],
)
def test_wrong_options_are_explained_and_leave_nothing(run, sample, tmp_path, words, message):
    words = [tmp_path / words[0], *words[1:]]
    assert message in run("render", sample, *words, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_render_shows_progress_on_a_terminal(terminal, sample, tmp_path):
    words = ("render", sample, tmp_path / "a.gif", "--panes", "raw")
    process = terminal.start(*words, stdout=subprocess.DEVNULL)
    assert "Rendering" in terminal.read_all()
    assert process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_a_terminated_render_leaves_nothing(sample, tmp_path):
    # As slow as can be, so that it is still at work when the signal comes.
    words = [sys.executable, "-m", "evcrisp", "render", sample, tmp_path / "a.mp4"]
    process = subprocess.Popen([*words, "--fps", "240", "--speed", "0.0005", "--panes", "raw"])
    try:
        deadline = time.monotonic() + 60
        while not any(path.name.startswith(".part-") for path in tmp_path.iterdir()):
            assert process.poll() is None, "the program ended before it was told to"
            assert time.monotonic() < deadline, "the program never began to write"
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [name for name, entry in FIGURES.items() if entry.of_recording])
def test_every_figure_of_a_recording_is_drawn(run, sample, tmp_path, kind):
    path = tmp_path / f"{kind}.png"
    words = ["--window-ms", 20, "--dpi", 40]
    words += [] if kind == "motion" else ["--start-ms", 20]
    words += ["--points", 3] if kind in ("pareto", "tradeoff") else []
    assert run("plot", kind, sample, "-o", path, *words).stdout == f"Saved {path}.\n"
    assert opened(path)[1] > (100, 100)


def test_methods_and_filters_are_compared_side_by_side(run, sample, tmp_path):
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    run("plot", "scatter", sample, "-o", one, "--dpi", 40)
    run("plot", "scatter", sample, "-o", two, "--dpi", 40, "-m", "auto", "-m", "baf")
    assert opened(two)[1][0] == pytest.approx(2 * opened(one)[1][0], abs=2)
    run("plot", "roc", sample, "-o", tmp_path / "roc.pdf", "-m", "auto", "-m", "baf")
    assert (tmp_path / "roc.pdf").read_bytes().startswith(b"%PDF")
    words = ["plot", "roc", sample, "-o", one, "--force", "-m", "auto", "-m", "nonsense"]
    assert "Unknown method or filter 'nonsense'" in run(*words, code=2).stderr


def test_filters_see_what_came_before_the_window(sample):
    from evcrisp.pipeline.figure_data import FigureSource

    source = FigureSource(
        names=("baf",), motion="translation", camera=None, params={}, start_us=50_000,
        window_us=20_000, n_points=3,
    )  # fmt: skip
    events = evcrisp.read(sample)
    with evcrisp.open(sample) as recording:
        data = source.data("scatter", recording)
    t_start = int(events.t[0]) + 50_000
    window = events.between(t_start, t_start + 20_000)
    assert data["events"].equals(window)
    first = int(np.searchsorted(events.t, t_start))
    expected = evcrisp.denoise(events, "baf").signal[first : first + len(window)]
    assert np.array_equal(data["labels"]["baf"], expected)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["levels", "-o", "a.png"], 2, "Unknown figure 'levels'"),
        (["xyt", "-o", "a.jpg"], 2, "A picture must end in .png, .pdf, .svg; got 'a.jpg'"),
        (["maps", "-o", "a.png", "-m", "auto", "-m", "eja"], 2, "--method may be given once"),
        (["w", "-o", "a.png", "-m", "cmax"], 2, "no confidence map W"),
        (["xyt", "-o", "a.png", "--colors", "pink"], 2, "Unknown palette 'pink'"),
        (["roc", "-o", "a.png", "--start-ms", "-5"], 0, ""),
        (
            ["maps", "-o", "a.png", "--colors", "dark"],
            2,
            "--colors is not for the figure 'maps', only for scatter, aligned, xyt, intro.",
        ),
        (["w", "-o", "a.png", "--points", "5"], 2, "only for pareto, tradeoff."),
        (["pareto", "-o", "a.png", "-m", "paper"], 2, "--method is not for the figure 'pareto'"),
        (["motion", "-o", "a.png", "--start-ms", "5"], 2, "--start-ms is not for the figure"),
    ],
)
def test_wrong_figures_are_explained(run, sample, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    result = run("plot", words[0], sample, *words[1:], code=code)
    assert message in result.stderr
    assert (tmp_path / "a.png").exists() == (code == 0)


def test_figures_of_labels_need_labels(run, sample, tmp_path):
    bare = tmp_path / "bare.npz"
    evcrisp.write(bare, evcrisp.read(sample).with_signal(None))
    result = run("plot", "outcomes", bare, "-o", tmp_path / "a.png", code=1)
    assert "needs the truth, and this recording has no labels" in result.stderr
