"""Figures of layers and flow, and of motions whose model changes."""

from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Flow
from evcrisp.core.doubt import Doubt
from evcrisp.core.palettes import LAYER_PALETTES, PALETTES, layer_slots, rgb
from evcrisp.plots import draw_flow, draw_layers, figure
from evcrisp.plots.curves import motion_table
from evcrisp.plots.style import new_figure

pytestmark = pytest.mark.slow


def axes_of(estimate, **options):
    return draw_layers(new_figure(4.0, 3.0).subplots(), estimate, **options)


def shown_image(axes):
    return np.rint(255.0 * np.asarray(axes.images[0].get_array())).astype(int)


@pytest.mark.parametrize("colors", PALETTES)
def test_events_have_the_colors_of_their_layers_and_noise_is_gray(many, colors):
    palette = LAYER_PALETTES[PALETTES[colors].ground]
    events, image = many.window.events, shown_image(axes_of(many, colors=colors))
    slots = layer_slots([layer.id for layer in many.layers])
    assert len(set(slots)) == len(many.layers) == 2
    expected = np.full((*events.image_shape, 3), rgb(palette.ground))
    for wanted in (False, True):  # signal is drawn over noise
        for k in np.flatnonzero(many.signal == wanted):
            color = palette.colors[slots[many.layer[k]]] if wanted else palette.noise
            expected[events.y[k], events.x[k]] = rgb(color)
    np.testing.assert_array_equal(image, expected)


def test_boxes_numbers_and_velocities_are_those_of_the_layers(many):
    axes = axes_of(many)
    boxes = [(*patch.get_xy(), patch.get_width(), patch.get_height()) for patch in axes.patches]
    moved = [(left - 0.5, top - 0.5, w, h) for left, top, w, h in (x.box for x in many.layers)]
    assert boxes == moved
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    for layer, label in zip(many.layers, labels, strict=False):
        vx, vy = layer.velocity
        assert label == f"{layer.id}: ({vx:.0f}, {vy:.0f}) px/s, {len(layer):,} events"
    assert labels[-1] == f"noise: {(~many.signal).sum():,} events"
    # Arrows start in the boxes and point along the velocities.
    arrows = [note for note in axes.texts if note.get_text() == ""]
    for layer, note in zip(many.layers, arrows, strict=True):
        assert note.xyann == pytest.approx(layer.center)
        reach = np.subtract(note.xy, note.xyann)
        assert reach @ layer.velocity == pytest.approx(
            np.hypot(*reach) * np.hypot(*layer.velocity), rel=1e-6
        )


def test_a_window_with_one_motion_has_no_box(estimate):
    axes = axes_of(estimate)
    assert len(estimate.layers) == 1
    assert not axes.patches
    assert len(axes.get_legend().get_texts()) == 2


def test_window_without_events_is_drawn_as_layers():
    nothing = evcrisp.estimate(evcrisp.Events.empty((20, 10)))
    axes = axes_of(nothing)
    assert (shown_image(axes) == 255).all()
    assert axes.get_legend().get_texts()[-1].get_text() == "noise: 0 events"


@pytest.fixture
def quarters():
    """Return a flow to the right, down, left and up in the four quarters, and an unknown column."""
    velocity = np.zeros((8, 8, 2))
    velocity[:4, :4], velocity[:4, 4:] = (100.0, 0.0), (0.0, 100.0)
    velocity[4:, :4], velocity[4:, 4:] = (-50.0, 0.0), (0.0, -50.0)
    valid = np.ones((8, 8), bool)
    valid[:, 7] = False
    return Flow(velocity, valid, 0, 1000)


def test_hue_of_a_flow_is_its_direction_and_saturation_its_speed(quarters):
    image = shown_image(draw_flow(new_figure(3.0, 3.0).subplots(), quarters, top=100.0))
    assert image[0, 0].tolist() == [255, 0, 0]  # right
    assert image[0, 4].tolist() == [128, 255, 0]  # down, a quarter of the circle
    assert image[7, 0].tolist() == [128, 255, 255]  # left, half of the speed
    assert image[7, 4].tolist() == [191, 128, 255]  # up
    assert (image[:, 7] == 255).all()


def test_color_wheel_has_the_colors_of_motions_from_its_middle(quarters):
    axes = draw_flow(new_figure(3.0, 3.0).subplots(), quarters, top=100.0)
    (key,) = axes.child_axes
    wheel = np.rint(255.0 * np.asarray(key.images[0].get_array())).astype(int)
    side = len(wheel)
    assert np.abs(wheel[side // 2, -1] - (255, 0, 0)).max() < 12
    assert np.abs(wheel[-1, side // 2] - (128, 255, 0)).max() < 12
    assert np.abs(wheel[side // 2, 0] - (0, 255, 255)).max() < 12
    assert (wheel[side // 2, side // 2] > 240).all()
    assert "100 px/s" in axes.texts[-1].get_text()


def test_arrows_point_along_the_flow_and_skip_unknown_pixels(quarters):
    from matplotlib.quiver import Quiver

    axes = draw_flow(new_figure(3.0, 3.0).subplots(), quarters, style="arrows", top=80.0)
    (arrows,) = (part for part in axes.collections if isinstance(part, Quiver))
    found = {
        tuple(place): (u, v) for place, u, v in zip(arrows.XY, arrows.U, arrows.V, strict=True)
    }
    assert found[2, 2] == pytest.approx((80.0, 0.0))  # cut to the length of the key
    assert found[6, 2] == pytest.approx((0.0, 80.0))
    assert found[2, 6] == pytest.approx((-50.0, 0.0))
    assert axes.yaxis_inverted()  # y points down, and so do arrows


def test_flow_without_known_pixels_is_drawn():
    nothing = Flow(np.zeros((6, 8, 2)), np.zeros((6, 8), bool), 0, 1)
    assert (shown_image(draw_flow(new_figure(3.0, 3.0).subplots(), nothing)) == 255).all()
    draw_flow(new_figure(3.0, 3.0).subplots(), nothing, style="arrows").figure.canvas.draw()


def test_unknown_style_of_a_flow_raises(quarters):
    with pytest.raises(ConfigError, match="`style` must be a way to draw"):
        draw_flow(new_figure(3.0, 3.0).subplots(), quarters, style="smoke")


def test_motion_figure_of_windows_with_several_models_has_one_table(many, estimate):
    turned = evcrisp.estimate(estimate.window, motion="similarity")
    model, table = motion_table([estimate, turned, many])
    assert model.param_names == ("vx", "vy", "a11", "a12", "a21", "a22")
    np.testing.assert_allclose(table[0, :2], estimate.theta)
    np.testing.assert_allclose(table[0, 2:], 0.0, atol=1e-6)
    np.testing.assert_allclose(table[1, 3:5], (-turned["w"], turned["w"]), rtol=1e-3)
    assert len(figure("motion", estimates=[estimate, turned, many]).axes) == 6


def test_motion_figure_has_a_gap_where_there_is_no_motion(estimate, many):
    nothing = replace(estimate, status=evcrisp.Status.FLAT)
    _, table = motion_table([estimate, nothing, many])
    assert np.isnan(table).all(axis=1).tolist() == [False, True, False]
    # A fixed model is drawn as it is.
    model, table = motion_table([estimate, nothing])
    assert model is estimate.motion
    np.testing.assert_array_equal(table, [estimate.theta] * 2)


def test_motion_figure_has_a_line_for_every_layer(many):
    made = figure("motion", estimates=[many, many])
    for k in range(2):
        lines = {line.get_label(): line.get_ydata() for line in made.axes[k].lines}
        for layer in many.layers:
            np.testing.assert_allclose(lines[f"layer {layer.id}"], layer.velocity[k])
    assert not any("layer" in str(line.get_label()) for line in made.axes[2].lines)


def test_motion_figure_has_layers_only_where_there_are_several(many, estimate):
    made = figure("motion", estimates=[estimate, many, estimate])
    lines = {line.get_label(): line.get_ydata() for line in made.axes[0].lines}
    for layer in many.layers:
        values = lines[f"layer {layer.id}"]
        assert np.isnan(values).tolist() == [True, False, True]
        assert values[1] == pytest.approx(layer.velocity[0])


def test_doubtful_windows_do_not_widen_the_motion_figure(estimate):
    sure = replace(estimate, doubts=())
    wild = replace(estimate, theta=np.array([90_000.0, -70_000.0]), doubts=(Doubt.CHANCE,))
    made = figure("motion", estimates=[sure, wild, sure])
    for k, axes in enumerate(made.axes):
        lines = {line.get_label(): line for line in axes.lines}
        shown, cross = lines["estimated"], lines["doubtful"]
        assert shown.get_markevery() == [0, 2]
        np.testing.assert_array_equal(shown.get_ydata()[[0, 2]], estimate.theta[k])
        low, high = axes.get_ylim()
        assert abs(high) + abs(low) < 10 * abs(estimate.theta[k])
        assert low <= cross.get_ydata()[0] <= high
        others = [line.get_zorder() for line in axes.lines if line is not cross]
        assert cross.get_zorder() > max(others)


def test_doubtful_layers_have_crosses_above_their_marks(many):
    doubtful = replace(many.layer_motions[0], doubts=(Doubt.CHANCE,))
    changed = replace(many, layer_motions=(doubtful, *many.layer_motions[1:]), doubts=())
    assert [bool(layer.doubts) for layer in changed.layers] == [True, False]
    made = figure("motion", estimates=[changed, changed])
    crosses = [line for line in made.axes[0].lines if line.get_marker() == "x"]
    (shown,) = (line.get_ydata() for line in crosses)
    np.testing.assert_allclose(shown, changed.layers[0].velocity[0])
