"""The few letters that videos need, drawn by hand, so that no font has to be found."""

import numpy as np
from numpy.typing import NDArray

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


def text_mask(text: str) -> NDArray[np.bool_]:
    """Return where a line of text is, shape (HEIGHT, n); letters that were not drawn are blank.

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
