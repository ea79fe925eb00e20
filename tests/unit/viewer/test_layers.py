"""Layers and flow in a real browser: list, colors, boxes, overlays, export."""

import numpy as np
import pytest
from tests.unit.viewer.drawing import is_color, latest

import evcrisp
from evcrisp.core.flow_colors import flow_rgb
from evcrisp.core.palettes import layer_palette, layer_slots, rgb
from evcrisp.simulation import ObjectConfig
from evcrisp.viewer import ExportOptions, ViewOptions, export, serve
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.compute import Computer
from evcrisp.viewer.event_store import write_store
from evcrisp.viewer.layer_facts import flow_cells
from evcrisp.viewer.requests import Request

pytestmark = pytest.mark.slow

SIZE = (240, 180)
WINDOW_US = 30_000
START_US = 30_000
PALETTE = layer_palette("#0b0e13")  # ground of the dark page
NOISE = rgb(PALETTE.noise)


#: Velocity of each object, px/s, by its center, in shares of the view.
MOTIONS = {(0.2, 0.3): (330.0, 40.0), (0.76, 0.3): (-300.0, 90.0), (0.5, 0.76): (40.0, -280.0)}


@pytest.fixture(scope="module")
def objects():
    """Return three objects that move in different directions before a still background."""
    return evcrisp.simulate(
        resolution=SIZE, theta=(0.0, 0.0), duration_us=60_000, noise_hz=2.0, seed=11,
        contrast=2.5, c_on=0.25, c_off=0.25,
        objects=tuple(
            ObjectConfig(theta=theta, center=center, size=(0.3, 0.38), texture="rocks")
            for center, theta in MOTIONS.items()
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def computed(objects, tmp_path_factory):
    """Return the estimate of the second window as the viewer computes it, and its bundle."""
    store = write_store((objects.events,), SIZE, tmp_path_factory.mktemp("store")).store()
    request = Request(kind="estimate", start_us=START_US, duration_us=WINDOW_US)
    result = Computer(store)._tracked(request, store.window(START_US, WINDOW_US))
    facts, arrays = read_bundle(Computer(store).compute(request, lambda share: None))
    return result, facts, arrays


@pytest.fixture(scope="module")
def layers_url(objects, tmp_path_factory):
    path = tmp_path_factory.mktemp("layers") / "objects.npz"
    evcrisp.write(path, objects.events)
    with serve(ViewOptions(path=path, window_us=WINDOW_US)) as address:
        yield address


@pytest.fixture(params=["webgl", "processor"])
def draw(request):
    """Return the name of a renderer."""
    return request.param


def test_scene_has_one_layer_per_object(computed):
    result, _, _ = computed
    assert len(result.layers) == 3
    found = sorted(layer.velocity.tolist() for layer in result.layers)
    expected = sorted(MOTIONS.values())
    np.testing.assert_allclose(found, expected, atol=45)


def test_motion_over_time_is_that_of_the_first_line_of_the_list(computed, objects, tmp_path):
    result, facts, _ = computed
    assert len(result.layers) > 1
    assert facts["row"]["theta"][:2] == pytest.approx(result.layers[0].velocity.tolist())
    assert facts["row"]["theta"][2:] == pytest.approx(result.theta[2:].tolist())
    # A single motion has its parameters at the middle of the sensor.
    store = write_store((objects.events,), SIZE, tmp_path).store()
    request = Request(kind="estimate", motion="affine", start_us=START_US, duration_us=WINDOW_US)
    one, _ = read_bundle(Computer(store).compute(request, lambda share: None))
    assert len(one["layers"]) == 1
    assert one["row"]["theta"] == one["theta"]


def test_bundle_has_layers_flags_and_flow(computed):
    result, facts, arrays = computed
    assert [layer["id"] for layer in facts["layers"]] == [layer.id for layer in result.layers]
    for sent, layer in zip(facts["layers"], result.layers, strict=True):
        assert sent["velocity"] == pytest.approx(layer.velocity.tolist())
        assert sent["box"] == pytest.approx(layer.box)
        assert sent["n_events"] == len(layer)
    slots = np.array([layer["slot"] for layer in facts["layers"]])
    np.testing.assert_array_equal(arrays["flags"] & 1, result.signal)
    kept = result.signal
    np.testing.assert_array_equal(arrays["flags"][kept] >> 1, slots[result.layer[kept]])
    assert not arrays["flags"][~kept].any()
    assert arrays["flow"].dtype == np.float32


def test_flow_cells_have_the_velocity_of_the_dense_flow(computed):
    result, facts, arrays = computed
    cell_px, velocity = flow_cells(result)
    assert facts["flow_cell_px"] == cell_px
    np.testing.assert_array_equal(arrays["flow"], velocity.ravel())
    flow = result.flow()
    rows, columns = velocity.shape[:2]
    assert (rows, columns) == (-(-SIZE[1] // cell_px), -(-SIZE[0] // cell_px))
    y = np.minimum(np.arange(rows) * cell_px + cell_px // 2, SIZE[1] - 1)
    x = np.minimum(np.arange(columns) * cell_px + cell_px // 2, SIZE[0] - 1)
    np.testing.assert_allclose(velocity, flow.velocity[np.ix_(y, x)], rtol=1e-5)
    assert np.isnan(velocity).any()
    assert np.isfinite(velocity).any()


@pytest.mark.parametrize("n", [0, 1, 40])
def test_flow_cells_of_few_events_are_unknown(n):
    events = evcrisp.Events(x=[3] * n, y=[4] * n, t=range(n), p=[1] * n, resolution=(20, 10))
    cell_px, velocity = flow_cells(evcrisp.estimate(events))
    assert cell_px == 8
    assert velocity.shape == (2, 3, 2)
    assert n > 1 or np.isnan(velocity).all()


def rows_of(screen):
    table = "[data-pane=layers] tbody tr"
    return screen.page.eval_on_selector_all(
        table, "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )


def check_list(screen, result):
    rows = rows_of(screen)
    assert [row[0] for row in rows] == [str(layer.id) for layer in result.layers]
    for row, layer in zip(rows, result.layers, strict=True):
        pairs = [
            text.split(" \N{PLUS-MINUS SIGN} ")
            for text in row[1].lstrip("\N{WARNING SIGN} ").split(", ")
        ]
        shown, ranges = zip(
            *([float(v.replace(",", "")) for v in pair] for pair in pairs), strict=True
        )
        np.testing.assert_allclose(shown, layer.velocity, rtol=0.01, atol=0.5)
        np.testing.assert_allclose(ranges, 1.96 * layer.velocity_std, rtol=0.1)
        assert row[1].startswith("\N{WARNING SIGN}") == bool(layer.doubts)
        assert row[3] == f"{len(layer):,}"
        left, top, width, height = (round(value) for value in layer.box)
        assert row[4] == f"{width} \N{MULTIPLICATION SIGN} {height} at ({left}, {top})"
    assert screen.info("layers") == f"{len(rows)} motions"


def test_list_shows_every_layer_with_its_motion(screen, layers_url, computed):
    screen.open(f"{layers_url}#t={START_US}")
    check_list(screen, computed[0])
    assert screen.info("aligned").startswith("3 layers; 0: (")
    # Arrows point along the velocities.
    turns = screen.page.eval_on_selector_all(
        ".layer-arrow i", "all => all.map((one) => parseFloat(one.style.transform.slice(7)))"
    )
    expected = [np.arctan2(*layer.velocity[::-1]) for layer in computed[0].layers]
    np.testing.assert_allclose(turns, expected, atol=1e-4)


def expected_layers(result):
    """Return the slot of the last event of each pixel; -1 for noise, -2 without events."""
    slots = np.array([*layer_slots([layer.id for layer in result.layers]), -1])
    image = latest(result.window.events, slots[result.layer] + 1)
    return np.where(image < 0, -2, image - 1)


def test_events_have_the_colors_of_their_layers(screen, layers_url, computed, draw):
    # A large pane, in which every pixel of the sensor has several pixels of the screen.
    screen.open(f"{layers_url}#t={START_US}&boxes=false&draw={draw}&large=denoised")
    seen, expected = screen.sensor("denoised", SIZE), expected_layers(computed[0])
    assert len(set(expected[expected >= 0])) == 3
    for slot in (-2, -1, *set(expected[expected >= 0])):
        color = rgb(PALETTE.ground) if slot == -2 else NOISE
        color = rgb(PALETTE.colors[slot]) if slot >= 0 else color
        assert (is_color(seen, color) == (expected == slot)).mean() > 0.998, slot
    screen.page.keyboard.press("Escape")
    screen.settled()
    for pane in ("aligned", "cloud"):
        shown = [is_color(screen.pixels(pane), rgb(color)).sum() for color in PALETTE.colors[:3]]
        assert min(shown) > 50, pane
    legend = screen.page.eval_on_selector_all("#legend span", "all => all.map((e) => e.innerText)")
    first, *others = (str(layer.id) for layer in computed[0].layers)
    assert legend == ["ON", "OFF", f"layer {first}", *others, "noise"]


def test_colors_by_label_are_a_choice(screen, layers_url):
    screen.open(f"{layers_url}#t={START_US}&boxes=false")
    screen.page.select_option("#by", "label")
    screen.settled()
    seen = screen.pixels("denoised")
    assert not is_color(seen, rgb(PALETTE.colors[0])).any()
    assert "signal" in screen.page.inner_text("#legend")
    screen.page.keyboard.press("l")
    screen.settled()
    assert screen.state("by") == "layer"
    assert is_color(screen.pixels("denoised"), rgb(PALETTE.colors[0])).any()


@pytest.mark.parametrize("accumulation", ["latest", "density", "fade"])
def test_both_renderers_draw_the_same_layers(screen, layers_url, accumulation):
    seen = {"webgl": {}, "processor": {}}
    for name, images in seen.items():
        screen.page.goto("about:blank")
        look = f"accumulation={accumulation}&boxes=false&draw={name}&large=denoised"
        screen.open(f"{layers_url}#t={START_US}&{look}")
        images["denoised"] = screen.sensor("denoised", SIZE).astype(int)
    for pane, image in seen["webgl"].items():
        assert (np.abs(image - seen["processor"][pane]).max(axis=-1) <= 8).mean() > 0.98


@pytest.mark.parametrize("pane", ["raw", "denoised"])
def test_boxes_surround_the_layers(screen, layers_url, computed, pane):
    screen.open(f"{layers_url}#t={START_US}&by=label")
    image = screen.pixels(pane)
    scale = min(image.shape[1] / SIZE[0], image.shape[0] / SIZE[1])
    corner = [(image.shape[1 - k] - SIZE[k] * scale) / 2 for k in range(2)]
    screen.page.keyboard.press("b")
    screen.settled()
    without = screen.pixels(pane)
    slots = layer_slots([layer.id for layer in computed[0].layers])
    for layer, slot in zip(computed[0].layers, slots, strict=True):
        drawn = (image != without).any(axis=2)
        left, top, width, height = layer.box
        x = [round(corner[0] + scale * value) for value in (left, left + width)]
        y = [round(corner[1] + scale * value) for value in (top, top + height)]
        for row in y:  # each side, except where another box or a number covers it
            assert drawn[max(row - 1, 0) : row + 2, x[0] : x[1]].any(axis=0).mean() > 0.9
        for column in x:
            assert drawn[y[0] : y[1], max(column - 1, 0) : column + 2].any(axis=1).mean() > 0.9
        near = image.astype(int)[y[0] - 1 : y[0] + 2, x[0] : x[1]]
        color = np.array(rgb(PALETTE.colors[slot]))
        # Lines between two pixels are half as strong.
        assert (np.abs(near - color).sum(axis=2).min(axis=0) < 330).mean() > 0.8


def test_one_motion_has_one_row_no_box_and_the_usual_colors(screen, url):
    screen.open(f"{url}#t=40000")
    assert len(rows_of(screen)) == 1
    assert screen.info("layers") == "one motion"
    assert "px/s" in screen.info("aligned")
    image = screen.pixels("raw")
    screen.page.keyboard.press("b")
    screen.settled()
    np.testing.assert_array_equal(screen.pixels("raw"), image)
    assert "signal" in screen.page.inner_text("#legend")


@pytest.mark.parametrize("style", ["arrows", "colors"])
def test_flow_is_drawn_where_it_is_known(screen, layers_url, computed, style):
    screen.open(f"{layers_url}#t={START_US}&boxes=false")
    screen.page.evaluate(  # the key takes space below the picture
        """() => {
          const { style } = document.querySelector("[data-pane=denoised] .key");
          style.setProperty("display", "flex", "important");
          style.height = "24px";
        }"""
    )
    screen.settled()
    plain = screen.pixels("denoised")
    screen.page.select_option("#flow", style)
    screen.settled()
    image = screen.pixels("denoised")
    changed = (image != plain).any(axis=2)
    scale = min(image.shape[1] / SIZE[0], image.shape[0] / SIZE[1])
    corner = [(image.shape[1 - k] - SIZE[k] * scale) / 2 for k in range(2)]
    cell_px, velocity = flow_cells(computed[0])
    known = np.isfinite(velocity[..., 0])
    for row, column in np.ndindex(*known.shape):
        x, y = (
            int(corner[k] + scale * min((place + 0.5) * cell_px, SIZE[k] - 1))
            for k, place in enumerate((column, row))
        )
        around = changed[y - 1 : y + 2, x - 1 : x + 2]
        if known[row, column] and np.hypot(*velocity[row, column]) > 60:
            assert around.any(), (row, column)
        elif style == "colors" and not known[row, column]:
            assert not around.any(), (row, column)
    if style == "colors":
        page_colors = screen.page.evaluate(
            """async () => {
              const { flowColor } = await import("evcrisp/drawing/colors");
              return [[30, 40], [-90, 10], [0, -70], [200, 5]].map(([vx, vy]) => flowColor(vx, vy, 100));
            }"""
        )
        expected = flow_rgb([[30, 40], [-90, 10], [0, -70], [200, 5]], 100.0)
        assert np.abs(np.array(page_colors) - expected).max() <= 1


def test_exported_page_keeps_layers_boxes_and_flow(screen, objects, tmp_path):
    path = tmp_path / "page.html"
    options = ExportOptions(window_us=START_US, n_windows=2, front_points=3)
    export(objects.events, path, options)
    screen.open(f"{path.as_uri()}#flow=arrows")
    screen.page.keyboard.press("End")
    screen.settled()
    assert len(rows_of(screen)) == 3
    assert screen.info("aligned").startswith("3 layers")
    colors = [is_color(screen.pixels("denoised"), rgb(color)).sum() for color in PALETTE.colors[:3]]
    assert min(colors) > 50
    boxed = screen.pixels("raw")
    screen.page.click("#boxes")
    screen.settled()
    assert (screen.pixels("raw") != boxed).any()
    # A point of the front has one motion.
    screen.page.evaluate("evcrisp.state.set({ front: true, point: 0 })")
    screen.settled()
    assert len(rows_of(screen)) == 1


def test_layers_follow_the_shown_window(screen, layers_url):
    screen.open(f"{layers_url}#t={START_US}&boxes=true")
    screen.page.keyboard.press("9")
    screen.settled()
    assert screen.state("large") == "layers"
    screen.page.keyboard.press("Escape")
    screen.page.keyboard.press("ArrowLeft")
    screen.settled()
    start = screen.page.evaluate("evcrisp.layerList.result.start_us")
    assert start == screen.state("t") == 0
