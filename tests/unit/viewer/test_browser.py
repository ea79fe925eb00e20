"""The page in a real browser: what is drawn, what happens, and what is asked of whom."""

from urllib.parse import urlsplit

import numpy as np
import pytest

import evcrisp
from evcrisp.viewer import ExportOptions, ViewOptions, export, serving

WINDOW_US = 20_000
SIZE = (128, 96)

#: Colors of the dark page.
GROUND, ON, OFF = (0x0B, 0x0E, 0x13), (0xFF, 0x5A, 0x52), (0x4A, 0xA3, 0xFF)
SIGNAL, NOISE = (0x3D, 0xDC, 0x84), (0xE6, 0x45, 0xC0)


def is_color(image, color):
    return (np.abs(image.astype(int) - color) <= 2).all(axis=-1)


def window_of(events, start, length=WINDOW_US):
    t_start = int(events.t[0]) + start
    return evcrisp.Window(events.between(t_start, t_start + length), t_start, t_start + length)


def latest(events, values):
    """Return the value of the last event of each pixel, -1 where there is none."""
    image = np.full(events.image_shape, -1)
    image[events.y, events.x] = values  # of several assignments to a pixel the last one stays
    return image


@pytest.fixture(params=["webgl", "processor"])
def draw(request):
    """Return who draws; without a graphics card the page takes the processor."""
    return request.param


def test_raw_events_are_drawn_where_they_are_and_in_their_colors(screen, url, scene, draw):
    screen.open(f"{url}#t=40000&draw={draw}")
    events = window_of(scene.events, 40_000).events
    seen = screen.sensor("raw", SIZE)
    expected = latest(events, events.p.astype(int))
    for value, color in ((-1, GROUND), (0, OFF), (1, ON)):
        assert (is_color(seen, color) == (expected == value)).mean() > 0.999


def test_a_moving_edge_is_smeared_raw_and_stands_where_it_should_aligned(
    screen, tmp_path, connect, draw
):
    # Columns of dots at 30, 60 and 90 px that move right by 300 px/s.
    rng = np.random.default_rng(0)
    t = np.sort(rng.integers(0, 40_000, 12_000))
    x0, y = rng.choice([30, 60, 90], t.size), rng.integers(5, 24, t.size) * 4 - 5
    x = np.rint(x0 + 300e-6 * t).astype(int)
    path = tmp_path / "edges.npz"
    evcrisp.write(path, evcrisp.Events(x=x, y=y, t=t, p=np.ones(t.size, bool), resolution=SIZE))
    with serving(ViewOptions(path=path)) as url:
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


def test_noise_vanishes_when_only_signal_is_shown(screen, url, scene, draw):
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


def test_the_contrast_map_is_brightest_where_most_events_are(screen, url, scene):
    screen.open(f"{url}#t=40000&map=before")
    events = window_of(scene.events, 40_000).events
    counts = np.zeros(events.image_shape)
    np.add.at(counts, (events.y, events.x), 1)
    brightness = screen.sensor("contrast", SIZE).sum(axis=-1)
    # The scale stands in the lower right corner.
    shown = np.s_[:70]
    assert np.corrcoef(counts[shown].ravel(), brightness[shown].ravel())[0, 1] > 0.75
    assert "variance" in screen.info("contrast")


def test_scrubbing_shows_other_events(screen, url, scene):
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


def test_playing_goes_on_and_pausing_stops(screen, url):
    screen.open(f"{url}#speed=0.3")
    screen.page.keyboard.press(" ")
    screen.page.wait_for_timeout(500)
    screen.page.keyboard.press(" ")
    stopped = screen.settled().state("t")
    assert stopped > 0
    screen.page.wait_for_timeout(100)
    assert screen.state("t") == stopped


def test_windows_cut_while_playing_look_like_those_that_are_asked_for(screen, url, draw):
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
        # Times count from elsewhere: rounding may move or shade single events.
        assert (screen.pixels(name) != image).any(axis=2).mean() < 1e-4, name


def test_another_method_gives_other_labels(screen, url):
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


def test_a_filter_gets_a_pane_to_compare(screen, url, scene):
    screen.open(f"{url}#t=40000")
    assert not screen.page.is_visible("[data-pane=compare]")
    screen.page.select_option("#filter", "baf")
    screen.settled()
    events = scene.events
    inside = (events.t >= events.t[0] + 40_000) & (events.t < events.t[0] + 40_000 + WINDOW_US)
    n_kept = int(evcrisp.denoise(events, "baf").signal[inside].sum())
    assert f"keeps {n_kept:,} of {inside.sum():,}" in screen.info("compare")
    assert is_color(screen.pixels("compare"), NOISE).any()


def test_a_click_on_the_front_changes_labels_and_maps(screen, url):
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


def test_the_cloud_turns_with_the_mouse(screen, url):
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
    """Return which pixels are set, or have one that is so near."""
    grown = np.zeros_like(mask)
    for dy, dx in np.ndindex(2 * reach + 1, 2 * reach + 1):
        grown |= np.roll(mask, (dy - reach, dx - reach), axis=(0, 1))
    return grown


@pytest.mark.parametrize(("kind", "reach"), [("screen", 0), ("fine_screen", 2)])
def test_graphics_card_and_processor_draw_the_same_cloud(request, url, kind, reach):
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
def test_graphics_card_and_processor_draw_the_same_images(screen, url, accumulation):
    seen = {"webgl": {}, "processor": {}}
    for name, images in seen.items():
        screen.page.goto("about:blank")
        screen.open(f"{url}#t=40000&accumulation={accumulation}&draw={name}")
        for pane in ("raw", "denoised"):
            images[pane] = screen.sensor(pane, SIZE).astype(int)
    for pane, image in seen["webgl"].items():
        assert (np.abs(image - seen["processor"][pane]).max(axis=-1) <= 8).mean() > 0.98


@pytest.mark.parametrize("size", [(320, 90), (1280, 720)])
def test_every_size_of_sensor_is_drawn_to_its_edges(screen, tmp_path, size, draw):
    # Events along the edges of the sensor, which has more or fewer pixels than the pane.
    width, height = size
    x = np.r_[np.arange(width), np.arange(width), np.zeros(height), np.full(height, width - 1)]
    y = np.r_[np.zeros(width), np.full(width, height - 1), np.arange(height), np.arange(height)]
    x, y, t, p = x.astype(int), y.astype(int), np.arange(x.size), np.ones(x.size, bool)
    path = tmp_path / "edges.npz"
    evcrisp.write(path, evcrisp.Events(x=x, y=y, t=t, p=p, resolution=size))
    with serving(ViewOptions(path=path)) as url:
        screen.open(f"{url}#draw={draw}")
        shown = is_color(screen.pixels("raw"), ON)
    scale = min(shown.shape[1] / width, shown.shape[0] / height)
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    for places, side, room in ((columns, width, shown.shape[1]), (rows, height, shown.shape[0])):
        middle, half = room / 2, side * scale / 2
        assert (places[0], places[-1] + 1) == pytest.approx((middle - half, middle + half), abs=2)


def test_the_wheel_zooms_all_images_at_the_pointer(screen, url):
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
def test_a_narrow_page_has_one_column_and_never_scrolls_sideways(screen, url, width):
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
    # Such a page is long: the wheel scrolls it, and zooms with Ctrl or after a click.
    wheel_over_raw(screen, 200)
    assert screen.state("zoom") == 1
    assert screen.page.evaluate("scrollY") > 0
    assert "Ctrl and the wheel" in screen.page.inner_text("#message")


def wheel_over_raw(screen, delta):
    screen.page.locator("[data-pane=raw] canvas").hover()
    screen.page.mouse.wheel(0, delta)
    screen.page.wait_for_timeout(300)
    screen.settled()


def test_ctrl_or_a_click_let_the_wheel_zoom_where_it_would_scroll(screen, url):
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


def test_the_address_brings_the_same_view_back(screen, url):
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
def test_on_and_off_can_be_told_apart_in_light_and_dark(screen, url, colors):
    screen.open(f"{url}#t=40000&colors={colors}")
    for _ in range(2):
        seen = screen.sensor("raw", SIZE).reshape(-1, 3)
        shades, counts = np.unique(seen, axis=0, return_counts=True)
        common = shades[np.argsort(counts)[-3:]].astype(int)
        for k in range(3):
            assert np.abs(common[k] - common[k - 1]).sum() > 150
        screen.page.keyboard.press("t")
        screen.settled()


def test_accumulations_differ_and_fading_weakens_old_events(screen, url, scene, draw):
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


def test_motion_over_time_is_drawn_and_help_opens(screen, url):
    screen.open(url)
    screen.page.click("#track")
    screen.settled()
    assert screen.page.evaluate("evcrisp.timeline.track.n_windows") == 6
    screen.page.keyboard.press("?")
    assert screen.page.is_visible("#help")
    assert "play or pause" in screen.page.inner_text("#keys")
    screen.page.keyboard.press("Escape")
    assert not screen.page.is_visible("#help")


def test_a_long_computation_shows_progress_and_can_be_cancelled(screen, url):
    screen.open(f"{url}#window=50")
    screen.page.click("#track")
    screen.page.wait_for_selector("#progress[value]:visible")
    assert "motion over time" in screen.page.inner_text("#busy-text")
    screen.page.click("#cancel")
    screen.settled()
    assert "Cancelled" in screen.page.inner_text("#message")
    assert screen.page.evaluate("evcrisp.timeline.track") is None
    assert not screen.page.is_visible("#busy")


def test_errors_are_said_in_words(screen, url):
    screen.open(url)
    screen.page.evaluate("evcrisp.state.set({ method: 'magic' })")
    screen.settled()
    assert "Unknown method" in screen.page.inner_text("#message")
    assert screen.page.evaluate("document.querySelector('#message.is-error') !== null")
    screen.errors.clear()  # the browser notes the refused request


def test_a_page_that_is_opened_before_the_recording_is_read_shows_all_of_it(
    screen, scene, tmp_path
):
    path = tmp_path / "slow.csv"
    evcrisp.write(path, scene.events)
    with serving(ViewOptions(path=path, window_us=WINDOW_US, resolution=SIZE)) as url:
        screen.open(f"{url}#t=90000&filter=baf")
        window = window_of(scene.events, 90_000)
        assert screen.info("raw") == f"{len(window.events):,} events"
        n_kept = evcrisp.estimate(window).signal.sum()
        assert f"keeps {n_kept:,} of {len(window.events):,}" in screen.info("denoised")
        assert f"of {len(window.events):,}" in screen.info("compare")


def test_a_recording_without_events_is_shown_as_such(screen, tmp_path):
    path = tmp_path / "none.npz"
    evcrisp.write(path, evcrisp.Events.empty((8, 4)))
    with serving(ViewOptions(path=path)) as url:
        screen.open(url)
        assert "There are no events" in screen.page.inner_text("#message")
        assert "no motion: too few events" in screen.info("aligned")


def test_a_recording_that_cannot_be_read_is_said(screen, tmp_path):
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 and nothing more")
    with serving(ViewOptions(path=path)) as url:
        screen.page.goto(url)
        screen.page.wait_for_selector("body[data-state=failed]")
        assert "broken.npz" in screen.page.inner_text("#message")


def test_no_request_leaves_this_machine(screen, url):
    screen.open(f"{url}#front=true&points=5&filter=baf")
    hosts = {urlsplit(address).netloc for address in screen.requests if "data:" not in address}
    assert hosts == {urlsplit(url).netloc}


def test_the_exported_page_works_alone_and_asks_nobody(screen, scene, tmp_path):
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
    result = evcrisp.estimate(window)
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


def test_an_exported_page_says_which_windows_it_has(screen, scene, tmp_path):
    path = tmp_path / "page.html"
    export(scene.events, path, ExportOptions(window_us=WINDOW_US, n_windows=3, front_points=0))
    screen.open(f"{path.as_uri()}#window=70000&t=51000")
    assert (screen.state("window"), screen.state("t")) == (WINDOW_US, 49_999)
    assert screen.page.input_value("#window") == "20"
    message = screen.page.inner_text("#message")
    assert "no windows of 70 ms, only of 20 ms; the nearest is shown" in message
    # An address that is typed in later is held to the same.
    screen.page.evaluate("location.hash = '#window=5000&t=99'")
    screen.page.wait_for_function("evcrisp.state.get('t') === 0")
    screen.settled()
    assert "no windows of 5 ms" in screen.page.inner_text("#message")
    assert screen.state("window") == WINDOW_US
    assert screen.info("raw") == f"{len(window_of(scene.events, 0).events):,} events"


def test_an_address_that_cannot_be_shows_what_can(screen, url):
    words = "t=7.5&window=-5&method=zzz&motion=q&filter=nope&large=zzz&colors=zz&zoom=-1"
    screen.open(f"{url}#{words}&accumulation=x&theme=zz&points=1e9&distance=0&show=signal")
    shown = [screen.state(name) for name in ("method", "motion", "filter", "colors", "theme")]
    assert shown == ["auto", "translation", "", "red-blue", ""]
    assert [screen.state(name) for name in ("t", "window", "zoom", "points")] == [8, 10, 1, 41]
    assert screen.state("show") == "signal"
    assert "events in" in screen.page.inner_text("#message")
