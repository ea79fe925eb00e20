"""Colors of layers and velocities are distinct, also with color blindness."""

import re
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evcrisp.core.flow_colors import flow_rgb
from evcrisp.core.palettes import (
    LAYER_PALETTES,
    N_LAYER_COLORS,
    PALETTES,
    layer_palette,
    layer_slots,
    rgb,
)

#: Linear RGB as seen without red, green and blue cones: Machado, Oliveira and Fernandes, "A
#: physiologically-based model for simulation of color vision deficiency", 2009, severity 1.
VISIONS = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def oklab(linear):
    """Return lightness and two color axes: Ottosson, "A perceptual color space", 2020."""
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    axes = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return np.cbrt(np.clip(linear, 0.0, 1.0) @ cones.T) @ axes.T


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("ground", LAYER_PALETTES)
def test_layers_noise_and_ground_differ_for_every_kind_of_color_vision(ground, vision):
    palette = LAYER_PALETTES[ground]
    share = np.array([rgb(color) for color in (*palette.colors, palette.noise, ground)]) / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = oklab(linear @ np.transpose(VISIONS[vision]))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
    layers = apart[:N_LAYER_COLORS]  # noise may be close to the ground
    assert layers[~np.eye(N_LAYER_COLORS, len(seen), dtype=bool)].min() > 0.1
    assert apart[-1, -2] > 0.06


def test_every_palette_has_colors_of_layers_for_its_ground():
    for palette in PALETTES.values():
        assert layer_palette(palette.ground).ground == palette.ground
        assert len(layer_palette(palette.ground).colors) == N_LAYER_COLORS


def test_viewer_has_the_same_colors_of_layers():
    text = (resources.files("evcrisp.viewer") / "static/drawing/colors.js").read_text()
    for palette in LAYER_PALETTES.values():
        colors = ", ".join(f'"{color}"' for color in palette.colors)
        assert re.search(
            rf'"{palette.ground}": \{{ noise: "{palette.noise}", colors: \[{colors}\]', text
        )


@given(st.sets(st.integers(0, 200), max_size=N_LAYER_COLORS))
def test_layers_of_a_window_have_different_colors(ids):
    slots = layer_slots(list(ids))
    assert len(set(slots)) == len(ids)
    assert all(0 <= slot < N_LAYER_COLORS for slot in slots)
    assert layer_slots(list(ids)[::-1]) == slots[::-1]


@given(st.sets(st.integers(0, 40), min_size=1, max_size=N_LAYER_COLORS))
def test_a_new_layer_does_not_change_the_colors_of_older_ones(ids):
    known = sorted(ids)
    assert layer_slots([*known, 41])[:-1] == layer_slots(known)


def test_more_layers_than_colors_are_accepted():
    slots = layer_slots(list(range(25)))
    assert slots[:N_LAYER_COLORS] == list(range(N_LAYER_COLORS))
    assert max(slots) < N_LAYER_COLORS


@given(st.floats(-np.pi, np.pi), st.floats(0.05, 1.0))
def test_opposite_motions_have_complementary_colors(angle, speed):
    velocity = speed * np.array([np.cos(angle), np.sin(angle)])
    one, other = (flow_rgb(v, 1.0).astype(int) for v in (velocity, -velocity))
    assert np.ptp(one + other) <= 3
    assert np.ptp(one) == pytest.approx(255 * speed, abs=2)
