"""Color palettes for events, by name, and for layers."""

from collections.abc import Sequence
from dataclasses import dataclass

Rgb = tuple[int, int, int]


def rgb(code: str) -> Rgb:
    """Return the red, green and blue of ``#rrggbb``, each 0 to 255.

    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


@dataclass(frozen=True, slots=True)
class Palette:
    """Colors of a figure or video, as ``#rrggbb``."""

    ground: str
    on: str
    off: str
    signal: str
    noise: str


#: Palettes by name; the viewer uses the same names.
PALETTES: dict[str, Palette] = {
    "red-blue": Palette("#ffffff", "#d61a29", "#2152b8", "#0f8a4b", "#d81b9a"),
    "white-black": Palette("#808080", "#ffffff", "#000000", "#ffffff", "#d0006f"),
    # Colors of Okabe and Ito, distinct for all types of color vision.
    "safe": Palette("#ffffff", "#d55e00", "#0072b2", "#0072b2", "#e69f00"),
    "dark": Palette("#0b0e13", "#ff5a52", "#4aa3ff", "#3ddc84", "#e645c0"),
}


@dataclass(frozen=True, slots=True)
class LayerPalette:
    """Colors of layers, as ``#rrggbb``: neighbors in the list differ most."""

    ground: str
    noise: str
    colors: tuple[str, ...]


#: Number of colors of layers; with more layers, colors repeat, and numbers tell them apart.
N_LAYER_COLORS = 10

# Found by a random search for the largest of the smallest differences between any two colors, the
# ground and the color of noise, as seen with normal vision and without red, green or blue cones
# (matrices of Machado, Oliveira and Fernandes 2009). Smallest difference in Oklab: 0.11, five times
# what is just visible.
_LAYER_PALETTES = (
    LayerPalette(
        "#ffffff",
        "#bebebe",
        ("#0303cc", "#36ef5b", "#f676ff", "#790200", "#dd1673",
         "#9e35fe", "#1e83b0", "#601180", "#bf8412", "#556b00"),
    ),
    LayerPalette(
        "#0b0e13",
        "#5a6069",
        ("#12c7eb", "#aa1900", "#3748fe", "#ffff34", "#f56f83",
         "#9effe7", "#adc823", "#9b80ff", "#cf06b0", "#20a103"),
    ),
    LayerPalette(
        "#808080",
        "#a0a0a0",
        ("#f7f600", "#1e0067", "#1582ff", "#e43804", "#651501",
         "#80fff4", "#0c03e6", "#990094", "#fb94ff", "#41d20d"),
    ),
)  # fmt: skip

#: Colors of layers by the ground on which they are drawn, which is that of a palette.
LAYER_PALETTES = {palette.ground: palette for palette in _LAYER_PALETTES}


def layer_palette(ground: str) -> LayerPalette:
    """Return the colors of layers on the ground of a palette."""
    return LAYER_PALETTES[ground]


def layer_slots(ids: Sequence[int]) -> list[int]:
    """Return the place of the color of each layer of a window, by the numbers of the layers.

    A layer has the same color in all windows, unless an older layer of the window has it.

    >>> layer_slots([0, 3, 1]), layer_slots([13, 3])
    ([0, 3, 1], [4, 3])
    """
    slots: dict[int, int] = {}
    for number in sorted(ids):
        taken = set(slots.values())
        places = [(number + step) % N_LAYER_COLORS for step in range(N_LAYER_COLORS)]
        slots[number] = next((place for place in places if place not in taken), places[0])
    return [slots[number] for number in ids]
