"""Video files: content after decoding, errors, and incomplete files."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, Events, MissingExtraError, UnknownNameError
from evcrisp.core.errors import OutputError
from evcrisp.core.palettes import PALETTES, rgb
from evcrisp.video import VIDEO_FORMATS, VideoConfig, render
from evcrisp.video import rendering as rendering_module

ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

BAR_PX = 14
RED, BLUE, WHITE = rgb(PALETTES["red-blue"].on), rgb(PALETTES["red-blue"].off), (255, 255, 255)


def decoded(path):
    """Return all frames, shape (n, h, w, 3), and the frame rate."""
    if path.suffix == ".mp4":
        words = [ffmpeg.get_ffmpeg_exe(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        result = subprocess.run(words, capture_output=True, check=True)
        facts = re.search(r"yuv420p.*? (\d+)x(\d+).*? ([\d.]+) fps", result.stderr.decode())
        width, height, fps = facts.groups()
        pictures = np.frombuffer(result.stdout, np.uint8)
        return pictures.reshape(-1, int(height), int(width), 3), float(fps)
    with pillow.open(path) as image:
        pictures, durations = [], []
        for k in range(image.n_frames):
            image.seek(k)
            pictures.append(np.array(image.convert("RGB")))
            durations.append(image.info["duration"])
        return np.array(pictures), 1000.0 / np.mean(durations)


def reddish(picture):
    """Return the mask of red pixels."""
    return picture[..., 0].astype(int) - picture[..., 2] > 60


@pytest.mark.parametrize("suffix", VIDEO_FORMATS)
def test_moving_edge_is_at_its_position_in_every_frame(suffix, tmp_path, moving_edge):
    events = moving_edge()
    path = tmp_path / f"edge{suffix}"
    config = VideoConfig(panes=("raw",), fps=50, window_us=20_000, scale=2)
    video = render(events, path, config=config)
    pictures, fps = decoded(path)
    assert video.n_frames == len(pictures) == 10
    assert video.size == (128, 2 * (48 + BAR_PX)) == pictures.shape[2:0:-1]
    assert fps == pytest.approx(50, rel=0.01)
    assert video.duration_s == pytest.approx(0.2)
    for k, picture in enumerate(pictures):
        columns = np.flatnonzero(reddish(picture[2 * BAR_PX :]).mean(axis=0) > 0.5)
        # 200 px/s for 20 ms: four pixels of the sensor, of two pixels each.
        first = 2 * (8 + 4 * k)
        assert abs(columns[0] - first) <= 1, k
        assert abs(columns[-1] - (first + 7)) <= 1, k
    assert (pictures[:, 2 * BAR_PX :, 100:] > 240).all()


@pytest.mark.parametrize("suffix", VIDEO_FORMATS)
def test_same_events_give_the_same_bytes(suffix, tmp_path, moving_edge):
    for name in "ab":
        render(moving_edge(), tmp_path / f"{name}{suffix}", config=VideoConfig(panes=("raw",)))
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == second


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a choice of cores")
def test_bytes_do_not_depend_on_the_number_of_cores(tmp_path, moving_edge):
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        pytest.skip("one core only")
    try:
        for name, chosen in (("a", cores), ("b", {min(cores)})):
            os.sched_setaffinity(0, chosen)
            render(moving_edge(), tmp_path / f"{name}.mp4", config=VideoConfig(panes=("raw",)))
    finally:
        os.sched_setaffinity(0, cores)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_gif_and_webp_are_lossless(tmp_path):
    events = Events(x=[3, 9], y=[5, 2], t=[0, 10], p=[1, 0], resolution=(20, 16))
    config = VideoConfig(panes=("raw",), exposure=50.0, titles=False)
    for suffix in (".gif", ".webp"):
        render(events, tmp_path / f"two{suffix}", config=config)
        picture = decoded(tmp_path / f"two{suffix}")[0][0]
        assert tuple(picture[5, 3]) == RED
        assert tuple(picture[2, 9]) == BLUE
        assert (picture == WHITE).all(axis=2).sum() == 20 * 16 - 2


def test_mp4_keeps_colors_of_uniform_areas(tmp_path):
    events = Events(x=[1, 3], y=[1, 1], t=[0, 10], p=[1, 0], resolution=(5, 3))
    config = VideoConfig(panes=("raw",), exposure=50.0, titles=False, scale=16)
    render(events, tmp_path / "two.mp4", config=config)
    picture = decoded(tmp_path / "two.mp4")[0][0].astype(int)
    for x, color in ((1, RED), (3, BLUE), (0, WHITE)):
        assert np.abs(picture[24, 16 * x + 8] - color).max() < 8


def test_panes_show_raw_denoised_and_aligned_events(tmp_path):
    scene = evcrisp.simulate(
        resolution=(120, 90), theta=(300.0, 0.0), duration_us=66_000, noise_hz=20.0, seed=2
    )
    path = tmp_path / "panes.webp"
    config = VideoConfig(panes=("raw", "denoised", "aligned"), titles=False)
    video = render(scene.events, path, config=config)
    picture = decoded(path)[0][0]
    assert picture.shape == (90, 3 * 120 + 2 * 4, 3)
    assert video.size == (368, 90)
    raw, denoised, aligned = (
        (picture[:, left : left + 120] != 255).any(axis=2) for left in (0, 124, 248)
    )
    window = scene.events.between(scene.events.t[0], scene.events.t[0] + 33_333)
    drawn = np.zeros((90, 120), bool)
    drawn[window.y, window.x] = True
    assert np.array_equal(raw, drawn)
    assert (denoised <= raw).all()
    assert denoised.sum() < raw.sum()
    # Aligned events share their pixels.
    assert aligned.sum() < 0.8 * denoised.sum()


def test_recording_and_its_events_give_the_same_video(tmp_path, moving_edge):
    events = moving_edge()
    evcrisp.write(tmp_path / "edge.aedat4", events)
    config = VideoConfig(panes=("raw", "denoised"))
    render(events, tmp_path / "a.gif", config=config)
    with evcrisp.open(tmp_path / "edge.aedat4") as recording:
        render(recording, tmp_path / "b.gif", config=config)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_gif_has_its_frame_rate_or_raises(tmp_path, moving_edge):
    config = VideoConfig(panes=("raw",), fps=50.0)
    video = render(moving_edge(), tmp_path / "a.gif", config=config)
    content = (tmp_path / "a.gif").read_bytes()
    marks = [m.end() for m in re.finditer(rb"!\xf9\x04.", content, re.DOTALL)]
    durations = [int.from_bytes(content[end : end + 2], "little") for end in marks]
    assert sum(durations) / 100 == pytest.approx(video.duration_s)
    with pytest.raises(ConfigError, match=r"at most 50, .*; got 50.5. Write .webp or .mp4"):
        render(moving_edge(), tmp_path / "b.gif", config=VideoConfig(panes=("raw",), fps=50.5))
    assert not (tmp_path / "b.gif").exists()
    render(moving_edge(), tmp_path / "b.webp", config=VideoConfig(panes=("raw",), fps=50.5))


def test_odd_sensor_sides_give_even_video_sides(tmp_path):
    events = Events(x=[0, 4], y=[0, 2], t=[0, 1], p=[1, 1], resolution=(5, 3))
    config = VideoConfig(panes=("raw",), titles=False)
    assert render(events, tmp_path / "odd.mp4", config=config).size == (6, 4)
    assert decoded(tmp_path / "odd.mp4")[0].shape == (1, 4, 6, 3)


def test_recording_without_events_raises_and_leaves_no_file(tmp_path):
    with pytest.raises(EventDataError, match="no events"):
        render(Events.empty((8, 4)), tmp_path / "none.mp4")
    assert not list(tmp_path.iterdir())


def test_existing_file_is_kept_unless_overwrite_is_set(tmp_path, moving_edge):
    path = tmp_path / "edge.gif"
    path.write_bytes(b"precious")
    with pytest.raises(OutputError, match="exists already"):
        render(moving_edge(), path, config=VideoConfig(panes=("raw",)))
    assert path.read_bytes() == b"precious"
    render(moving_edge(), path, config=VideoConfig(panes=("raw",)), overwrite=True)
    assert path.read_bytes()[:6] == b"GIF89a"


def test_damaged_recording_leaves_no_file(tmp_path, moving_edge):
    source = tmp_path / "edge.txt"
    evcrisp.write(source, moving_edge())
    source.write_bytes(source.read_bytes()[:-200] + b"\nnonsense\n")
    with (
        evcrisp.open(source, resolution=(64, 48)) as recording,
        pytest.raises(evcrisp.FormatError),
    ):
        render(recording, tmp_path / "edge.mp4", config=VideoConfig(panes=("raw",)))
    assert [path.name for path in tmp_path.iterdir()] == ["edge.txt"]


class Failing:
    """A format that fails at the third frame, as on a full disk."""

    def open(self, path, size, fps, table):
        path.write_bytes(b"half")
        self.n = 0
        return self

    def write(self, picture):
        self.n += 1
        if self.n == 3:
            raise OSError(28, "No space left on device")

    def close(self):
        raise AssertionError("a failed video must not be completed")

    def abort(self):
        pass


def test_error_while_encoding_is_raised(tmp_path, monkeypatch, moving_edge):
    monkeypatch.setitem(rendering_module.VIDEO_FORMATS, ".gif", Failing)
    with pytest.raises(OSError, match="No space left"):
        render(moving_edge(), tmp_path / "full.gif", config=VideoConfig(panes=("raw",), fps=100))
    assert not list(tmp_path.iterdir())


def test_error_message_of_ffmpeg_is_raised(tmp_path, monkeypatch, moving_edge):
    class Unknown(rendering_module.Mp4):
        def __init__(self):
            super().__init__(preset="nonsense")

    monkeypatch.setitem(rendering_module.VIDEO_FORMATS, ".mp4", Unknown)
    with pytest.raises(OutputError, match="ffmpeg failed: ."):
        render(moving_edge(), tmp_path / "edge.mp4", config=VideoConfig(panes=("raw",)))
    assert not list(tmp_path.iterdir())


def test_killed_ffmpeg_is_reported_with_its_signal(tmp_path, monkeypatch, moving_edge):
    program = tmp_path / "killed"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    folder = tmp_path / "videos"
    folder.mkdir()
    monkeypatch.setattr(ffmpeg, "get_ffmpeg_exe", lambda: str(program))
    with pytest.raises(OutputError, match="stopped by signal SIGKILL"):
        render(moving_edge(), folder / "edge.mp4", config=VideoConfig(panes=("raw",)))
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("suffix", "package"), [(".mp4", "imageio_ffmpeg"), (".gif", "PIL"), (".webp", "PIL")]
)
def test_missing_package_raises_with_the_extra(suffix, package, tmp_path, monkeypatch, moving_edge):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"video"):
        render(moving_edge(), tmp_path / f"a{suffix}", config=VideoConfig(panes=("raw",)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fps": 0}, "`fps` must be a number above 0"),
        ({"fps": float("nan")}, "`fps` must be a number above 0"),
        ({"speed": -1}, "`speed` must be a positive number"),
        ({"speed": 1e-9}, "1 us to one hour from frame to frame"),
        ({"window_us": 0}, "`window_us` must be a whole number in 1"),
        ({"scale": 1.5}, "`scale` must be a whole number in 1..16"),
        ({"exposure": 0.0}, "`exposure` must be a number above 0 and at most 100"),
        ({"panes": ()}, "at least one of raw"),
    ],
)
def test_invalid_settings_raise(settings, message):
    with pytest.raises(ConfigError, match=message):
        VideoConfig(**settings)


def test_unknown_names_raise_with_a_suggestion(tmp_path, moving_edge):
    with pytest.raises(UnknownNameError, match="Did you mean 'aligned'"):
        VideoConfig(panes=("alined",))
    with pytest.raises(UnknownNameError, match="Known: dark, red-blue"):
        VideoConfig(colors="pink")
    with pytest.raises(ConfigError, match=r"must end in .mp4, .gif, .webp; got 'a.avi'"):
        render(moving_edge(), tmp_path / "a.avi")
    with pytest.raises(ConfigError, match="fewer panes or a smaller scale"):
        render(moving_edge((2000, 10)), tmp_path / "a.mp4", config=VideoConfig(scale=16))


PROGRAM = """
import sys, evcrisp
from evcrisp.video import VideoConfig, render
with evcrisp.open(sys.argv[1]) as recording:
    render(recording, sys.argv[2], config=VideoConfig(fps=240, speed=0.001, window_us=2000, panes=("raw",)))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_process_leaves_no_file_under_the_final_name(tmp_path, moving_edge):
    evcrisp.write(tmp_path / "edge.npz", moving_edge())
    words = [sys.executable, "-c", PROGRAM, tmp_path / "edge.npz", tmp_path / "out.mp4"]
    process = subprocess.Popen(words)
    try:
        deadline = time.monotonic() + 60
        while not any(p.name.startswith(".part-") for p in tmp_path.iterdir()):
            assert process.poll() is None, "the program ended before it was killed"
            assert time.monotonic() < deadline, "the program never began to write"
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "out.mp4").exists()
