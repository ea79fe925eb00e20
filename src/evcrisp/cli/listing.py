"""Lists of parts with their parameters, as wide as the terminal."""

import shutil
import textwrap
from collections.abc import Iterable, Mapping

#: Narrower than this, words hardly fit.
_LEAST_COLUMNS = 40


def entry(title: str, lines: Iterable[str]) -> str:
    """Return a title and indented lines below it, each wrapped."""
    width = max(shutil.get_terminal_size().columns, _LEAST_COLUMNS)
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
