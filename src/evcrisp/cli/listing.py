"""Format lists of parts and their parameters to the width of the terminal."""

import shutil
import textwrap
from collections.abc import Iterable, Mapping

#: Minimum width, columns; below it most words would not fit on a line.
_MIN_COLUMNS = 40


def entry(title: str, lines: Iterable[str]) -> str:
    """Return a title and indented lines below it, wrapped."""
    width = max(shutil.get_terminal_size().columns, _MIN_COLUMNS)
    parts = [_wrapped(title, width, ""), *(_wrapped(line, width, "    ") for line in lines)]
    return "\n".join(parts)


def parameters_line(parameters: Mapping[str, object]) -> str:
    """Return the parameters with their defaults, such as ``tau_us=5000``."""
    words = (f"{name}={_word(value)}" for name, value in parameters.items())
    return f"parameters: {' '.join(words) or 'none'}"


def _wrapped(text: str, width: int, indent: str) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
