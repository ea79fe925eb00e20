"""Small panes, narrow windows and long names: nothing is cut, covered or unreadable."""

import numpy as np
import pytest

import evcrisp
from evcrisp.core.palettes import LAYER_PALETTES, rgb
from evcrisp.simulation import ObjectConfig
from evcrisp.viewer import ViewOptions, serve

pytestmark = pytest.mark.slow

WINDOW_US = 30_000


@pytest.fixture(scope="module")
def layers_url(tmp_path_factory):
    """Serve a wide sensor with three objects, by a long name."""
    scene = evcrisp.simulate(
        resolution=(320, 180), theta=(0.0, 0.0), duration_us=60_000, noise_hz=2.0, seed=11,
        contrast=2.5, objects=tuple(
            ObjectConfig(theta=theta, center=center, size=(0.3, 0.38), texture="rocks")
            for theta, center in (
                ((330.0, 40.0), (0.2, 0.3)), ((-300.0, 90.0), (0.76, 0.3)), ((40.0, -280.0), (0.5, 0.76)),
            )
        ),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("layers") / f"{'traffic_seen_from_above_' * 6}left.npz"
    evcrisp.write(path, scene.events)
    with serve(ViewOptions(path=path, window_us=WINDOW_US)) as address:
        yield address


def resized(screen, width, height):
    screen.page.set_viewport_size({"width": width, "height": height})
    return screen


def test_long_name_leaves_space_for_facts_and_buttons(screen, layers_url):
    resized(screen, 1440, 900).open(layers_url)
    page = screen.page
    assert page.get_attribute("#name", "title").startswith("traffic_seen_from_above_")
    width = "element => element.scrollWidth - element.clientWidth"
    assert page.eval_on_selector("#facts", width) < 40
    assert "320 \N{MULTIPLICATION SIGN} 180 px" in page.get_attribute("#facts", "title")
    heights = [page.locator(name).bounding_box()["height"] for name in ("#copy", "#theme")]
    lines = page.eval_on_selector("#copy", "element => element.scrollHeight")
    assert lines <= heights[0] == heights[1]


@pytest.mark.parametrize("size", [(800, 700), (1440, 900)])
def test_thumbnails_fill_their_columns(screen, layers_url, size):
    resized(screen, *size).open(f"{layers_url}#t=30000&layout=large")
    right, last, empty = screen.page.evaluate(
        """() => {
          const panes = [...document.querySelectorAll(".pane:not([hidden])")].map((pane) => pane.getBoundingClientRect());
          const grid = document.getElementById("panes").getBoundingClientRect();
          const bottom = Math.max(...panes.map((box) => box.bottom));
          const row = panes.filter((box) => Math.abs(box.bottom - bottom) < 1);
          return [grid.right - 14, Math.max(...row.map((box) => box.right)), grid.bottom - bottom];
        }"""
    )
    assert last == pytest.approx(right, abs=1)
    assert empty < 20


@pytest.mark.parametrize("size", [(800, 700), (1024, 600), (1440, 900)])
def test_controls_of_thumbnails_are_inside_their_panes(screen, layers_url, size):
    resized(screen, *size).open(f"{layers_url}#t=30000&layout=large")
    outside = screen.page.evaluate(
        """() => [...document.querySelectorAll(".pane:not([hidden]) > header > *, .pane:not([hidden]) .pane-actions button")]
          .filter((part) => part.getClientRects().length)
          .filter((part) => part.getBoundingClientRect().right > part.closest(".pane").getBoundingClientRect().right)
          .map((part) => `${part.closest(".pane").dataset.pane}: ${part.outerHTML.slice(0, 80)}`)"""
    )
    assert outside == []


def test_all_layers_are_seen_in_a_thumbnail(screen, layers_url):
    resized(screen, 1440, 900).open(f"{layers_url}#t=30000&layout=large")
    bottoms = screen.page.evaluate(
        """() => [...document.querySelectorAll("[data-pane=layers] tbody tr")].map((row) =>
          row.getBoundingClientRect().bottom - row.closest(".pane").getBoundingClientRect().bottom)"""
    )
    assert len(bottoms) == 3
    assert max(bottoms) <= 0
    # The list has its choices there, too.
    assert screen.page.is_visible("[data-pane=layers] #flow")


def test_numbers_of_layers_can_be_read_on_all_colors(screen, url):
    screen.open(url)
    for palette in LAYER_PALETTES.values():
        for color in palette.colors:
            is_light = screen.page.evaluate(
                "async (color) => (await import('evcrisp/drawing/overlays')).isLight(color)", color
            )
            text = 0.0 if is_light else 1.0
            lights = sorted((luminance(rgb(color)), text))
            assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 4.5, color


def luminance(color):
    """Return the relative luminance of WCAG for bytes of sRGB."""
    shares = np.array(color) / 255.0
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_boxes_have_their_number_in_a_filled_field(screen, layers_url):
    resized(screen, 1440, 900).open(f"{layers_url}#t=30000&layout=large&main=raw&by=layer")
    layers = screen.page.evaluate("evcrisp.shown.result.layers")
    image = screen.pixels("raw").astype(int)
    height, width = image.shape[:2]
    scale = min(width / 320, height / 180)
    left, top = (width - 320 * scale) / 2, (height - 180 * scale) / 2
    from evcrisp.core.palettes import layer_palette

    colors = layer_palette("#0b0e13").colors
    for layer in layers[-1:]:  # the last one is drawn above the others
        x, y = left + layer["box"][0] * scale, top + layer["box"][1] * scale
        tag = image[round(y) + 2 : round(y) + 12, round(x) + 2 : round(x) + 10]
        is_filled = np.abs(tag - rgb(colors[layer["slot"]])).sum(axis=2) < 30
        assert is_filled.mean() > 0.4


def test_small_front_has_no_texts_that_cover_its_points(screen, url):
    resized(screen, 800, 700).open(f"{url}#t=40000&front=true&points=5&layout=large")
    assert screen.page.evaluate("evcrisp.front.hasTexts") is False
    size = screen.page.evaluate(
        "[evcrisp.front.pane.canvas.clientWidth, evcrisp.front.pane.canvas.clientHeight]"
    )
    marks = np.array(screen.page.evaluate("evcrisp.front.marks()"))
    assert (marks >= 0).all()
    assert (marks <= size).all()
    assert np.ptp(marks, axis=0).min() > 0.3 * min(size)
    resized(screen, 1440, 900).settled()
    assert screen.page.evaluate("evcrisp.front.hasTexts") is True


def test_cloud_of_a_thumbnail_fills_its_height(screen, layers_url):
    resized(screen, 1440, 900).open(f"{layers_url}#t=30000&layout=large")
    ground = screen.pixels("cloud")[0, 0].astype(int)
    image = screen.pixels("cloud").astype(int)
    assert image.shape[0] < 150
    rows = np.flatnonzero((np.abs(image - ground).sum(axis=2) > 12).any(axis=1))
    assert (rows[-1] - rows[0]) / image.shape[0] > 0.8


@pytest.mark.parametrize("height", [600, 1000])
def test_numbers_of_the_timeline_are_not_cut_and_do_not_overlap(screen, scene, tmp_path, height):
    evcrisp.write(tmp_path / "scene.npz", scene.events)
    options = ViewOptions(path=tmp_path / "scene.npz", motion="rotation", window_us=20_000)
    with serve(options) as address:
        resized(screen, 900, height).open(f"{address}#t=40000")
        places = screen.page.evaluate(
            """() => {
              const places = [];
              const before = CanvasRenderingContext2D.prototype.fillText;
              CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                if (this.textAlign === "right") places.push([text, y]);
              };
              evcrisp.timeline.motion.inputs = [];
              evcrisp.timeline.draw(evcrisp.theme);
              CanvasRenderingContext2D.prototype.fillText = before;
              return places;
            }"""
        )
        assert any("rad/s" in text for text, _ in places)
        heights = sorted(y for _, y in places)
        assert len(heights) >= 2
        assert np.diff(heights).min() >= 11
        screen.page.reload()
        screen.page.wait_for_selector("body[data-state=ready]")
        screen.settled()
        ink = screen.page.evaluate(
            """() => {
              const canvas = document.getElementById("timeline");
              const { data } = canvas.getContext("2d").getImageData(0, 0, 2, canvas.height);
              return data.filter((value, k) => k % 4 === 3 && value > 0).length;
            }"""
        )
    assert ink == 0


def test_notes_of_the_reader_start_with_what_they_say(screen, scene, tmp_path):
    path = tmp_path / "no_size.csv"
    evcrisp.write(path, scene.events.with_signal(None))
    rows = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    path.write_text("\n".join(rows) + "\n")
    with serve(ViewOptions(path=path, window_us=20_000)) as address:
        screen.open(address)
        screen.wait_for_message("The file does not state its sensor size")
        shown = screen.page.evaluate("window.messagesShown")
    assert any(text.startswith("The file does not state its sensor size") for text in shown)
