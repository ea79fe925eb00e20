"""Color palettes for events, by name."""

from dataclasses import dataclass

Rgb = tuple[int, int, int]


def rgb(code: str) -> Rgb:
    """Return the red, green and blue of ``#rrggbb``, each 0 to 255.

    Examples
    --------
    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Colors of a figure or video, as ``#rrggbb``."""

    ground: str
    on: str
    off: str
    signal: str
    noise: str


#: Palettes by name; the viewer uses the same names.
PALETTES: dict[str, Palette] = {
    "red-blue": Palette(
        ground="#ffffff", on="#d61a29", off="#2152b8", signal="#0f8a4b", noise="#d81b9a"
    ),
    "white-black": Palette(
        ground="#808080", on="#ffffff", off="#000000", signal="#ffffff", noise="#d0006f"
    ),
    # Colors of Okabe and Ito, distinct for all types of color vision.
    "safe": Palette(
        ground="#ffffff", on="#d55e00", off="#0072b2", signal="#0072b2", noise="#e69f00"
    ),
    "dark": Palette(
        ground="#0b0e13", on="#ff5a52", off="#4aa3ff", signal="#3ddc84", noise="#e645c0"
    ),
}
