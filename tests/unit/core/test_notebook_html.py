"""HTML for notebooks is small, self-contained and correct."""

import base64
import io
import re
from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.core.notebook_html import MAX_SIDE_PX, encode_png, html_table, thumbnail
from evcrisp.core.palettes import PALETTES, layer_palette, layer_slots, rgb
from evcrisp.estimators.estimate import as_window
from evcrisp.estimators.joint.pareto import pareto_front
from evcrisp.estimators.layer import LayerMap, LayerMotion
from evcrisp.motion import motion_model
from evcrisp.simulation import ObjectConfig

pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

RED, BLUE = rgb(PALETTES["red-blue"].on), rgb(PALETTES["red-blue"].off)


def decoded(data):
    with pillow.open(io.BytesIO(data)) as image:
        image.verify()
    with pillow.open(io.BytesIO(data)) as image:
        return np.array(image)


def pictures(html):
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return [decoded(base64.b64decode(text)) for text in found]


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 2, 3), (64, 48, 3)])
def test_png_is_decoded_by_pillow(shape):
    image = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    assert np.array_equal(decoded(encode_png(image)), image)


def test_events_show_facts_and_an_image():
    events = Events(x=[3, 4], y=[1, 2], t=[0, 2500], p=[1, 0], resolution=(8, 4), signal=[1, 0])
    html = events._repr_html_()
    for fact in ("8 x 4 px", "0 to 2500 us", "2.500 ms", "50.0%", "signal"):
        assert fact in html
    (picture,) = pictures(html)
    assert picture.shape == (4, 8, 3)
    assert tuple(picture[1, 3]) == RED
    assert tuple(picture[2, 4]) == BLUE
    assert (picture == 255).all(axis=2).sum() == 30


def test_empty_events_show_an_empty_image():
    html = Events.empty((8, 4))._repr_html_()
    assert "8 x 4 px" in html
    assert (pictures(html)[0] == 255).all()


def test_html_is_small_and_loads_nothing(make_events):
    html = make_events(300_000, resolution=(1280, 720))._repr_html_()
    assert len(html) < 100_000
    assert "http" not in html
    assert max(pictures(html)[0].shape) <= MAX_SIDE_PX


def test_estimate_shows_motion_labels_and_aligned_events():
    scene = evcrisp.simulate(
        resolution=(120, 90), theta=(300.0, 0.0), duration_us=30_000, noise_hz=5.0, seed=1
    )
    result = evcrisp.estimate(scene.events)
    html = result._repr_html_()
    assert f"{result.theta[0]:.4g} ± {result.std[0]:.2g} px/s" in html
    assert f"{int(result.signal.sum()):,} of {len(result):,} events" in html
    raw, aligned = ((picture != 255).any(axis=2).sum() for picture in pictures(html))
    assert 0 < aligned < 0.7 * raw


def test_estimate_with_several_motions_shows_its_layers():
    shape = {"size": (0.36, 0.5), "texture": "rocks"}
    scene = evcrisp.simulate(
        resolution=(160, 120), theta=(0.0, 0.0), duration_us=60_000, noise_hz=3.0, seed=5,
        contrast=2.5, c_on=0.25, c_off=0.25, objects=(
            ObjectConfig(theta=(320.0, 40.0), center=(0.25, 0.45), **shape),
            ObjectConfig(theta=(-320.0, -60.0), center=(0.75, 0.55), **shape),
        ),
    )  # fmt: skip
    events = scene.events.between(30_000, 60_000)
    result = evcrisp.estimate(evcrisp.Window(events, 30_000, 60_000))
    html = result._repr_html_()
    n = len(result.layers)
    assert n >= 2
    assert re.search(rf">layers</td><td [^>]*>{n}</td>", html)
    for layer in result.layers[:4]:
        vx, vy = layer.velocity
        assert f"({vx:.4g}, {vy:.4g}) px/s, {len(layer):,} events" in html
    picture = pictures(html)[2]
    palette = layer_palette("#ffffff")
    slots = layer_slots([layer.id for layer in result.layers])
    for k, slot in enumerate(slots):
        seen = (picture == rgb(palette.colors[slot])).all(axis=2)
        chosen = result.layer == k
        expected = np.zeros(seen.shape, bool)
        expected[events.y[chosen], events.x[chosen]] = True
        assert not (seen & ~expected).any()
        assert seen.sum() > 0.8 * expected.sum()
    assert (picture == rgb(palette.noise)).all(axis=2).any()
    assert len(html) < 100_000


def test_many_layers_are_summed_up():
    """Only the largest layers have a line."""
    x = np.arange(60)
    events = Events(x=x, y=x // 2, t=x, p=x > 9, resolution=(60, 30))
    parts = tuple(
        LayerMotion(motion=motion_model("translation", (60, 30)), theta=np.array([k, 1.0]), id=k)
        for k in range(6)
    )
    result = replace(
        evcrisp.estimate(events, motion="translation"),
        signal=np.ones(60, bool),
        layer=(x // 10).astype(np.int16),
        layer_motions=parts,
        layer_map=LayerMap(np.zeros((1, 4, 8), np.int16), 8),
    )
    html = result._repr_html_()
    assert ">6</td>" in html
    assert "layer 3" in html
    assert "layer 4" not in html
    assert "other layers" in html
    assert ">20 events</td>" in html


def test_estimate_of_no_events_shows_its_status():
    html = evcrisp.estimate(Events.empty((8, 4)))._repr_html_()
    assert "too few events" in html
    assert len(pictures(html)) == 2


@pytest.mark.parametrize("n_events", [0, 6_000])
def test_pareto_front_shows_points_and_confidence(n_events):
    scene = evcrisp.simulate(
        resolution=(64, 48), theta=(300.0, 0.0), duration_us=30_000, noise_hz=5.0, seed=1
    )
    window = as_window(scene.events[:n_events])
    front = pareto_front(window, motion_model("translation", (64, 48)), n_points=5)
    html = front._repr_html_()
    assert f"{len(front)}; the regret selects {front.regret_index}" in html
    assert f"{int(front.regret.signal.sum()):,} of {len(window.events):,} events" in html
    assert front.status.value in html
    drawn, w_map = pictures(html)
    assert (drawn == RED).all(axis=2).sum() == 25
    n_others = (drawn == BLUE).all(axis=2).sum() / 25
    assert n_others <= len(front) - 1
    assert n_events == 0 or n_others > 1
    assert w_map.shape == front.w_map(front.regret_index).shape


def test_text_is_escaped():
    html = html_table([("<script>", "a & b")], header=("<b>",), caption="<i>")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html
    assert "&lt;b&gt;" in html
    assert "&lt;i&gt;" in html


def test_thumbnail_ignores_events_outside():
    x, y = [-1.0, 2.4, 8.6, np.nan, np.inf], [0.0, 1.0, 1.0, 1.0, 1.0]
    picture = thumbnail(x, y, np.ones(5), (8, 4))
    assert (picture != 255).any(axis=2).sum() == 1
    assert tuple(picture[1, 2]) == RED


def test_result_table_marks_the_best_value():
    from evcrisp.experiments.tables.table import Cell, Column, Row, Table

    column = Column(key="esr", label="ESR <day>")
    rows = tuple(
        Row(key=name, label=name, family="ours", cells={"esr": Cell(value)})
        for name, value in (("auto", 1.25), ("baf", 1.0))
    )
    html = Table(name="table1", title="E-MLB", columns=(column,), rows=rows)._repr_html_()
    assert "ESR &lt;day&gt;" in html
    assert "<b>1.250</b>" in html
    assert html.count("<tr>") == 4
