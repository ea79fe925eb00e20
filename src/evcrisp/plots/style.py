"""Common style of all figures, and saving."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evcrisp.core.errors import ConfigError
from evcrisp.core.palettes import PALETTES, Palette
from evcrisp.core.registry import lookup, require
from evcrisp.core.validation import check_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Picture formats, and metadata to leave out so that the same data give the same bytes.
_DATE_KEYS = {"png": ("Software",), "pdf": ("CreationDate", "Producer"), "svg": ("Date",)}

#: Colors of lines, by Okabe and Ito: distinct with every kind of color vision.
LINE_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d")

#: Dashes and markers of lines, so that they also differ in gray.
LINE_STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Limits of the height of a panel per width. Pixels of narrower sensors, such as lines, are stretched.
PANEL_ASPECTS = (0.2, 3.0)

INK = "#222222"
PALE = "#b8b8b8"

_SETTINGS: dict[str, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#777777",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "figure.dpi": 100.0,
    "pdf.fonttype": 42,  # embed fonts, so that text stays text
    "svg.hashsalt": "evcrisp",
}


def styled() -> Any:
    """Return a context with the common style."""
    matplotlib = require("matplotlib", extra="plot", purpose="Figures")
    return matplotlib.rc_context(_SETTINGS)


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, size in inches, outside of the global state of matplotlib."""
    require("matplotlib", extra="plot", purpose="Figures")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path, *, dpi: float = 150.0) -> None:
    """Save a figure as PNG, PDF or SVG by its suffix; the same figure gives the same bytes."""
    kind = picture_kind(path)
    check_number("dpi", dpi, 10.0, 2400.0)
    with styled():
        figure.savefig(path, dpi=dpi, format=kind, metadata=dict.fromkeys(_DATE_KEYS[kind]))


def picture_kind(path: Path) -> str:
    """Return "png", "pdf" or "svg" by the suffix, or raise."""
    kind = path.suffix[1:].lower()
    if kind not in _DATE_KEYS:
        raise ConfigError(f"A picture must end in .{', .'.join(_DATE_KEYS)}; got {path.name!r}.")
    return kind


def palette_of(name: str) -> Palette:
    """Return a palette by name."""
    return lookup(PALETTES, name, "palette")


def panel_aspect(shape: tuple[int, int]) -> float:
    """Return the height per width of a panel for a sensor of (rows, columns).

    >>> panel_aspect((180, 240)), panel_aspect((640, 1))
    (0.75, 3.0)
    """
    least, most = PANEL_ASPECTS
    return min(max(shape[0] / shape[1], least), most)


def pixel_aspect(shape: tuple[int, int]) -> Literal["equal", "auto"]:
    """Return whether pixels of a sensor of (rows, columns) are drawn as squares, for matplotlib."""
    return "equal" if panel_aspect(shape) == shape[0] / shape[1] else "auto"


def label_pixels(axes: "Axes", shape: tuple[int, int]) -> "Axes":
    """Set up axes as the sensor plane: x right, y down, px, all pixels visible."""
    axes.set(xlim=(-0.5, shape[1] - 0.5), ylim=(shape[0] - 0.5, -0.5), aspect=pixel_aspect(shape))
    axes.set(xlabel="x [px]", ylabel="y [px]")
    axes.spines[:].set_visible(True)
    return axes


def png_bytes(figure: "Figure", *, dpi: float = 150.0) -> bytes:
    """Return a figure as PNG; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    with styled():
        figure.savefig(buffer, dpi=dpi, format="png", metadata=dict.fromkeys(_DATE_KEYS["png"]))
    return buffer.getvalue()
