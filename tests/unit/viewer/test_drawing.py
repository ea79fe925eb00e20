"""Drawings of the panes in a real browser."""

import numpy as np
import pytest
from tests.unit.viewer.drawing import (
    GROUND,
    NOISE,
    OFF,
    ON,
    SIGNAL,
    SIZE,
    is_color,
    latest,
    window_of,
)

import evcrisp
from evcrisp.viewer import ViewOptions, serve

pytestmark = pytest.mark.slow


@pytest.fixture(params=["webgl", "processor"])
def draw(request):
    """Return the name of a renderer."""
    return request.param


def test_raw_events_are_drawn_at_their_pixels_in_their_colors(screen, url, scene, draw):
    screen.open(f"{url}#t=40000&draw={draw}")
    events = window_of(scene.events, 40_000).events
    seen = screen.sensor("raw", SIZE)
    expected = latest(events, events.p.astype(int))
    for value, color in ((-1, GROUND), (0, OFF), (1, ON)):
        assert (is_color(seen, color) == (expected == value)).mean() > 0.999


def test_moving_edge_is_blurred_before_and_sharp_after_alignment(screen, tmp_path, connect, draw):
    # Columns of dots at 30, 60 and 90 px that move right by 300 px/s.
    rng = np.random.default_rng(0)
    t = np.sort(rng.integers(0, 40_000, 12_000))
    x0, y = rng.choice([30, 60, 90], t.size), rng.integers(5, 24, t.size) * 4 - 5
    x = np.rint(x0 + 300e-6 * t).astype(int)
    path = tmp_path / "edges.npz"
    evcrisp.write(path, evcrisp.Events(x=x, y=y, t=t, p=np.ones(t.size, bool), resolution=SIZE))
    with serve(ViewOptions(path=path)) as url:
        connect(url)
        screen.open(f"{url}#window=30000&t=5000&method=cmax&draw={draw}")
        raw, aligned = (~is_color(screen.sensor(name, SIZE), GROUND) for name in ("raw", "aligned"))
    # The window lasts from 5 to 35 ms, and its middle is at 20 ms: edges at x0 + 6 px.
    t_first = int(t[0])
    for column in (30, 60, 90):
        middle = column + 300e-6 * (t_first + 20_000)
        columns = np.flatnonzero(raw[:, column : column + 14].any(axis=0)) + column
        assert (columns[0], columns[-1]) == pytest.approx((middle - 4.5, middle + 4.5), abs=1.0)
        columns = np.flatnonzero(aligned[:, column : column + 14].any(axis=0)) + column
        assert (columns[0], columns[-1]) == pytest.approx((middle, middle), abs=1.6)


def test_show_signal_only_hides_noise(screen, url, scene, draw):
    screen.open(f"{url}#t=40000&draw={draw}")
    window = window_of(scene.events, 40_000)
    signal = evcrisp.estimate(window).signal
    expected = latest(window.events, signal.astype(int))
    seen = screen.sensor("denoised", SIZE)
    assert (is_color(seen, SIGNAL) == (expected == 1)).mean() > 0.999
    assert (is_color(seen, NOISE) == (expected == 0)).mean() > 0.999
    assert is_color(screen.pixels("cloud"), NOISE).any()

    screen.page.select_option("#show", "signal")
    screen.settled()
    kept = latest(window.events[signal], np.ones(signal.sum()))
    assert (is_color(screen.sensor("denoised", SIZE), SIGNAL) == (kept == 1)).mean() > 0.999
    for name in ("denoised", "cloud"):
        assert not is_color(screen.pixels(name), NOISE).any()
        assert is_color(screen.pixels(name), SIGNAL).any()


def test_contrast_map_brightness_follows_event_counts(screen, url, scene):
    screen.open(f"{url}#t=40000&map=before")
    events = window_of(scene.events, 40_000).events
    counts = np.zeros(events.image_shape)
    np.add.at(counts, (events.y, events.x), 1)
    brightness = screen.sensor("contrast", SIZE).sum(axis=-1)
    assert np.corrcoef(counts.ravel(), brightness.ravel())[0, 1] > 0.75
    assert "variance" in screen.info("contrast")


def test_prefetched_windows_look_like_requested_windows(screen, url, draw):
    # The view that the page chooses depends on the window that it shows first.
    look = f"speed=0.01&accumulation=fade&cloud=raw&yaw=0.7&pitch=0.5&draw={draw}"
    screen.open(f"{url}#t=20000&{look}")
    screen.requests.clear()
    screen.page.evaluate(
        """async () => {
          const seen = new Set();
          evcrisp.play(true);
          while (seen.size < 12) {
            await new Promise((resolve) => requestAnimationFrame(resolve));
            seen.add(evcrisp.shown.events.start_us);
          }
          evcrisp.play(false);
        }"""
    )
    t = screen.settled().state("t")
    assert screen.page.evaluate("evcrisp.shown.events.dt_first") > 0
    assert sum("api/events" in address for address in screen.requests) < 6
    images = {name: screen.pixels(name) for name in ("raw", "aligned", "denoised", "cloud")}
    screen.page.goto("about:blank")
    screen.open(f"{url}#t={t}&{look}")
    assert screen.page.evaluate("evcrisp.shown.events.dt_first") is None
    for name, image in images.items():
        # Times have another origin: rounding can move or shade single events.
        assert (screen.pixels(name) != image).any(axis=2).mean() < 1e-4, name


def around(mask, reach):
    """Return the mask grown by ``reach`` pixels."""
    grown = np.zeros_like(mask)
    for dy, dx in np.ndindex(2 * reach + 1, 2 * reach + 1):
        grown |= np.roll(mask, (dy - reach, dx - reach), axis=(0, 1))
    return grown


@pytest.mark.parametrize(("kind", "reach"), [("screen", 0), ("fine_screen", 2)])
def test_both_renderers_draw_the_same_cloud(request, url, kind, reach):
    screen = request.getfixturevalue(kind)
    images = []
    for name in ("webgl", "processor"):
        screen.page.goto("about:blank")
        screen.open(f"{url}#t=40000&show=signal&draw={name}")
        images.append(is_color(screen.pixels("cloud"), SIGNAL))
    one, other = images
    same = (one & around(other, reach)) | (other & around(one, reach))
    assert same.sum() / (one | other).sum() > 0.8


@pytest.mark.parametrize("accumulation", ["latest", "density", "fade"])
def test_both_renderers_draw_the_same_images(screen, url, accumulation):
    seen = {"webgl": {}, "processor": {}}
    for name, images in seen.items():
        screen.page.goto("about:blank")
        screen.open(f"{url}#t=40000&accumulation={accumulation}&draw={name}")
        for pane in ("raw", "denoised"):
            images[pane] = screen.sensor(pane, SIZE).astype(int)
    for pane, image in seen["webgl"].items():
        assert (np.abs(image - seen["processor"][pane]).max(axis=-1) <= 8).mean() > 0.98


@pytest.mark.parametrize("size", [(320, 90), (1280, 720)])
def test_sensors_of_any_size_are_drawn_to_their_borders(screen, tmp_path, size, draw):
    # Events along the edges of the sensor, which has more or fewer pixels than the pane.
    width, height = size
    x = np.r_[np.arange(width), np.arange(width), np.zeros(height), np.full(height, width - 1)]
    y = np.r_[np.zeros(width), np.full(width, height - 1), np.arange(height), np.arange(height)]
    x, y, t, p = x.astype(int), y.astype(int), np.arange(x.size), np.ones(x.size, bool)
    path = tmp_path / "edges.npz"
    evcrisp.write(path, evcrisp.Events(x=x, y=y, t=t, p=p, resolution=size))
    with serve(ViewOptions(path=path)) as url:
        screen.open(f"{url}#draw={draw}")
        image = screen.pixels("raw").astype(int)
    # Pictures that are scaled down blend the colors of their events with the ground.
    shown = image[..., 0] - image[..., 2] > 20
    scale = min(shown.shape[1] / width, shown.shape[0] / height)
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    for places, side, size_px in ((columns, width, shown.shape[1]), (rows, height, shown.shape[0])):
        middle, half = size_px / 2, side * scale / 2
        assert (places[0], places[-1] + 1) == pytest.approx((middle - half, middle + half), abs=2)


@pytest.mark.parametrize("colors", ["red-blue", "white-black", "safe"])
def test_on_and_off_colors_differ_in_light_and_dark(screen, url, colors):
    screen.open(f"{url}#t=40000&colors={colors}")
    for _ in range(2):
        seen = screen.sensor("raw", SIZE).reshape(-1, 3)
        shades, counts = np.unique(seen, axis=0, return_counts=True)
        common = shades[np.argsort(counts)[-3:]].astype(int)
        for k in range(3):
            assert np.abs(common[k] - common[k - 1]).sum() > 150
        screen.page.keyboard.press("t")
        screen.settled()


def test_fade_weakens_old_events_and_density_adds_up(screen, url, scene, draw):
    screen.open(f"{url}#t=40000&accumulation=fade&draw={draw}")
    events = window_of(scene.events, 40_000).events
    seen = np.abs(screen.sensor("raw", SIZE).astype(int) - GROUND).sum(axis=-1)
    age = latest(events, (events.t - events.t[0]) // 2_000)
    strengths = [seen[age == k].mean() for k in (1, 5, 9)]
    assert strengths[0] < 0.6 * strengths[1] < 0.6 * strengths[2]
    screen.page.select_option("#accumulation", "density")
    screen.settled()
    counts = np.zeros(events.image_shape)
    np.add.at(counts, (events.y, events.x), 1)
    seen = np.abs(screen.sensor("raw", SIZE).astype(int) - GROUND).sum(axis=-1)
    assert seen[counts == 1].mean() < 0.7 * seen[counts >= 3].mean()
