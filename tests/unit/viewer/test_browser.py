"""Interaction with the page in a real browser, its messages and requests."""

from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.unit.viewer.conftest import Client, wait_until_read
from tests.unit.viewer.drawing import (
    NOISE,
    ON,
    SIZE,
    WINDOW_US,
    is_color,
    latest,
    window_of,
)

import evcrisp
from evcrisp.viewer import ExportOptions, ViewOptions, export, serve

pytestmark = pytest.mark.slow


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
    assert screen.info("raw") == f"{len(events):,} events in 20 ms"
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
    before, yaw = screen.pixels("cloud"), screen.state("yaw")
    box = screen.page.locator("[data-pane=cloud] canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    screen.page.mouse.move(x, y)
    screen.page.mouse.down()
    screen.page.mouse.move(x + 80, y + 20, steps=3)
    screen.page.mouse.up()
    screen.settled()
    assert screen.state("yaw") == pytest.approx(yaw + 80 / 150)
    assert (screen.pixels("cloud") != before).mean() > 0.02


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
          [...document.querySelectorAll(".pane:not([hidden])")].map((pane) => pane.getBoundingClientRect().left),
        ]"""
    )
    assert inside
    assert len(set(lefts)) == 1
    assert is_color(screen.pixels("raw"), ON).any()
    # On a long page the wheel scrolls; it zooms with Ctrl or after a click.
    wheel_over_raw(screen, 200)
    assert screen.state("zoom") == 1
    assert screen.page.evaluate("scrollY") > 0
    screen.wait_for_message("Hold Ctrl to zoom")


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
    screen.page.locator(".pane h2").first.hover()  # leaves the pane
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
    screen.wait_for_message("Cancelled")
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
        assert screen.info("raw") == f"{len(window.events):,} events in 20 ms"
        n_kept = tracked_window(scene.events, 90_000, WINDOW_US).signal.sum()
        assert f"keeps {n_kept:,} of {len(window.events):,}" in screen.info("denoised")
        assert f"of {len(window.events):,}" in screen.info("compare")


def test_time_in_the_address_is_kept_while_reading(screen, scene, tmp_path):
    path = tmp_path / "slow.csv"
    evcrisp.write(path, scene.events)
    with serve(ViewOptions(path=path, resolution=SIZE, method="cmax")) as url:
        screen.open(f"{url}#t=90000")
        start, window = screen.state("t"), screen.state("window")
        assert start <= 90_000 < start + window
        assert [start, window] in screen.page.evaluate("evcrisp.facts.windows")


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
    screen.wait_for_message("no windows of 70 ms, only of 20 ms; the nearest one is shown")
    # The same holds for an address that is entered later.
    screen.page.evaluate("location.hash = '#window=5000&t=99'")
    screen.page.wait_for_function("evcrisp.state.get('t') === 0")
    screen.settled()
    screen.wait_for_message("no windows of 5 ms")
    assert screen.state("window") == WINDOW_US
    assert screen.info("raw") == f"{len(window_of(scene.events, 0).events):,} events in 20 ms"


def test_invalid_values_in_the_address_are_replaced(screen, url):
    values = "t=7.5&window=-5&method=zzz&motion=q&filter=nope&large=zzz&colors=zz&zoom=-1"
    screen.open(f"{url}#{values}&accumulation=x&theme=zz&points=1e9&distance=0&show=signal")
    shown = [screen.state(name) for name in ("method", "motion", "filter", "colors", "theme")]
    assert shown == ["auto", "auto", "", "red-blue", ""]
    assert [screen.state(name) for name in ("t", "window", "zoom", "points")] == [8, 10, 1, 41]
    assert screen.state("show") == "signal"
    # Ten microseconds tell no motion.
    assert "The motion may be chance" in screen.page.inner_text("#message")


def test_windows_that_the_events_choose_are_the_default(screen, scene, tmp_path):
    evcrisp.write(tmp_path / "scene.npz", scene.events)
    t_first = int(scene.events.t[0])
    chosen = [
        (result.window.t_start - t_first, result.window.t_end - result.window.t_start)
        for result in evcrisp.track(scene.events.with_signal(None), "cmax")
    ]
    assert len(chosen) > 2
    with serve(ViewOptions(path=tmp_path / "scene.npz", method="cmax")) as address:
        wait_until_read(Client(address))
        screen.open(address)
        shown = []
        for _ in chosen:
            screen.settled()
            shown.append((screen.state("t"), screen.state("window")))
            screen.page.keyboard.press("ArrowRight")
        assert shown == chosen
        screen.page.fill("#window", "20")
        screen.page.keyboard.press("Enter")
        screen.settled()
        assert (screen.state("auto"), screen.state("window")) == (False, 20_000)
        screen.page.click("#auto")
        screen.settled()
        assert (screen.state("t"), screen.state("window")) in chosen
        assert screen.state("auto") is True
