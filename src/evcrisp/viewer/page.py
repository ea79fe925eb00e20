"""The page: one HTML document, a few modules and a style sheet, from the package or in one file.

Modules import each other by bare names (``evcrisp/colors``), which an import map resolves: to the
server's addresses, or to the modules themselves as data in a page that stands alone.
"""

import base64
import gzip
import html
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

#: What the server gives out, and nothing else.
TYPES = {".js": "text/javascript", ".css": "text/css"}


@lru_cache(maxsize=1)
def static_files() -> dict[str, bytes]:
    """Return every file of the page by its name."""
    folder = resources.files("evcrisp.viewer") / "static"
    return {
        entry.name: entry.read_bytes()
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith((".html", *TYPES))
    }


def _modules() -> dict[str, bytes]:
    files = static_files().items()
    return {name.removesuffix(".js"): data for name, data in files if name.endswith(".js")}


def live_page(settings: Mapping[str, Any], nonce: str) -> str:
    """Return the page that asks the server."""
    imports = {f"evcrisp/{name}": f"./static/{name}.js" for name in _modules()}
    return _filled(
        title=str(settings["name"]),
        policy="",
        style='<link rel="stylesheet" href="./static/style.css">',
        imports=imports,
        nonce=nonce,
        settings={**settings, "live": True},
        blobs="",
    )


def live_policy(nonce: str) -> str:
    """Return what the page of the server may load: its own files."""
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; "
        "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def static_page(settings: Mapping[str, Any], blobs: Mapping[str, bytes]) -> str:
    """Return the page that holds its data; its own policy forbids every request."""
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    imports = {
        f"evcrisp/{name}": "data:text/javascript;base64," + base64.b64encode(data).decode()
        for name, data in _modules().items()
    }
    packed = "\n".join(
        f'<script type="text/plain" id="{name}">{_packed(data)}</script>'
        for name, data in blobs.items()
    )
    return _filled(
        title=str(settings["name"]),
        policy=f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        style=f"<style>{static_files()['style.css'].decode()}</style>",
        imports=imports,
        nonce="",
        settings={**settings, "live": False},
        blobs=packed,
    )


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def _script_json(value: Any) -> str:
    """Return JSON that cannot end the script element it stands in."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _filled(
    *,
    title: str,
    policy: str,
    style: str,
    imports: Mapping[str, str],
    nonce: str,
    settings: Mapping[str, Any],
    blobs: str,
) -> str:
    parts = {
        "title": html.escape(title),
        "policy": policy,
        "style": style,
        "imports": _script_json({"imports": imports}),
        "nonce": f' nonce="{nonce}"' if nonce else "",
        "settings": _script_json(settings),
        "blobs": blobs,
    }
    # One pass, so that what one part holds is never taken for the place of another.
    pieces = static_files()["page.html"].decode().split("{{")
    text = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        text += [parts[name], rest]
    return "".join(text)
