"""Self-contained HTML pages of results: style, figures, facts, and how they were made."""

import base64
import html
import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import evcrisp
from evcrisp.io.atomic_output import replacing

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --pale: #595959; --line: #ddd; --box: #f6f6f6; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --pale: #a8a8a8; --line: #3c3c3c; --box: #222; --page: #151515; }
  figure img { filter: invert(0.915) hue-rotate(180deg); }
}
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em;
  color: var(--ink); background: var(--page); }
table { border-collapse: collapse; margin: 0.8em 0; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } .wide table { font-size: 13px; } .wide th, .wide td { padding: 0.2em 0.45em; }
th, td { padding: 0.2em 0.6em; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
tr > th:first-child { text-align: left; font-weight: normal; }
tr > th[colspan] { text-align: center; }
figure { margin: 1em 0; } figcaption { color: var(--pale); }
img { max-width: 100%; } ul { color: var(--pale); }
pre { background: var(--box); padding: 0.8em; overflow: auto; }
iframe { width: min(1400px, 96vw); height: 860px; margin-left: calc(50% - min(700px, 48vw));
  border: 1px solid var(--line); background: #fff; }
"""

#: Packages whose versions affect numbers or times.
_PACKAGES = ("numpy", "numba", "lz4", "torch", "distributed", "optuna")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as PNG, and what it shows."""

    title: str
    png: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How the numbers of a page were made."""

    command: str  # to make them again
    date: str  # UTC

    @classmethod
    def now(cls, command: str) -> "Provenance":
        """Return the command with the current time."""
        return cls(command=command, date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))


def write_page(path: Path, title: str, body: Sequence[str]) -> None:
    """Write a page, replacing an older one; ``body`` is HTML, the title is text."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{_STYLE}</style>'
    viewport = '<meta name="viewport" content="width=device-width">'
    content = chr(10).join(body)
    page = f'<!doctype html>\n<html lang="en"><head>{head}{viewport}</head><body>\n{content}\n</body></html>\n'
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(page, encoding="utf-8")


def provenance_html(made: Provenance) -> str:
    """Return command, date and version as HTML."""
    command = html.escape(made.command)
    return (
        f"<p>evcrisp {html.escape(evcrisp.__version__)}, {html.escape(made.date)}. Made by:</p>"
        f"<pre>{command}</pre>"
    )


def figure_html(figure: Figure) -> str:
    """Return an embedded figure with its caption."""
    data = base64.b64encode(figure.png).decode()
    title = html.escape(figure.title)
    image = f'<img alt="{title}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{title}</figcaption></figure>"


def facts_html(facts: Mapping[str, object]) -> str:
    """Return facts as indented JSON."""
    return f"<pre>{html.escape(json.dumps(facts, indent=2, default=str))}</pre>"


def list_html(lines: Sequence[str]) -> str:
    """Return lines of text as a list; empty without lines."""
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def folded_html(title: str, content: str) -> str:
    """Return HTML that is shown on demand."""
    return f"<details><summary>{html.escape(title)}</summary>{content}</details>"


def versions() -> dict[str, str]:
    """Return the versions of packages that affect numbers or times."""
    found = {"evcrisp": evcrisp.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {**found, "machine": f"{platform.system()} {platform.machine()}"}
