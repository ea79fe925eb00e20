"""Events of a frame, and their colors."""

import threading
import time

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.core.palettes import PALETTES, rgb
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.motion import motion_model
from evcrisp.pipeline.tracking import Tracker
from evcrisp.video import PANES, VideoConfig
from evcrisp.video.config import FrameContent
from evcrisp.video.frames import frame_contents
from evcrisp.video.rasterize import LETTERS, Painter, color_table
from evcrisp.video.rendering import MAX_WAITING, BackgroundSink

BAR_PX = 14


def stream_of(events, config, on_events):
    model = motion_model("translation", events.resolution)
    tracker = Tracker(AutoRegret(), model, events.resolution)
    return frame_contents((events,), config, tracker, on_events)


def frames_of(events, **settings):
    config = VideoConfig(**{"panes": ("raw",), **settings})
    return list(stream_of(events, config, lambda chunk: None))


@pytest.mark.parametrize("panes", [("raw",), ("raw", "denoised")])
@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0])
def test_frames_start_a_step_apart_at_every_speed(speed, panes, moving_edge):
    events = moving_edge(resolution=(96, 48), duration_us=300_000)
    frames = frames_of(events, speed=speed, panes=panes, fps=50, window_us=20_000)
    step = round(speed * 20_000)
    assert [frame.t_start for frame in frames] == [5_000_000 + k * step for k in range(len(frames))]
    for frame in frames:
        expected = events.between(frame.t_start, frame.t_start + 20_000)
        assert frame.events.equals(expected)
        assert frame.signal.shape == frame.aligned_x.shape == (len(expected),)
    # The last frame contains the last event.
    last = int(events.t[-1])
    assert frames[-1].t_start <= last < frames[-1].t_start + max(step, 20_000)


def test_slow_motion_aligns_to_the_middle_of_each_frame():
    scene = evcrisp.simulate(
        resolution=(120, 90), theta=(300.0, 0.0), duration_us=90_000, noise_hz=0.0, seed=5
    )
    frames = frames_of(scene.events, speed=0.2, fps=50, window_us=30_000, panes=("aligned",))
    assert len(frames) == 16
    for frame in frames:
        middle = frame.t_start + 15_000
        shift = 300.0 * (frame.events.t - middle) / 1e6
        assert np.abs(frame.aligned_x - (frame.events.x - shift)).max() < 0.5


def test_events_between_frames_are_not_estimated(moving_edge):
    events = moving_edge(resolution=(96, 48), duration_us=300_000)
    seen = []
    config = VideoConfig(panes=("denoised",), fps=50, speed=5.0, window_us=20_000)
    frames = list(stream_of(events, config, seen.append))
    assert len(frames) == 3
    assert sum(map(len, seen)) == sum(len(frame.events) for frame in frames) < 0.25 * len(events)


def test_on_events_gets_every_event_once_in_slow_motion(moving_edge):
    events = moving_edge()
    seen = []
    config = VideoConfig(panes=("denoised",), fps=50, speed=0.3, window_us=20_000)
    for _ in stream_of(events, config, seen.append):
        pass
    assert sum(map(len, seen)) == len(events)


def content(events, signal):
    x, y = events.x.astype(float), events.y.astype(float)
    return FrameContent(
        events=events, signal=np.array(signal), aligned_x=x, aligned_y=y, t_start=0, t_end=9
    )


@pytest.mark.parametrize("colors", PALETTES)
def test_labels_have_the_colors_of_signal_and_noise(colors):
    palette = PALETTES[colors]
    events = Events(x=[1, 2], y=[0, 1], t=[0, 1], p=[1, 1], resolution=(4, 4))
    config = VideoConfig(panes=("labels",), colors=colors, exposure=50.0, titles=False)
    painter = Painter(config, (4, 4))
    picture = painter.table[painter.paint(content(events, [True, False]))]
    assert tuple(picture[0, 1]) == rgb(palette.signal)
    assert tuple(picture[1, 2]) == rgb(palette.noise)
    assert tuple(picture[3, 3]) == rgb(palette.ground)


def test_more_events_give_stronger_colors_and_one_is_visible():
    table = color_table(PALETTES["red-blue"]).astype(int)
    events = Events(x=[0, 1, 1, 2, 2, 2], y=[0] * 6, t=[0] * 6, p=[1] * 6, resolution=(4, 2))
    for exposure, different in ((0.4, True), (1e-6, False)):
        config = VideoConfig(panes=("raw",), exposure=exposure, titles=False)
        picture = table[Painter(config, (4, 2)).paint(content(events, [True] * 6))]
        green = picture[0, :, 1].tolist()
        assert green[0] < 255
        assert green[3] == 255
        if different:
            assert green[0] > green[1] > green[2]


def test_font_has_all_letters_of_the_titles():
    for pane in PANES.values():
        assert set(pane.title) <= set(LETTERS)


def test_title_line_shows_the_time(moving_edge):
    events = moving_edge()
    painter = Painter(VideoConfig(panes=("raw",)), events.resolution)
    frames = frames_of(events)
    first, later = (painter.paint(frames[k]).copy() for k in (0, 3))
    assert not np.array_equal(first[:BAR_PX], later[:BAR_PX])
    assert np.array_equal(first[:BAR_PX, :20], later[:BAR_PX, :20])


class Stuck:
    """A sink that blocks until `go` is set."""

    def __init__(self):
        self.go = threading.Event()
        self.n = 0

    def write(self, picture):
        self.go.wait()
        self.n += 1

    def close(self):
        pass


def test_background_queue_is_bounded(moving_edge):
    events = moving_edge()
    frame = frames_of(events)[0]
    stuck = Stuck()
    sink = BackgroundSink(Painter(VideoConfig(panes=("raw",)), events.resolution), stuck)
    taken = []

    def produce():
        for k in range(20):
            sink.write(frame)
            taken.append(k)
        sink.close()

    producer = threading.Thread(target=produce)
    producer.start()
    deadline = time.monotonic() + 60
    while len(taken) < MAX_WAITING and time.monotonic() < deadline:
        time.sleep(0.01)
    producer.join(0.1)  # time in which one too many would be taken
    assert len(taken) == MAX_WAITING
    stuck.go.set()
    producer.join(60)
    assert stuck.n == len(taken) == 20
