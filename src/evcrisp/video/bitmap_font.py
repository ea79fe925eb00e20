"""Bitmap font with the letters of video titles, independent of installed fonts."""

import numpy as np

from evcrisp.core.types import Bools

HEIGHT = 8
_WIDTH = 5

LETTERS = "adegilnorsw0123456789.- "

_ROWS = (
    #   a     d     e     g     i     l     n     o     r     s     w
    "..... ....# ..... ..... ..#.. .##.. ..... ..... ..... ..... ..... "
    ".###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###. ..... ..... .....",
    "..... ....# ..... ..... ..... ..#.. ..... ..... ..... ..... ..... "
    "#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...# ..... ..... .....",
    ".###. .#### .###. .#### .##.. ..#.. #.##. .###. #.##. .#### #...# "
    "#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# ..... ..... .....",
    "....# #...# #...# #...# ..#.. ..#.. ##..# #...# ##... #.... #...# "
    "#.#.# ..#.. ..##. ..##. #..#. ....# ####. ..#.. .###. .#### ..... .###. .....",
    ".#### #...# ##### #...# ..#.. ..#.. #...# #...# #.... .###. #.#.# "
    "##..# ..#.. .#... ....# ##### ....# #...# .#... #...# ....# ..... ..... .....",
    "#...# #...# #.... .#### ..#.. ..#.. #...# #...# #.... ....# #.#.# "
    "#...# ..#.. #.... #...# ...#. #...# #...# .#... #...# ...#. ..... ..... .....",
    ".#### .#### .###. ....# .###. .###. #...# .###. #.... ####. .#.#. "
    ".###. .###. ##### .###. ...#. .###. .###. .#... .###. .##.. ..#.. ..... .....",
    "..... ..... ..... .###. ..... ..... ..... ..... ..... ..... ..... "
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
)

_CELLS = [row.split() for row in _ROWS]
_GLYPHS = {
    letter: np.array([[dot == "#" for dot in cells[k]] for cells in _CELLS])
    for k, letter in enumerate(LETTERS)
}
_BLANK = np.zeros((HEIGHT, _WIDTH), np.bool_)


def text_mask(text: str) -> Bools:
    """Return the mask of a line of text, shape (HEIGHT, n); other letters are blank.

    Examples
    --------
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
