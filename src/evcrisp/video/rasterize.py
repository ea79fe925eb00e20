"""Draw frames as palette indices: panes side by side under a line of titles."""

import numpy as np

from evcrisp.core.palettes import N_LAYER_COLORS, PALETTES, Palette, layer_palette, rgb
from evcrisp.core.types import Bools, Bytes, Floats
from evcrisp.video.config import PANES, FrameContent, LayerMark, VideoConfig

TEXT_HEIGHT = 8
_TEXT_WIDTH = 5

LETTERS = "adegilnorswy0123456789.- "

_ROWS = (
    #   a     d     e     g     i     l     n     o     r     s     w     y
    "..... ....# ..... ..... ..#.. .##.. ..... ..... ..... ..... ..... ..... "
    ".###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###. ..... ..... .....",
    "..... ....# ..... ..... ..... ..#.. ..... ..... ..... ..... ..... ..... "
    "#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...# ..... ..... .....",
    ".###. .#### .###. .#### .##.. ..#.. #.##. .###. #.##. .#### #...# #...# "
    "#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# ..... ..... .....",
    "....# #...# #...# #...# ..#.. ..#.. ##..# #...# ##... #.... #...# #...# "
    "#.#.# ..#.. ..##. ..##. #..#. ....# ####. ..#.. .###. .#### ..... .###. .....",
    ".#### #...# ##### #...# ..#.. ..#.. #...# #...# #.... .###. #.#.# #...# "
    "##..# ..#.. .#... ....# ##### ....# #...# .#... #...# ....# ..... ..... .....",
    "#...# #...# #.... .#### ..#.. ..#.. #...# #...# #.... ....# #.#.# .#### "
    "#...# ..#.. #.... #...# ...#. #...# #...# .#... #...# ...#. ..... ..... .....",
    ".#### .#### .###. ....# .###. .###. #...# .###. #.... ####. .#.#. ....# "
    ".###. .###. ##### .###. ...#. .###. .###. .#... .###. .##.. ..#.. ..... .....",
    "..... ..... ..... .###. ..... ..... ..... ..... ..... ..... ..... .###. "
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
)

_CELLS = [row.split() for row in _ROWS]
_GLYPHS = {
    letter: np.array([[dot == "#" for dot in cells[k]] for cells in _CELLS])
    for k, letter in enumerate(LETTERS)
}
_BLANK = np.zeros((TEXT_HEIGHT, _TEXT_WIDTH), np.bool_)


def text_mask(text: str) -> Bools:
    """Return the mask of a line of text, shape (TEXT_HEIGHT, n); other letters are blank.

    >>> for row in text_mask("1.5"):
    ...     print("".join("#" if dot else " " for dot in row).rstrip())
      #         #####
     ##         #
      #         ####
      #             #
      #             #
      #         #   #
     ###    #    ###
    <BLANKLINE>
    """
    spacing = _BLANK[:, :1]
    parts = [part for letter in text for part in (_GLYPHS.get(letter, _BLANK), spacing)]
    return np.concatenate(parts or [spacing], axis=1)


#: Shades of each kind of event: two tables of all pairs leave 14 of 256 colors for titles, gaps
#: and layers.
N_LEVELS = 11
_LABELS_BASE = N_LEVELS * N_LEVELS
BAR, TEXT, GAP = 2 * _LABELS_BASE, 2 * _LABELS_BASE + 1, 2 * _LABELS_BASE + 2
GROUND = 0  # no event of either kind
#: Noise in the pane of layers, followed by the colors of the layers.
LAYER_NOISE = GAP + 1

_GAP_PX = 4
_MARGIN_PX = 3
_BAR_PX = TEXT_HEIGHT + 2 * _MARGIN_PX


def color_table(palette: Palette) -> Bytes:
    """Return the colors of all indices, shape (256, 3): red, green, blue."""
    table = np.zeros((256, 3))
    pairs = ((0, palette.on, palette.off), (_LABELS_BASE, palette.signal, palette.noise))
    for base, first, second in pairs:
        table[base : base + N_LEVELS**2] = _mixtures(palette.ground, first, second)
    layers = layer_palette(palette.ground)
    shades = [rgb(color) for color in (layers.noise, *layers.colors)]
    table[LAYER_NOISE : LAYER_NOISE + 1 + N_LAYER_COLORS] = shades
    table[BAR], table[TEXT], table[GAP] = rgb("#20242b"), rgb("#ffffff"), rgb("#20242b")
    return np.rint(table).astype(np.uint8)


def _mixtures(ground: str, first: str, second: str) -> Floats:
    """Return the colors of every pair of levels, shape (N_LEVELS ** 2, 3)."""
    share = np.linspace(0.0, 1.0, N_LEVELS)
    a, b = (part.ravel()[:, None] for part in np.meshgrid(share, share, indexing="ij"))
    hue = (a * np.array(rgb(first)) + b * np.array(rgb(second))) / np.maximum(a + b, 1e-9)
    cover = 1.0 - (1.0 - a) * (1.0 - b)
    return (1.0 - cover) * np.array(rgb(ground)) + cover * hue


class Painter:
    """Draws frames of one size into one reused picture."""

    def __init__(self, config: VideoConfig, resolution: tuple[int, int]) -> None:
        width, height = resolution
        self.config = config
        self._panes = [PANES[name] for name in config.panes]
        self._top = _BAR_PX if config.titles else 0
        self._lefts = [k * (width + _GAP_PX) for k in range(len(self._panes))]
        total = self._lefts[-1] + width, self._top + height
        self.size = self._even(total[0]), self._even(total[1])
        config.check_size(*self.size)
        self._canvas = np.full((self._top + height, self._lefts[-1] + width), GAP, np.uint8)
        self._counts = np.zeros((2, height, width), np.uint8)
        shares = 1.0 - np.exp(-config.exposure * np.arange(256.0))
        # A single event is always visible.
        levels = np.maximum(np.rint((N_LEVELS - 1) * shares), np.arange(256) > 0)
        self._levels = levels.astype(np.uint8)
        self._picture = np.full((self.size[1], self.size[0]), GAP, np.uint8)
        self.table = color_table(PALETTES[config.colors])
        self._t_first: int | None = None

    def paint(self, shown: FrameContent) -> Bytes:
        """Return the frame as indices into the table, shape (size[1], size[0])."""
        from evcrisp.kernels.video.frames import count_dots, count_rounded, paint_counts

        first, second = self._counts
        for pane, left in zip(self._panes, self._lefts, strict=True):
            if pane.by_layer:
                self._paint_layers(shown, left)
                continue
            x, y, kind, keep = (np.ascontiguousarray(column) for column in pane.dots(shown))
            count = count_dots if x.dtype == np.uint16 else count_rounded
            count(x, y, kind, keep, first, second)
            base = _LABELS_BASE if pane.by_label else 0
            paint_counts(first, second, self._levels, N_LEVELS, base, self._canvas, self._top, left)
        if self.config.titles:
            self._write_titles(shown.t_start)
        return self._scaled()

    def _paint_layers(self, shown: FrameContent, left: int) -> None:
        """Draw events in the colors of their layers, signal over noise, and boxes with numbers."""
        height, width = self._counts.shape[1:]
        plane = self._canvas[self._top : self._top + height, left : left + width]
        plane[:] = GROUND
        events = shown.events
        slot = shown.signal.astype(np.int16) - 1 if shown.slot is None else shown.slot
        for chosen in (slot < 0, slot >= 0):
            # The color of noise comes before that of the first layer.
            plane[events.y[chosen], events.x[chosen]] = LAYER_NOISE + 1 + slot[chosen]
        for mark in shown.marks:
            _draw_box(plane, mark)

    def _even(self, side: int) -> int:
        """Return the side of the scaled picture, rounded up to an even number (4:2:0 color)."""
        scaled = side * self.config.scale
        return scaled + scaled % 2

    def _scaled(self) -> Bytes:
        scale, (height, width) = self.config.scale, self._canvas.shape
        for k in range(scale * scale):
            row, column = divmod(k, scale)
            self._picture[row : height * scale : scale, column : width * scale : scale] = (
                self._canvas
            )
        return self._picture

    def _write_titles(self, t_start: int) -> None:
        self._t_first = t_start if self._t_first is None else self._t_first
        self._canvas[: self._top] = BAR
        for pane, left in zip(self._panes, self._lefts, strict=True):
            self._write_mask(text_mask(pane.title), left + _MARGIN_PX)
        time = text_mask(f"{(t_start - self._t_first) / 1e6:.3f} s")
        self._write_mask(time, self._canvas.shape[1] - time.shape[1] - _MARGIN_PX)

    def _write_mask(self, mask: Bools, left: int) -> None:
        left = max(left, 0)
        line = self._canvas[_MARGIN_PX : _MARGIN_PX + TEXT_HEIGHT, left : left + mask.shape[1]]
        line[:] = np.where(mask[:, : line.shape[1]], TEXT, BAR)


def _draw_box(plane: Bytes, mark: LayerMark) -> None:
    """Draw the border of a box, cut at the sensor, and the number of the layer inside its corner."""
    height, width = plane.shape
    left, top, box_width, box_height = mark.box
    x, y = np.rint((left, left + box_width - 1.0)), np.rint((top, top + box_height - 1.0))
    if x[1] < max(x[0], 0) or y[1] < max(y[0], 0) or x[0] >= width or y[0] >= height:
        return
    x = np.clip(x, 0, width - 1).astype(np.intp)
    y = np.clip(y, 0, height - 1).astype(np.intp)
    index = LAYER_NOISE + 1 + mark.slot
    plane[y, x[0] : x[1] + 1] = index
    plane[y[0] : y[1] + 1, x] = index
    mask = text_mask(str(mark.id))
    inside = plane[y[0] + 2 : y[1], x[0] + 2 : x[1]]
    corner = inside[:TEXT_HEIGHT, : mask.shape[1]]
    corner[:] = np.where(mask[: corner.shape[0], : corner.shape[1]], index, GROUND)
