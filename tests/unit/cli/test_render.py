"""``evcrisp render``: videos, and wrong options."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def opened(path):
    with pillow.open(path) as image:
        return image.n_frames, image.size, np.array(image.convert("RGB"))


def test_render_prints_size_of_video(run, scene_file, tmp_path):
    path = tmp_path / "scene.mp4"
    printed = run("render", scene_file, path).stdout
    assert printed == f"Wrote 3 frames of 248 x 74 px, 0.1 s, to {path}.\n"
    assert path.read_bytes()[4:8] == b"ftyp"


def test_render_applies_every_option(run, scene_file, tmp_path):
    path = tmp_path / "scene.gif"
    words = ["--fps", 50, "--speed", 0.5, "--window-ms", 10, "--panes", "labels, raw"]
    words += ["--colors", "dark", "--exposure", 50, "--scale", 3, "--no-titles"]
    words += ["-m", "exact", "--motion", "translation", "--set", "max_iter=5"]
    run("render", scene_file, path, *words)
    n_frames, size, picture = opened(path)
    assert n_frames == 10
    assert size == (3 * (2 * 80 + 4), 3 * 60)
    assert tuple(picture[0, -1]) in {(11, 14, 19), (255, 90, 82), (74, 163, 255)}
    assert run("render", scene_file, path, code=1).stderr.count("Replace it with --force.") == 1
    run("render", scene_file, path, "--force", "--panes", "raw")
    assert opened(path)[1] == (80, 74)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.avi"], "A video must end in .mp4, .gif, .webp"),
        (["a.mp4", "--fps", "0"], "Invalid value for '--fps': 0.0 is not in the range"),
        (
            ["a.gif", "--fps", "60"],
            "--fps must be at most 50, because players slow down faster GIFs",
        ),
        (["a.mp4", "--panes", "rawr"], "Unknown pane 'rawr'. Did you mean 'raw'?"),
        (["a.mp4", "--panes", ","], "--panes must name at least one of"),
        (["a.mp4", "--colors", "red"], "Unknown palette 'red'"),
        (["a.mp4", "--method", "autoo"], "Did you mean 'auto'"),
        (["a.mp4", "--set", "nonsense=1"], "has no option 'nonsense'"),
    ],
)
def test_render_explains_wrong_options_and_leaves_no_files(
    run, scene_file, tmp_path, words, message
):
    words = [tmp_path / words[0], *words[1:]]
    assert message in run("render", scene_file, *words, code=2).stderr
    assert not list(tmp_path.iterdir())


def test_render_shows_progress_on_a_terminal(terminal, scene_file, tmp_path):
    words = ("render", scene_file, tmp_path / "a.gif", "--panes", "raw")
    process = terminal.start(*words, stdout=subprocess.DEVNULL)
    assert "Rendering" in terminal.read_all()
    assert process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_terminated_render_leaves_no_files(scene_file, tmp_path):
    # Slow settings, so that it still runs when the signal comes.
    words = [sys.executable, "-m", "evcrisp", "render", scene_file, tmp_path / "a.mp4"]
    process = subprocess.Popen([*words, "--fps", "240", "--speed", "0.0005", "--panes", "raw"])
    try:
        deadline = time.monotonic() + 60
        while not any(path.name.startswith(".part-") for path in tmp_path.iterdir()):
            assert process.poll() is None, "the program ended before the signal"
            assert time.monotonic() < deadline, "the program did not start to write"
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert not list(tmp_path.iterdir())
