"""Write the table in ``filters.md`` from the filters themselves: python docs/scripts/make_filters.py."""

import inspect
import re
from pathlib import Path

from evcrisp.filters import FILTERS

PAGE = Path(__file__).parents[1] / "guide" / "filters.md"
START, END = "<!-- table: python docs/scripts/make_filters.py -->\n", "<!-- end of table -->"

HEAD = """| name | parameters and defaults | cost per event | memory | source | presets | guessed |
|---|---|---|---|---|---|---|
"""


def row(kind) -> str:
    """Return the line of one filter."""
    parameters = ", ".join(
        f"`{name}={parameter.default}`"
        for name, parameter in inspect.signature(kind).parameters.items()
    )
    cells = (
        f"`{kind.name}`",
        parameters,
        kind.about.cost,
        kind.about.memory,
        kind.about.source,
        ", ".join(f"`{preset}`" for preset in kind.presets),
        kind.about.reconstruction,
    )
    return "| " + " | ".join(cells) + " |\n"


def page() -> str:
    """Return the page with the table of today."""
    table = START + HEAD + "".join(map(row, FILTERS.values())) + END
    return re.sub(
        f"{re.escape(START)}.*{re.escape(END)}", lambda _: table, PAGE.read_text(), flags=re.S
    )


if __name__ == "__main__":
    PAGE.write_text(page())
