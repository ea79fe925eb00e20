"""Color palettes for events, by name."""

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
