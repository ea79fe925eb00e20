"""The common look of all figures, and how they are saved."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evcrisp.core.errors import ConfigError
from evcrisp.core.palettes import PALETTES, Palette
from evcrisp.core.registry import lookup, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Kinds of pictures, and what to leave out of each so that the same data gives the same bytes.
_DATE_KEYS = {"png": ("Software",), "pdf": ("CreationDate", "Producer"), "svg": ("Date",)}

#: Okabe and Ito's colors, told apart with every kind of color vision; lines get them in order.
LINE_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d")

#: Dashes and markers beside the colors, so that lines are told apart in gray, too.
LINE_STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

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
    "pdf.fonttype": 42,  # letters stay text
    "svg.hashsalt": "evcrisp",
}


def styled() -> Any:
    """Return a context in which everything that is drawn has the common look."""
    matplotlib = require("matplotlib", extra="plot", purpose="Figures")
    return matplotlib.rc_context(_SETTINGS)


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, inches; it belongs to no window and no global state."""
    require("matplotlib", extra="plot", purpose="Figures")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path, *, dpi: float = 150.0) -> None:
    """Save a figure as PNG, PDF or SVG, by its suffix; the same figure gives the same bytes."""
    kind = picture_kind(path)
    if not 10.0 <= dpi <= 2400.0:
        raise ConfigError(f"`dpi` must lie in 10..2400; got {dpi}.")
    with styled():
        figure.savefig(path, dpi=dpi, format=kind, metadata=dict.fromkeys(_DATE_KEYS[kind]))


def picture_kind(path: Path) -> str:
    """Return "png", "pdf" or "svg" by the suffix, or raise."""
    kind = path.suffix[1:].lower()
    if kind not in _DATE_KEYS:
        raise ConfigError(f"A picture must end in .{', .'.join(_DATE_KEYS)}; got {path.name!r}.")
    return kind


def palette_of(name: str) -> Palette:
    """Return the colors of events by name."""
    return lookup(PALETTES, name, "palette")


def label_pixels(axes: "Axes", shape: tuple[int, int]) -> "Axes":
    """Turn axes into the sensor's plane: x right, y down, px, all pixels in view."""
    axes.set_xlim(-0.5, shape[1] - 0.5)
    axes.set_ylim(shape[0] - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xlabel("x [px]")
    axes.set_ylabel("y [px]")
    axes.spines[:].set_visible(True)
    return axes
