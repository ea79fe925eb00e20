"""``evcrisp plot``: every figure, and wrong options."""

import numpy as np
import pytest

import evcrisp
from evcrisp.plots import FIGURES

pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def opened(path):
    with pillow.open(path) as image:
        return image.n_frames, image.size, np.array(image.convert("RGB"))


@pytest.mark.parametrize("kind", [name for name, entry in FIGURES.items() if entry.of_recording])
def test_plot_draws_every_figure_of_recording(run, scene_file, tmp_path, kind):
    path = tmp_path / f"{kind}.png"
    words = ["--window-ms", 20, "--dpi", 40]
    words += [] if kind == "motion" else ["--start-ms", 20]
    words += ["--points", 3] if kind in ("pareto", "tradeoff") else []
    assert run("plot", kind, scene_file, "-o", path, *words).stdout == f"Saved {path}.\n"
    assert opened(path)[1] > (100, 100)


def test_plot_compares_methods_and_filters(run, scene_file, tmp_path):
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    run("plot", "scatter", scene_file, "-o", one, "--dpi", 40)
    run("plot", "scatter", scene_file, "-o", two, "--dpi", 40, "-m", "auto", "-m", "baf")
    assert opened(two)[1][0] == pytest.approx(2 * opened(one)[1][0], abs=2)
    run("plot", "roc", scene_file, "-o", tmp_path / "roc.pdf", "-m", "auto", "-m", "baf")
    assert (tmp_path / "roc.pdf").read_bytes().startswith(b"%PDF")
    words = ["plot", "roc", scene_file, "-o", one, "--force", "-m", "auto", "-m", "nonsense"]
    assert "Unknown method or filter 'nonsense'" in run(*words, code=2).stderr


def test_filters_process_events_before_window(scene_file):
    from evcrisp.pipeline.figure_data import FigureSource

    source = FigureSource(
        methods=("baf",), motion="translation", camera=None, params={}, start_us=50_000,
        window_us=20_000, n_points=3,
    )  # fmt: skip
    events = evcrisp.read(scene_file)
    with evcrisp.open(scene_file) as recording:
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
        (
            ["maps", "-o", "a.png", "-m", "auto", "-m", "eja"],
            2,
            "--method can be repeated only for",
        ),
        (["w", "-o", "a.png", "-m", "cmax"], 2, "no confidence map W"),
        (["xyt", "-o", "a.png", "--colors", "pink"], 2, "Unknown palette 'pink'"),
        (["roc", "-o", "a.png", "--start-ms", "-5"], 0, ""),
        (
            ["maps", "-o", "a.png", "--colors", "dark"],
            2,
            "--colors does not apply to the figure 'maps', only to scatter, aligned, layers, xyt, intro.",
        ),
        (["w", "-o", "a.png", "--points", "5"], 2, "only to pareto, tradeoff."),
        (
            ["layers", "-o", "a.png", "--style", "arrows"],
            2,
            "--style does not apply to the figure 'layers', only to flow.",
        ),
        (["flow", "-o", "a.png", "--style", "smoke"], 2, "'smoke' is not one of"),
        (["flow", "-o", "a.png", "--style", "arrows"], 0, ""),
        (["layers", "-o", "a.png", "-m", "cmax", "--colors", "dark"], 0, ""),
        (
            ["pareto", "-o", "a.png", "-m", "paper"],
            2,
            "--method does not apply to the figure 'pareto'",
        ),
        (
            ["motion", "-o", "a.png", "--start-ms", "5"],
            2,
            "--start-ms does not apply to the figure",
        ),
    ],
)
def test_plot_explains_wrong_options(run, scene_file, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    result = run("plot", words[0], scene_file, *words[1:], code=code)
    assert message in result.stderr
    assert (tmp_path / "a.png").exists() == (code == 0)


def test_outcomes_figure_needs_true_labels(run, scene_file, tmp_path):
    bare = tmp_path / "bare.npz"
    evcrisp.write(bare, evcrisp.read(scene_file).with_signal(None))
    result = run("plot", "outcomes", bare, "-o", tmp_path / "a.png", code=1)
    assert "needs true labels, and this recording has none" in result.stderr


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        (
            "DAVIS346_00000391",
            "The gyroscope of DAVIS346_00000391 is turned to the axes of the camera",
        ),
        ("mine", "The axes of the gyroscope are those of the file"),
    ],
)
def test_motion_says_the_axes_of_the_gyroscope(run, tmp_path, camera, message):
    from evcrisp.io.aedat.aedat4_writer import Aedat4Writer

    scene = evcrisp.simulate(
        motion="rotation", theta=(0.5, -0.8, 1.5), resolution=(80, 60), duration_us=60_000, seed=3
    )
    path = tmp_path / "turning.aedat4"
    evcrisp.write(path, scene.events, format=Aedat4Writer(camera=camera), imu=scene.imu)
    words = ("-m", "cmax", "-o", tmp_path / "a.png")
    result = run("plot", "motion", path, "--motion", "rotation", *words)
    assert f"Info: {message}" in result.stderr
    result = run("plot", "motion", path, "--motion", "translation", *words, "--force")
    assert "gyroscope" not in result.stderr


def test_figure_data_has_the_gyroscope_in_camera_axes(tmp_path):
    from evcrisp.io.aedat.aedat4_writer import Aedat4Writer
    from evcrisp.pipeline.figure_data import FigureSource

    scene = evcrisp.simulate(
        motion="rotation", theta=(0.5, -0.8, 1.5), resolution=(80, 60), duration_us=60_000, seed=3
    )
    path = tmp_path / "turning.aedat4"
    evcrisp.write(path, scene.events, format=Aedat4Writer(camera="DVXplorer_1"), imu=scene.imu)
    with evcrisp.open(path) as recording:
        data = FigureSource(methods=("cmax",), motion="rotation").data("motion", recording)
    expected = scene.imu.gyro_rad_s * (-1, 1, -1)
    np.testing.assert_allclose(data["imu"].gyro_rad_s, expected, atol=1e-5)
    assert data["imu_label"] == "gyroscope (camera axes)"


def test_a_figure_of_a_doubtful_window_says_so(run, tmp_path):
    rng = np.random.default_rng(0)
    noise = evcrisp.Events(
        x=rng.integers(0, 240, 90), y=rng.integers(0, 180, 90), t=np.sort(rng.integers(0, 30_000, 90)),
        p=rng.random(90) < 0.5, resolution=(240, 180),
    )  # fmt: skip
    evcrisp.write(tmp_path / "noise.npz", noise)
    result = run("plot", "aligned", tmp_path / "noise.npz", "-o", tmp_path / "a.png")
    assert result.exit_code == 0
    assert "auto: The motion may be chance" in result.stderr
    assert "auto keeps none of the 90 events of this window." in result.stderr
