"""The page in a real browser: drawings, interaction and requests."""

from urllib.parse import urlsplit

import numpy as np
import pytest

import evcrisp
from evcrisp.viewer import ExportOptions, ViewOptions, export, serve

WINDOW_US = 20_000
SIZE = (128, 96)

#: Colors of the dark page.
GROUND, ON, OFF = (0x0B, 0x0E, 0x13), (0xFF, 0x5A, 0x52), (0x4A, 0xA3, 0xFF)
SIGNAL, NOISE = (0x3D, 0xDC, 0x84), (0xE6, 0x45, 0xC0)


def is_color(image, color):
    return (np.abs(image.astype(int) - color) <= 2).all(axis=-1)


def window_of(events, start):
    t_start = int(events.t[0]) + start
    t_end = t_start + WINDOW_US
    return evcrisp.Window(events.between(t_start, t_end), t_start, t_end)


def latest(events, values):
    """Return the value of the last event of each pixel; -1 without events."""
    image = np.full(events.shape, -1)
    image[events.y, events.x] = values  # the last assignment to a pixel wins
    return image


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
    counts = np.zeros(events.shape)
    np.add.at(counts, (events.y, events.x), 1)
    brightness = screen.sensor("contrast", SIZE).sum(axis=-1)
    # The color bar covers the lower right corner.
    shown = np.s_[:70]
    assert np.corrcoef(counts[shown].ravel(), brightness[shown].ravel())[0, 1] > 0.75
    assert "variance" in screen.info("contrast")


def test_scrubber_changes_the_window(screen, url, scene):
    screen.open(url)
    before = screen.pixels("raw")
    screen.page.evaluate(
        """() => {
          const scrubber = document.getElementById("scrubber");
          scrubber.value = 70000;
          scrubber.dispatchEvent(new Event("input"));
        }"""
    )
    screen.settled()
    events = window_of(scene.events, 70_000).events
    assert screen.info("raw") == f"{len(events):,} events"
    assert (screen.pixels("raw") != before).any()
    screen.page.keyboard.press("ArrowRight")
    screen.settled()
    assert screen.state("t") == 90_000
    screen.page.click("#timeline", position={"x": 600, "y": 30})
    screen.settled()
    assert 40_000 < screen.state("t") < 60_000


def test_play_advances_and_pause_stops(screen, url):
    screen.open(f"{url}#speed=0.3")
    screen.page.keyboard.press(" ")
    screen.page.wait_for_timeout(500)
    screen.page.keyboard.press(" ")
    stopped = screen.settled().state("t")
    assert stopped > 0
    screen.page.wait_for_timeout(100)
    assert screen.state("t") == stopped


def test_prefetched_windows_look_like_requested_windows(screen, url, draw):
    look = f"speed=0.01&accumulation=fade&cloud=raw&draw={draw}"
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


def test_method_menu_changes_labels_and_motion(screen, url):
    screen.open(f"{url}#t=40000")
    auto = screen.info("denoised")
    screen.page.select_option("#method", "cmax")
    screen.settled()
    assert "100.0 %" in screen.info("denoised")
    assert screen.info("denoised") != auto
    assert "px/s" in screen.info("aligned")
    screen.page.select_option("#motion", "rotation")
    screen.settled()
    assert "rad/s" in screen.info("aligned")


def test_filter_menu_opens_the_compare_pane(screen, url, scene):
    screen.open(f"{url}#t=40000")
    assert not screen.page.is_visible("[data-pane=compare]")
    screen.page.select_option("#filter", "baf")
    screen.settled()
    events = scene.events
    inside = (events.t >= events.t[0] + 40_000) & (events.t < events.t[0] + 40_000 + WINDOW_US)
    n_kept = int(evcrisp.denoise(events, "baf").signal[inside].sum())
    assert f"keeps {n_kept:,} of {inside.sum():,}" in screen.info("compare")
    assert is_color(screen.pixels("compare"), NOISE).any()


def test_click_on_the_front_changes_labels_and_maps(screen, url):
    screen.open(f"{url}#t=40000&points=5")
    screen.page.click("#front")
    screen.settled()
    before = screen.info("denoised"), screen.pixels("confidence"), screen.pixels("denoised")
    places = screen.page.evaluate("evcrisp.front.places()")
    screen.page.click("[data-pane=front] canvas", position=dict(zip("xy", places[-1], strict=True)))
    screen.settled()
    assert screen.state("point") == len(places) - 1
    expected = screen.page.evaluate("evcrisp.front.data.n_signal.at(-1)")
    assert f"keeps {expected:,} of" in screen.info("denoised")
    assert screen.info("denoised") != before[0]
    assert (screen.pixels("confidence") != before[1]).any()
    assert (screen.pixels("denoised") != before[2]).any()
    screen.page.keyboard.press("Escape")
    screen.settled()
    assert screen.info("denoised") == before[0]


def test_drag_rotates_the_cloud(screen, url):
    screen.open(url)
    before = screen.pixels("cloud")
    box = screen.page.locator("[data-pane=cloud] canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    screen.page.mouse.move(x, y)
    screen.page.mouse.down()
    screen.page.mouse.move(x + 80, y + 20, steps=3)
    screen.page.mouse.up()
    screen.settled()
    assert screen.state("yaw") == pytest.approx(0.65 + 80 / 150)
    assert (screen.pixels("cloud") != before).mean() > 0.02


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
        shown = is_color(screen.pixels("raw"), ON)
    scale = min(shown.shape[1] / width, shown.shape[0] / height)
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    for places, side, size_px in ((columns, width, shown.shape[1]), (rows, height, shown.shape[0])):
        middle, half = size_px / 2, side * scale / 2
        assert (places[0], places[-1] + 1) == pytest.approx((middle - half, middle + half), abs=2)


def test_wheel_zooms_all_images_at_the_pointer(screen, url):
    screen.open(url)
    before = {name: screen.pixels(name) for name in ("raw", "aligned", "contrast")}
    screen.page.hover("[data-pane=raw] canvas")
    screen.page.mouse.wheel(0, -500)
    screen.settled()
    assert screen.state("zoom") > 2
    for name, image in before.items():
        assert (screen.pixels(name) != image).any()
    screen.page.keyboard.press("0")
    screen.settled()
    np.testing.assert_array_equal(screen.pixels("raw"), before["raw"])


@pytest.mark.parametrize("width", [320, 480, 690])
def test_narrow_page_has_one_column_and_no_horizontal_scrolling(screen, url, width):
    screen.page.set_viewport_size({"width": width, "height": 640})
    screen.open(f"{url}#filter=baf")
    inside, lefts = screen.page.evaluate(
        """() => [
          document.documentElement.scrollWidth <= innerWidth,
          [...document.querySelectorAll(".pane")].map((pane) => pane.getBoundingClientRect().left),
        ]"""
    )
    assert inside
    assert len(set(lefts)) == 1
    assert is_color(screen.pixels("raw"), ON).any()
    # On a long page the wheel scrolls; it zooms with Ctrl or after a click.
    wheel_over_raw(screen, 200)
    assert screen.state("zoom") == 1
    assert screen.page.evaluate("scrollY") > 0
    assert "Hold Ctrl to zoom" in screen.page.inner_text("#message")


def wheel_over_raw(screen, delta):
    screen.page.locator("[data-pane=raw] canvas").hover()
    screen.page.mouse.wheel(0, delta)
    screen.page.wait_for_timeout(300)
    screen.settled()


def test_ctrl_or_a_click_makes_the_wheel_zoom_on_a_long_page(screen, url):
    screen.page.set_viewport_size({"width": 480, "height": 640})
    screen.open(url)
    screen.page.keyboard.down("Control")
    wheel_over_raw(screen, -200)
    screen.page.keyboard.up("Control")
    zoomed = screen.state("zoom")
    assert zoomed > 1
    screen.page.locator("[data-pane=raw] canvas").click()
    wheel_over_raw(screen, -200)
    assert screen.state("zoom") > zoomed
    screen.page.locator("h2").first.hover()  # leaves the pane
    zoomed = screen.state("zoom")
    wheel_over_raw(screen, 100)
    assert screen.state("zoom") == zoomed


def test_address_restores_the_view(screen, url):
    screen.open(url)
    screen.page.keyboard.press("ArrowRight")
    for key in "scav]t":
        screen.page.keyboard.press(key)
    screen.settled()
    screen.page.wait_for_timeout(200)
    address = screen.page.url
    images = {name: screen.pixels(name) for name in ("raw", "denoised", "contrast", "cloud")}
    assert "show=signal" in address
    screen.page.goto("about:blank")
    screen.open(address)
    for name, image in images.items():
        np.testing.assert_array_equal(screen.pixels(name), image)


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
    counts = np.zeros(events.shape)
    np.add.at(counts, (events.y, events.x), 1)
    seen = np.abs(screen.sensor("raw", SIZE).astype(int) - GROUND).sum(axis=-1)
    assert seen[counts == 1].mean() < 0.7 * seen[counts >= 3].mean()


def test_motion_over_time_is_computed_and_help_opens(screen, url):
    screen.open(url)
    screen.page.click("#track")
    screen.settled()
    assert screen.page.evaluate("evcrisp.timeline.track.n_windows") == 6
    screen.page.keyboard.press("?")
    assert screen.page.is_visible("#help")
    assert "play or pause" in screen.page.inner_text("#keys")
    screen.page.keyboard.press("Escape")
    assert not screen.page.is_visible("#help")


def test_long_computation_shows_progress_and_can_be_cancelled(screen, url):
    screen.open(f"{url}#window=50")
    screen.page.click("#track")
    screen.page.wait_for_selector("#progress[value]:visible")
    assert "motion over time" in screen.page.inner_text("#busy-text")
    screen.page.click("#cancel")
    screen.settled()
    assert "Cancelled" in screen.page.inner_text("#message")
    assert screen.page.evaluate("evcrisp.timeline.track") is None
    assert not screen.page.is_visible("#busy")


def test_errors_are_shown_as_messages(screen, url):
    screen.open(url)
    screen.page.evaluate("evcrisp.state.set({ method: 'magic' })")
    screen.settled()
    assert "Unknown method" in screen.page.inner_text("#message")
    assert screen.page.evaluate("document.querySelector('#message.is-error') !== null")
    screen.errors.clear()  # the browser logs the refused request


def test_page_opened_while_reading_shows_complete_results(screen, scene, tracked_window, tmp_path):
    path = tmp_path / "slow.csv"
    evcrisp.write(path, scene.events)
    with serve(ViewOptions(path=path, window_us=WINDOW_US, resolution=SIZE)) as url:
        screen.open(f"{url}#t=90000&filter=baf")
        window = window_of(scene.events, 90_000)
        assert screen.info("raw") == f"{len(window.events):,} events"
        n_kept = tracked_window(scene.events, 90_000, WINDOW_US).signal.sum()
        assert f"keeps {n_kept:,} of {len(window.events):,}" in screen.info("denoised")
        assert f"of {len(window.events):,}" in screen.info("compare")


def test_recording_without_events_shows_a_message(screen, tmp_path):
    path = tmp_path / "none.npz"
    evcrisp.write(path, evcrisp.Events.empty((8, 4)))
    with serve(ViewOptions(path=path)) as url:
        screen.open(url)
        assert "has no events" in screen.page.inner_text("#message")
        assert "no motion: too few events" in screen.info("aligned")


def test_unreadable_recording_shows_an_error(screen, tmp_path):
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 and nothing more")
    with serve(ViewOptions(path=path)) as url:
        screen.page.goto(url)
        screen.page.wait_for_selector("body[data-state=failed]")
        assert "broken.npz" in screen.page.inner_text("#message")


def test_page_sends_requests_to_its_server_only(screen, url):
    screen.open(f"{url}#front=true&points=5&filter=baf")
    hosts = {urlsplit(address).netloc for address in screen.requests if "data:" not in address}
    assert hosts == {urlsplit(url).netloc}


def test_exported_page_works_without_requests(screen, scene, tracked_window, tmp_path):
    path = tmp_path / "page.html"
    options = ExportOptions(
        window_us=WINDOW_US, n_windows=3, methods=("auto", "cmax"), filters=("baf",), front_points=4
    )
    size = export(scene.events, path, options, name="</script><b>")
    assert size == path.stat().st_size
    screen.open(path.as_uri())
    assert "<b>" in screen.page.inner_text("#name")
    events = window_of(scene.events, 0).events
    expected = latest(events, events.p.astype(int))
    assert (is_color(screen.sensor("raw", SIZE), ON) == (expected == 1)).mean() > 0.999

    screen.page.keyboard.press("ArrowRight")
    screen.settled()
    window = window_of(scene.events, screen.state("t"))
    result = tracked_window(scene.events, screen.state("t"), WINDOW_US)
    assert screen.state("t") == 49_999
    assert f"keeps {result.signal.sum():,} of {len(window.events):,}" in screen.info("denoised")
    screen.page.select_option("#method", "cmax")
    screen.settled()
    assert "100.0 %" in screen.info("denoised")
    places = screen.page.evaluate("evcrisp.front.places()")
    screen.page.click("[data-pane=front] canvas", position=dict(zip("xy", places[-1], strict=True)))
    screen.settled()
    expected = screen.page.evaluate("evcrisp.front.data.n_signal.at(-1)")
    assert f"keeps {expected:,} of" in screen.info("denoised")
    assert [address for address in screen.requests if not address.startswith("data:")] == [
        path.as_uri()
    ]


def test_exported_page_names_its_window_durations(screen, scene, tmp_path):
    path = tmp_path / "page.html"
    export(scene.events, path, ExportOptions(window_us=WINDOW_US, n_windows=3, front_points=0))
    screen.open(f"{path.as_uri()}#window=70000&t=51000")
    assert (screen.state("window"), screen.state("t")) == (WINDOW_US, 49_999)
    assert screen.page.input_value("#window") == "20"
    message = screen.page.inner_text("#message")
    assert "no windows of 70 ms, only of 20 ms; the nearest one is shown" in message
    # The same holds for an address that is entered later.
    screen.page.evaluate("location.hash = '#window=5000&t=99'")
    screen.page.wait_for_function("evcrisp.state.get('t') === 0")
    screen.settled()
    assert "no windows of 5 ms" in screen.page.inner_text("#message")
    assert screen.state("window") == WINDOW_US
    assert screen.info("raw") == f"{len(window_of(scene.events, 0).events):,} events"


def test_invalid_values_in_the_address_are_replaced(screen, url):
    values = "t=7.5&window=-5&method=zzz&motion=q&filter=nope&large=zzz&colors=zz&zoom=-1"
    screen.open(f"{url}#{values}&accumulation=x&theme=zz&points=1e9&distance=0&show=signal")
    shown = [screen.state(name) for name in ("method", "motion", "filter", "colors", "theme")]
    assert shown == ["auto", "translation", "", "red-blue", ""]
    assert [screen.state(name) for name in ("t", "window", "zoom", "points")] == [8, 10, 1, 41]
    assert screen.state("show") == "signal"
    assert "events in" in screen.page.inner_text("#message")
