"""Layouts, hidden and large panes, and pictures that are scaled down."""

import numpy as np
import pytest
from tests.unit.viewer.drawing import GROUND, is_color

import evcrisp
from evcrisp.viewer import ViewOptions, serve

pytestmark = pytest.mark.slow

HD = (1280, 720)


@pytest.fixture(scope="module")
def hd_url(tmp_path_factory):
    """Serve single events, about 30 px from each other, on a sensor of 1280 x 720."""
    rng = np.random.default_rng(0)
    y, x = (places.ravel() for places in np.mgrid[15:710:30, 15:1270:30])
    x, y = x + rng.integers(-4, 5, x.size), y + rng.integers(-4, 5, y.size)
    t, p = np.sort(rng.integers(0, 8_802, x.size)), np.ones(x.size, bool)
    path = tmp_path_factory.mktemp("hd") / "hd.npz"
    evcrisp.write(path, evcrisp.Events(x=x, y=y, t=t, p=p, resolution=HD))
    with serve(ViewOptions(path=path)) as address:
        yield address


def boxes(screen):
    """Return the rectangles of the shown panes by name."""
    return screen.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".pane:not([hidden])")].map((pane) => {
          const { left, top, width, height } = pane.getBoundingClientRect();
          return [pane.dataset.pane, [left, top, width, height]];
        }))"""
    )


def area(box):
    return box[2] * box[3]


def test_large_sensor_starts_with_one_large_pane(screen, hd_url):
    screen.open(hd_url)
    found = boxes(screen)
    thumbnails = [area(box) for name, box in found.items() if name != "aligned"]
    assert len(thumbnails) >= 6
    assert area(found["aligned"]) > 4 * max(thumbnails)
    # All panes are on the screen.
    bottoms = [top + height for _, top, _, height in found.values()]
    assert (
        max(bottoms)
        <= screen.page.locator("#panes").bounding_box()["y"]
        + (screen.page.locator("#panes").bounding_box()["height"])
    )


def test_click_on_a_title_puts_the_pane_first(screen, hd_url):
    screen.open(hd_url)
    screen.page.click("[data-pane=raw] h2")
    screen.settled()
    found = boxes(screen)
    assert max(found, key=lambda name: area(found[name])) == "raw"
    assert "main=raw" in screen.page.evaluate("evcrisp.state.hash()")


@pytest.mark.parametrize("draw", ["webgl", "processor"])
@pytest.mark.parametrize("layout", ["grid", "large"])
def test_no_event_is_lost_when_the_picture_is_scaled_down(screen, hd_url, draw, layout):
    screen.open(f"{hd_url}#layout={layout}&main=denoised&draw={draw}")
    image = screen.pixels("raw")
    seen = ~is_color(image, GROUND)
    scale = min(image.shape[1] / HD[0], image.shape[0] / HD[1])
    assert scale < 0.3
    left, top = ((image.shape[1 - k] - HD[k] * scale) / 2 for k in range(2))
    y, x = (places.ravel() for places in np.mgrid[15:710:30, 15:1270:30])
    for column, row in zip(x, y, strict=True):
        u, v = int(left + column * scale), int(top + row * scale)
        assert seen[max(0, v - 3) : v + 4, max(0, u - 3) : u + 4].any(), (column, row)


def test_dense_parts_are_stronger_when_the_picture_is_scaled_down(screen, tmp_path):
    # Twenty events per square of 8 px on the left, one on the right.
    rng = np.random.default_rng(1)
    x = np.r_[rng.integers(0, 640, 144_000), rng.integers(640, 1280, 7_200)]
    y, t = rng.integers(0, 720, x.size), np.arange(x.size) // 20
    path = tmp_path / "dense.npz"
    events = evcrisp.Events(x=x, y=y, t=t, p=np.ones(x.size, bool), resolution=HD)
    evcrisp.write(path, events)
    with serve(ViewOptions(path=path)) as url:
        screen.open(f"{url}#layout=grid")
        red = screen.pixels("raw")[..., 0].astype(float) - GROUND[0]
    height, width = red.shape
    middle = red[int(0.4 * height) : int(0.6 * height)]
    dense, sparse = middle[:, : width // 2 - 5].mean(), middle[:, width // 2 + 5 :].mean()
    assert dense > 3 * sparse > 0


def test_thin_lines_of_maps_survive_scaling_down(screen):
    page = screen.page
    page.goto("about:blank")
    # Pooling takes the largest value of each square.
    from evcrisp.viewer.page import static_files

    text = static_files()["drawing/maps.js"].decode()
    body = text[text.index("export function pooled") : text.index("/** Draw a map, or only")]
    result = page.evaluate(
        f"""() => {{
          {body.replace("export ", "")}
          const map = new Uint8Array(10 * 6);
          for (let y = 0; y < 6; y++) map[y * 10 + 7] = 200;
          const {{ map: small, columns, rows }} = pooled(map, 10, 6, 4);
          return [columns, rows, [...small]];
        }}"""
    )
    assert result == [3, 2, [0, 200, 0, 0, 200, 0]]


def test_layout_menu_and_key_change_the_arrangement(screen, url):
    screen.open(url)
    assert screen.page.get_attribute("#panes", "data-layout") == "grid"
    screen.page.select_option("#layout", "images")
    screen.settled()
    assert set(boxes(screen)) == {"raw", "aligned", "denoised", "contrast"}
    screen.page.select_option("#layout", "large")
    screen.settled()
    found = boxes(screen)
    assert area(found["aligned"]) > 4 * area(found["raw"])
    screen.page.keyboard.press("g")
    screen.settled()
    assert screen.state("layout") == "images"


def test_panes_can_be_hidden_shown_again_and_enlarged(screen, url):
    screen.open(url)
    before = boxes(screen)
    screen.page.click("[data-pane=confidence] [aria-label^='Hide']")
    screen.page.click("[data-pane=layers] [aria-label^='Hide']")
    screen.settled()
    after = boxes(screen)
    assert set(before) - set(after) == {"confidence", "layers"}
    assert area(after["raw"]) > 1.2 * area(before["raw"])
    assert screen.page.evaluate("evcrisp.state.get('hidden')") == "confidence,layers"
    screen.page.click("#panes-menu summary")
    screen.page.check("#panes-list input[name=layers]")
    screen.settled()
    assert "layers" in boxes(screen)
    screen.page.click("[data-pane=raw] [aria-label^='Enlarge']")
    screen.settled()
    assert area(boxes(screen)["raw"]) > 0.9 * 1180 * 700
    screen.page.click("[data-pane=raw] [aria-label^='Enlarge']")
    screen.settled()
    assert screen.state("large") == ""


def test_address_restores_the_layout(screen, url):
    screen.open(f"{url}#layout=large&main=cloud&hidden=front,layers")
    found = boxes(screen)
    assert max(found, key=lambda name: area(found[name])) == "cloud"
    assert not {"front", "layers"} & set(found)
