"""The pane of layers: colors, boxes and numbers, from window to window."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.core.palettes import PALETTES, layer_palette, layer_slots, rgb
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.pipeline.tracking import Tracker
from evcrisp.simulation import ObjectConfig
from evcrisp.video import VideoConfig, render
from evcrisp.video.config import FrameContent, LayerMark
from evcrisp.video.frames import frame_contents
from evcrisp.video.rasterize import Painter, text_mask

WINDOW_US = 30_000


def content(events, slot, marks=()):
    x, y = events.x.astype(float), events.y.astype(float)
    signal = np.array(slot) >= 0
    return FrameContent(events, signal, x, y, 0, 9, np.array(slot, np.int16), marks)


def painted(shown, resolution, colors="red-blue"):
    config = VideoConfig(panes=("layers",), colors=colors, titles=False)
    painter = Painter(config, resolution)
    return painter.table[painter.paint(shown)]


@pytest.mark.parametrize("colors", PALETTES)
def test_events_have_the_colors_of_their_layers_over_gray_noise(colors):
    palette = layer_palette(PALETTES[colors].ground)
    # The last event, noise, lies at the pixel of a signal event.
    events = Events(x=[1, 2, 3, 1], y=[0, 1, 2, 0], t=[0] * 4, p=[1] * 4, resolution=(6, 4))
    picture = painted(content(events, [0, 9, -1, -1]), (6, 4), colors)
    assert tuple(picture[0, 1]) == rgb(palette.colors[0])
    assert tuple(picture[1, 2]) == rgb(palette.colors[9])
    assert tuple(picture[2, 3]) == rgb(palette.noise)
    assert tuple(picture[3, 5]) == rgb(PALETTES[colors].ground)


def test_boxes_are_frames_with_the_number_of_the_layer():
    mark = LayerMark(12, 2, (5.0, 3.0, 20.0, 16.0))
    picture = painted(content(Events.empty((40, 30)), [], (mark,)), (40, 30))
    is_drawn = (picture == rgb(layer_palette("#ffffff").colors[2])).all(axis=2)
    expected = np.zeros((30, 40), bool)
    expected[3:19, 5:25] = True
    expected[4:18, 6:24] = False
    mask = text_mask("12")
    expected[5:13, 7 : 7 + mask.shape[1]] = mask
    np.testing.assert_array_equal(is_drawn, expected)


@pytest.mark.parametrize(
    ("box", "corner"),
    [((-9.0, -9.0, 14.0, 14.0), (4, 4)), ((36.0, 26.0, 50.0, 50.0), (26, 36))],
)
def test_boxes_are_cut_at_the_border_of_the_sensor(box, corner):
    picture = painted(content(Events.empty((40, 30)), [], (LayerMark(0, 0, box),)), (40, 30))
    assert tuple(picture[corner]) == rgb(layer_palette("#ffffff").colors[0])


@pytest.mark.parametrize("box", [(80.0, 3.0, 5.0, 5.0), (3.0, -20.0, 5.0, 5.0), (0.0,) * 4])
def test_boxes_outside_and_without_events_are_not_drawn(box):
    picture = painted(content(Events.empty((40, 30)), [], (LayerMark(0, 0, box),)), (40, 30))
    assert (picture == 255).all()


def test_pane_without_estimate_shows_no_layers():
    """A frame without layers has one color of signal."""
    events = Events(x=[1, 2], y=[0, 1], t=[0, 1], p=[1, 0], resolution=(4, 4))
    x, y = events.x.astype(float), events.y.astype(float)
    picture = painted(FrameContent(events, np.array([True, False]), x, y, 0, 9), (4, 4))
    palette = layer_palette("#ffffff")
    assert tuple(picture[0, 1]) == rgb(palette.colors[0])
    assert tuple(picture[1, 2]) == rgb(palette.noise)


@pytest.fixture(scope="module")
def objects():
    """Return two objects that move against each other before a still background."""
    shape = {"size": (0.34, 0.46), "texture": "rocks"}
    return evcrisp.simulate(
        resolution=(200, 150), theta=(0.0, 0.0), duration_us=90_000, noise_hz=2.0, seed=7,
        contrast=2.5, c_on=0.25, c_off=0.25, objects=(
            ObjectConfig(theta=(250.0, 30.0), center=(0.25, 0.3), **shape),
            ObjectConfig(theta=(-250.0, -40.0), center=(0.75, 0.7), **shape),
        ),
    ).events  # fmt: skip


def frames_of(events, **settings):
    config = VideoConfig(panes=("layers",), window_us=WINDOW_US, **settings)
    tracker = Tracker(AutoRegret(), OpenMotion(), events.resolution)
    return list(frame_contents((events,), config, tracker, lambda chunk: None))


@pytest.mark.slow
def test_frames_have_the_layers_of_track_with_the_same_numbers(objects):
    windowing = evcrisp.Windowing(window_us=WINDOW_US)
    tracked = list(evcrisp.track(objects, windowing=windowing))
    frames = frames_of(objects, fps=100.0 / 3, speed=1.0)
    assert len(frames) == len(tracked) == 3
    for frame, result in zip(frames, tracked, strict=True):
        layers = result.layers
        assert len(layers) >= 2
        slots = layer_slots([layer.id for layer in layers])
        assert [mark.id for mark in frame.marks] == [layer.id for layer in layers]
        assert [mark.slot for mark in frame.marks] == slots
        np.testing.assert_array_equal(frame.slot, np.array([*slots, -1])[result.layer])
        for mark, layer in zip(frame.marks, layers, strict=True):
            assert mark.box == pytest.approx(layer.box, abs=0.1)


@pytest.mark.slow
def test_boxes_move_with_the_layers_in_slow_motion(objects):
    frames = frames_of(objects, fps=50, speed=0.25)
    assert len(frames) > 12
    moving = [frame for frame in frames if 30_000 <= (frame.t_start + frame.t_end) // 2 < 60_000]
    first, last = moving[0], moving[-1]
    dt = (last.t_start - first.t_start) / 1e6
    tracked = list(evcrisp.track(objects, windowing=evcrisp.Windowing(window_us=WINDOW_US)))
    velocity = {layer.id: layer.velocity for layer in tracked[1].layers}
    for before, after in zip(first.marks, last.marks, strict=True):
        moved = np.subtract(after.box, before.box) / dt
        np.testing.assert_allclose(moved, [*velocity[before.id], 0.0, 0.0], atol=1e-6)


def test_layers_are_computed_only_if_a_pane_shows_them(objects):
    config = VideoConfig(panes=("denoised",), fps=10, window_us=WINDOW_US)
    tracker = Tracker(AutoRegret(), OpenMotion(), objects.resolution)
    (frame,) = frame_contents((objects,), config, tracker, lambda chunk: None)
    assert frame.slot is None
    assert frame.marks == ()


@pytest.mark.slow
def test_video_of_layers_has_their_colors(objects, tmp_path):
    pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    config = VideoConfig(panes=("raw", "layers"), fps=50, speed=1.0, window_us=20_000, titles=False)
    video = render(objects, tmp_path / "layers.gif", config=config)
    assert video.size == (404, 150)
    with pillow.open(tmp_path / "layers.gif") as image:
        image.seek(image.n_frames - 2)
        picture = np.array(image.convert("RGB"))[:, 204:]
    palette = layer_palette("#ffffff")
    shown = [(picture == rgb(color)).all(axis=2).sum() for color in palette.colors]
    assert sum(count > 100 for count in shown) >= 2
    assert (picture == rgb(palette.noise)).all(axis=2).any()
