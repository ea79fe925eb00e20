"""The page of live events: what a frame holds, who may read it, and the page in a real browser."""

import json
import struct
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.viewer.conftest import Client, open_screen

import evcrisp
from evcrisp import Events
from evcrisp.viewer.live import LiveBoard, serve_live

SIZE = (64, 48)


def part_of(events, signal, estimate=None):
    return SimpleNamespace(events=events, kept=events[signal], estimate=estimate)


def parsed(data):
    size = struct.unpack("<I", data[:4])[0]
    head = json.loads(data[4 : 4 + size])
    if "shape" not in head:
        return head, None
    return head, np.frombuffer(data[4 + size :], np.uint8).reshape(3, *head["shape"])


@pytest.fixture
def events():
    t = np.arange(0, 100_000, 100)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, side, t.size) for side in SIZE)
    return Events(x=x, y=y, t=t, p=rng.integers(0, 2, t.size), resolution=SIZE)


def counted(events):
    """Return ON minus OFF events of every pixel, one event at a time."""
    image = np.full((SIZE[1], SIZE[0]), 128)
    for x, y, p in zip(events.x.tolist(), events.y.tolist(), events.p.tolist(), strict=True):
        image[y, x] += 1 if p else -1
    return image


def test_frame_has_the_events_of_the_last_parts(events):
    board, keep = LiveBoard(shown_us=20_000), np.arange(100) % 3 == 0
    for first in range(0, 1000, 100):
        board.show(part_of(events[first : first + 100], keep))
    head, (raw, aligned, denoised) = parsed(board.frame())
    shown = events[700:]  # the packets that reach into the last 20 ms
    np.testing.assert_array_equal(raw, counted(shown))
    kept = counted(shown[np.tile(keep, 3)])
    np.testing.assert_array_equal(denoised, kept)
    np.testing.assert_array_equal(aligned, kept)
    assert (head["n_raw"], head["n_kept"], head["is_aligned"]) == (300, 102, False)


def test_aligned_picture_is_that_of_the_estimate():
    scene = evcrisp.simulate(theta=(300, -120), resolution=SIZE, duration_us=30_000, seed=1)
    result = evcrisp.estimate(scene.events)
    board = LiveBoard()
    board.show(part_of(scene.events, result.signal, result))
    head, (raw, aligned, _) = parsed(board.frame())
    assert head["is_aligned"]
    vx, vy = result.theta
    assert head["motion"] == f"translation: vx {vx:.3g} px/s, vy {vy:.3g} px/s"
    # Aligned events gather on fewer pixels.
    assert np.count_nonzero(aligned != 128) < np.count_nonzero(raw != 128)


def test_large_sensors_are_joined_and_far_events_left_out():
    board = LiveBoard()
    events = Events(x=[0, 1279], y=[0, 719], t=[0, 1], p=[1, 1], resolution=(1280, 720))
    board.show(part_of(events, np.ones(2, bool)))
    _, (raw, *_) = parsed(board.frame())
    assert raw.shape == (360, 640)
    assert raw[0, 0] == raw[-1, -1] == 129


def test_curves_are_rates_between_states(monkeypatch):
    board, clock = LiveBoard(), iter((0.0, 0.5, 1.0))
    monkeypatch.setattr("evcrisp.viewer.live.board.time.monotonic", lambda: next(clock))
    for n, n_labeled in ((0, 0), (1000, 0), (5000, 3000)):  # labels come window by window
        facts = {"n_events": n, "n_dropped": n // 10, "latency_p95_ms": 4.0}
        board.note({**facts, "n_labeled": n_labeled, "n_kept": n_labeled // 4})
    head, pictures = parsed(board.frame())
    assert pictures is None
    assert head["curves"]["events_s"] == [2000, 8000]
    assert head["curves"]["kept_s"] == [None, (8000 - 800) / 4]
    assert head["curves"]["dropped_s"] == [200, 800]
    assert head["counts"]["n_events"] == 5000


def test_page_is_refused_without_token_from_other_pages_and_other_hosts():
    with serve_live(LiveBoard(), "<b>camera") as url:
        client = Client(url)
        page = client.ask("")
        assert page.status == 200
        assert b"&lt;b&gt;camera" in page.body
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert client.ask("api/frame").status == 200
        assert client.ask("api/frame", token="wrong").status == 404
        assert client.ask("api/frame", headers={"Origin": "http://example.org"}).status == 403
        assert client.ask("api/frame", headers={"Host": "example.org"}).status == 421
        assert client.ask("static/../page.py").status == 404
        assert client.ask("api/frame?after=x").status == 400


@pytest.mark.slow
def test_browser_shows_a_live_session(browser, tmp_path):
    scene = evcrisp.simulate(
        theta=(300, -120), resolution=(128, 96), duration_us=300_000, noise_hz=5.0, seed=2
    )
    evcrisp.write(tmp_path / "a.npz", scene.events)
    board, stop = LiveBoard(), threading.Event()
    options = {
        "on_part": board.show,
        "on_state": lambda state: board.note({**state.facts(), "latency_p95_ms": 1_840.0}),
    }

    def run():
        evcrisp.live(tmp_path / "a.npz", method="baf", speed=0.02, stop=stop, **options)
        board.end()

    session = threading.Thread(target=run)
    with serve_live(board, "camera") as url:
        session.start()
        for screen in open_screen(browser):
            page = screen.page
            page.goto(url)
            deadline = time.monotonic() + 60
            while page.evaluate("liveStats.newest?.curves?.events_s?.length ?? 0") < 10:
                assert time.monotonic() < deadline, page.inner_text("body")
                time.sleep(0.1)
            newest = page.evaluate("liveStats.newest")
            assert newest["resolution"] == [128, 96]
            drawn = page.evaluate(
                """() => ["raw", "aligned", "denoised"].map((id) => {
                  const canvas = document.getElementById(id);
                  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                  let n = 0;
                  for (let k = 0; k < data.length; k += 4) n += data[k] > 60 || data[k + 2] > 60;
                  return n;
                })"""
            )
            assert drawn[0] > drawn[2] > 0
            assert "events, 128\u00d796 px" in page.inner_text("#raw-info")
            assert "baf" in page.inner_text("#counts")
            assert page.inner_text("#latency") == "1.8 s"
            assert page.inner_text("figcaption:has(#rate)").startswith(
                "Events per second: all, kept"
            )
            frames = page.evaluate("liveStats.frames")
            time.sleep(0.5)
            assert page.evaluate("liveStats.frames") > frames
            stop.set()
            session.join(60)
            while page.inner_text("#state") != "The session has ended.":
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert not screen.errors
            assert all(request.startswith((url, "data:")) for request in screen.requests)


@pytest.fixture
def sparse():
    """Return single events on a sensor that is wider than a pane."""
    x, y = (places.ravel() for places in np.mgrid[8:1280:40, 8:720:40])
    t = np.sort(np.random.default_rng(0).integers(0, 20_000, x.size))
    return Events(x=x, y=y, t=t, p=np.ones(x.size, bool), resolution=(1280, 720))


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "ground"), [("light", (255, 255, 255)), ("dark", (11, 14, 19))])
def test_page_has_the_colors_of_the_system_and_loses_no_event(browser, sparse, theme, ground):
    board = LiveBoard()
    with serve_live(board, "camera") as url:
        context = browser.new_context(viewport={"width": 900, "height": 700}, color_scheme=theme)
        page = context.new_page()
        page.goto(url)
        page.wait_for_function("() => state.textContent.startsWith('Waiting for events')")
        board.show(part_of(sparse, np.ones(len(sparse), bool)))
        page.wait_for_function("() => liveStats.newest?.resolution")
        page.wait_for_function("() => raw.width > 1 && raw.width < 400")
        assert page.get_attribute("html", "data-theme") == theme
        data = page.evaluate(
            "[...raw.getContext('2d').getImageData(0, 0, raw.width, raw.height).data]"
        )
        image = np.array(data).reshape(-1, 4)[:, :3]
        is_ground = (image == ground).all(axis=1)
        assert (~is_ground).sum() == len(sparse)
        context.close()


@pytest.mark.slow
def test_doubtful_motion_is_marked_and_curves_have_units(browser):
    rng = np.random.default_rng(1)
    n = 3_000
    noise = Events(
        x=rng.integers(0, 64, n), y=rng.integers(0, 48, n), t=np.sort(rng.integers(0, 30_000, n)),
        p=rng.integers(0, 2, n), resolution=SIZE,
    )  # fmt: skip
    result = evcrisp.estimate(noise)
    assert result.doubts
    board = LiveBoard()
    board.show(part_of(noise, result.signal, result))
    with serve_live(board, "camera") as url:
        for screen in open_screen(browser):
            page = screen.page
            page.goto(url)
            page.wait_for_function("() => document.getElementById('aligned-info').textContent")
            text = page.inner_text("#aligned-info")
            assert text.startswith("\N{WARNING SIGN} ")
            color = page.eval_on_selector("#aligned-info", "e => getComputedStyle(e).color")
            assert color == "rgb(255, 180, 84)"
            shown = page.evaluate(
                """async () => {
                  const { drawCurve } = await import("./static/live/drawing.js");
                  const texts = [];
                  const canvas = document.getElementById("latency-curve");
                  const context = canvas.getContext("2d");
                  context.fillText = (text) => texts.push(text);
                  drawCurve(canvas, [-1, 0], [[100, 290]], ["all"], (value) => `${value} ms`);
                  return texts;
                }"""
            )
            assert shown == ["up to 290 ms", "10 s ago"]
