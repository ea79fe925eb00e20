"""Write the table of ``filters.md`` from the filters: python docs/scripts/make_filters.py."""

import inspect
import re
from pathlib import Path

from evcrisp.filters import FILTERS
from evcrisp.filters.protocol import about, presets

PAGE = Path(__file__).parents[1] / "guide" / "filters.md"
START, END = "<!-- table: python docs/scripts/make_filters.py -->\n", "<!-- end of table -->"

HEAD = """| name | parameters and defaults | cost per event | memory | source | presets | reconstructed |
|---|---|---|---|---|---|---|
"""


def row(kind) -> str:
    """Return the table row of a filter."""
    parameters = ", ".join(
        f"`{name}={parameter.default}`"
        for name, parameter in inspect.signature(kind).parameters.items()
    )
    cells = (
        f"`{kind.name}`",
        parameters,
        about(kind).cost,
        about(kind).memory,
        about(kind).source,
        ", ".join(_marked(preset, kind) for preset in presets(kind)),
        about(kind).reconstruction,
    )
    return "| " + " | ".join(cells) + " |\n"


def _marked(preset: str, kind) -> str:
    """Return a preset; a mark tells that it was compared with the program."""
    return f"`{preset}`{' =' if preset in about(kind).compared else ''}"


def page() -> str:
    """Return the page with an up-to-date table."""
    table = START + HEAD + "".join(map(row, FILTERS.values())) + END
    return re.sub(
        f"{re.escape(START)}.*{re.escape(END)}", lambda _: table, PAGE.read_text(), flags=re.S
    )


if __name__ == "__main__":
    PAGE.write_text(page())
