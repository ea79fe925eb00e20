"""Window field, durations, titles and keys beside the pictures, and the view of the cloud."""

import numpy as np
import pytest
from tests.unit.viewer.conftest import WINDOW_US
from tests.unit.viewer.drawing import GROUND, is_color

import evcrisp
from evcrisp.viewer import ViewOptions, serve

pytestmark = pytest.mark.slow


def test_enter_applies_the_window_and_leaves_the_field(screen, url):
    screen.open(url)
    screen.page.fill("#window", "12.5")
    screen.page.keyboard.press("Enter")
    screen.settled()
    assert screen.state("window") == 12_500
    assert screen.page.evaluate("document.activeElement.id") != "window"
    before = screen.state("t")
    screen.page.keyboard.press("ArrowRight")  # a key of the page, not of the field
    screen.settled()
    assert screen.state("t") == before + 12_500


@pytest.mark.parametrize("text", ["-3", "0", "1e9", "", "0.001"])
def test_bad_window_is_refused_visibly(screen, url, text):
    screen.open(url)
    screen.page.fill("#window", text)
    screen.page.keyboard.press("Enter")
    assert screen.page.get_attribute("#window", "aria-invalid") == "true"
    border = screen.page.eval_on_selector(
        "#window", "field => getComputedStyle(field).borderTopColor"
    )
    assert border == "rgb(255, 138, 128)"
    screen.page.wait_for_selector("#message.is-error")
    assert "The window must have 0.01 to 10,000 ms" in screen.page.inner_text("#message")
    assert screen.state("window") == WINDOW_US
    screen.page.keyboard.press("Escape")
    screen.settled()
    assert screen.page.input_value("#window") == "20"
    assert screen.page.get_attribute("#window", "aria-invalid") == "false"


def test_true_duration_is_shown_for_a_short_recording(screen, scene, tmp_path):
    events = scene.events.between(0, 8_802)
    evcrisp.write(tmp_path / "short.npz", events)
    with serve(ViewOptions(path=tmp_path / "short.npz", window_us=30_000)) as address:
        screen.open(address)
        assert screen.info("raw") == f"{len(events):,} events in 8.8 ms"
        assert "8.8 ms" in screen.page.inner_text("#facts")
        assert screen.page.inner_text("#clock") == "0.00 ms of 8.8 ms"
        assert "30 ms" not in screen.page.inner_text("body")


def test_durations_are_rounded_to_their_digits(screen, url):
    screen.open(url)
    texts = screen.page.evaluate(
        """async () => {
          const { formatDuration } = await import("evcrisp/formatting");
          return [8802, 30000, 90509, 250, 1500000, 511500].map(formatDuration);
        }"""
    )
    assert texts == ["8.8 ms", "30 ms", "90.5 ms", "250 \N{MICRO SIGN}s", "1.5 s", "512 ms"]


@pytest.mark.parametrize("size", [(1180, 700), (1440, 860), (1920, 1080)])
def test_titles_and_keys_are_complete_and_beside_the_pictures(screen, url, size):
    screen.page.set_viewport_size({"width": size[0], "height": size[1]})
    screen.open(f"{url}#t=40000&front=true&points=5&filter=baf&flow=arrows")
    found = screen.page.evaluate(
        """() => [...document.querySelectorAll(".pane:not([hidden])")].map((pane) => {
          const stage = pane.querySelector(".stage").getBoundingClientRect();
          const texts = [...pane.querySelectorAll("header, .info, .key, .caption, h2")].filter((one) => one.offsetHeight);
          const outer = pane.getBoundingClientRect();
          return [pane.dataset.pane, texts.map((one) => {
            const box = one.getBoundingClientRect();
            const isCut = one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
            const overlaps = box.bottom > stage.top + 1 && box.top < stage.bottom - 1;
            const isOutside = box.right > outer.right + 1 || box.bottom > outer.bottom + 1;
            return [one.className || one.tagName, isCut, overlaps, isOutside];
          })];
        })"""
    )
    assert len(found) >= 9
    for pane, texts in found:
        for name, *faults in texts:  # cut, over the picture, outside of the pane
            assert faults == [False] * 3, (pane, name)


def test_help_starts_with_its_title(screen, url):
    screen.page.set_viewport_size({"width": 1280, "height": 720})
    screen.open(url)
    screen.page.click("#help-button")
    top, height, needed = screen.page.evaluate(
        "(() => { const all = document.getElementById('help'); return [all.scrollTop, all.clientHeight, all.scrollHeight]; })()"
    )
    assert needed > height  # it can be scrolled
    assert top == 0


def test_names_of_lines_stand_beside_the_plot(screen, url):
    screen.open(f"{url}#t=40000")
    # No text is drawn over the plot of the motion: without windows, its area is empty.
    screen.page.evaluate(
        "evcrisp.timeline.windows = () => ({ named: { names: ['vx'], units: ['px/s'] }, track: [], visited: [] })"
    )
    screen.page.evaluate("evcrisp.timeline.nVisits += 1; evcrisp.paintNow()")
    drawn = screen.page.evaluate(
        """() => {
          const sheet = evcrisp.timeline.motion.canvas;
          const image = sheet.getContext("2d").getImageData(66, 0, sheet.width - 66 - 36, sheet.height);
          return image.data.filter((value, k) => k % 4 === 3 && value > 0).length / (sheet.width - 102);
        }"""
    )
    assert drawn <= 2  # the line of zero


def cloud_extent(screen):
    """Return the share of the pane's width and height that the box of the cloud covers."""
    return screen.page.evaluate(
        """async () => {
          const { cameraOf } = await import("evcrisp/drawing/cloud");
          const { canvas } = evcrisp.panes.cloud;
          const camera = cameraOf(canvas, evcrisp.state, evcrisp.facts);
          const side = Math.max(evcrisp.facts.width, evcrisp.facts.height);
          const half = [0.8, evcrisp.facts.height / side / 2, evcrisp.facts.width / side / 2];
          const places = Array.from({ length: 8 }, (_, k) => half.map((value, axis) => (k >> axis & 1 ? value : -value))).map(([x, y, z]) => {
            const clip = [0, 1, 3].map((row) => camera[row] * x + camera[4 + row] * y + camera[8 + row] * z + camera[12 + row]);
            return [clip[0] / clip[2], clip[1] / clip[2]];
          });
          return [0, 1].map((axis) => places.map((place) => place[axis])).map((values) => [Math.min(...values), Math.max(...values)]);
        }"""
    )


@pytest.mark.parametrize("layout", ["grid", "large"])
def test_cloud_fills_its_pane_and_stays_inside(screen, url, layout):
    screen.open(f"{url}#t=40000&layout={layout}&main=cloud")
    for low, high in cloud_extent(screen):
        assert -1 <= low < high <= 1
        assert low == pytest.approx(-high, abs=0.01)  # in the middle
    (left, right), (bottom, top) = cloud_extent(screen)
    height = screen.page.evaluate("evcrisp.panes.cloud.canvas.clientHeight")
    width = screen.page.evaluate("evcrisp.panes.cloud.canvas.clientWidth")
    margins = (1 - right) * width / 2, (1 - top) * height / 2
    assert min(margins) <= 21  # CSS px for the labels
    assert (right - left) / 2 > 0.6
    assert (top - bottom) / 2 > 0.6
    assert (~is_color(screen.pixels("cloud"), GROUND)).mean() > 0.1


def test_cloud_starts_at_a_view_that_shows_structure(screen, url):
    screen.open(url)
    values = screen.page.evaluate(
        """async () => {
          const { bestView } = await import("evcrisp/drawing/cloud");
          const facts = { width: 100, height: 100 };
          const view = (slope) => {
            // Vertical edges that move along x, with traces of x = x0 + slope * age.
            const pixels = [], dt = [];
            for (let k = 0; k < 6000; k++) {
              const age = k / 6000;
              const x = Math.round(50 + slope * (age - 0.5)) + 15 * ((k % 3) - 1);
              pixels.push(x | ((k * 37) % 100 << 15));
              dt.push(1000 * age);
            }
            return bestView({ pixels: Uint32Array.from(pixels), dt: Uint32Array.from(dt) }, facts, 1000);
          };
          return [view(40), view(-40)];
        }"""
    )
    # The view turns with the direction of the motion.
    assert np.sign(values[0][0]) == -np.sign(values[1][0])
    assert [screen.state("yaw"), screen.state("pitch")] == screen.page.evaluate(
        "[evcrisp.state.home.yaw, evcrisp.state.home.pitch]"
    )


def test_view_in_the_address_is_kept(screen, url):
    screen.open(f"{url}#yaw=0.1&pitch=0.9")
    assert (screen.state("yaw"), screen.state("pitch")) == (0.1, 0.9)


def test_cloud_of_many_events_shows_density(screen, tmp_path):
    # A dense half and a sparse half, with more events than the pane has pixels.
    rng = np.random.default_rng(3)
    n = 400_000
    x = np.where(rng.random(n) < 0.9, rng.integers(0, 64, n), rng.integers(64, 128, n))
    events = evcrisp.Events(
        x=x, y=rng.integers(0, 96, n), t=np.sort(rng.integers(0, 20_000, n)),
        p=np.ones(n, bool), resolution=(128, 96),
    )  # fmt: skip
    evcrisp.write(tmp_path / "dense.npz", events)
    with serve(
        ViewOptions(path=tmp_path / "dense.npz", window_us=20_000, method="cmax")
    ) as address:
        screen.open(f"{address}#cloud=raw&yaw=0.9&pitch=0.5")
        red = screen.pixels("cloud")[..., 0].astype(int)
    drawn = red[red > 60]
    assert np.quantile(drawn, 0.9) - np.quantile(drawn, 0.1) > 60  # one color would have no spread
