"""Build the page of the viewer, for the server or as one file.

JavaScript modules import each other by names such as ``evcrisp/drawing/colors``. An import map
resolves these names: to addresses of the server, or to data URLs in a page without server.
"""

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

#: Media types of the files that the server sends; other files are not sent.
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}


#: Folder of the page of live events, which is no part of the viewer's page.
_LIVE = "live/"


@lru_cache(maxsize=1)
def static_files() -> dict[str, bytes]:
    """Return the files of the page by their path, such as ``drawing/colors.js``."""
    return dict(sorted(_walk(resources.files("evcrisp.viewer") / "static", "")))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith((".html", *MEDIA_TYPES)):
            yield f"{prefix}{entry.name}", entry.read_bytes()


def _modules() -> dict[str, bytes]:
    files = ((name, data) for name, data in static_files().items() if not name.startswith(_LIVE))
    return {name.removesuffix(".js"): data for name, data in files if name.endswith(".js")}


def live_page(settings: Mapping[str, Any], nonce: str) -> str:
    """Return the page that loads its data from the server."""
    return _fill_template(
        {**settings, "live": True},
        style='<link rel="stylesheet" href="./static/style.css">',
        imports={f"evcrisp/{name}": f"./static/{name}.js" for name in _modules()},
        nonce=f' nonce="{nonce}"',
    )


def fill_live_page(title: str, nonce: str) -> str:
    """Return the page of live events."""
    page = static_files()[f"{_LIVE}page.html"].decode()
    return page.replace("{{title}}", html.escape(title)).replace("{{nonce}}", html.escape(nonce))


def live_policy(nonce: str) -> str:
    """Return the Content-Security-Policy of the live page: only files of the server."""
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; "
        "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def static_page(settings: Mapping[str, Any], blobs: Mapping[str, str]) -> str:
    """Return the page with all its data, compressed; its Content-Security-Policy forbids every request."""
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    imports = {
        f"evcrisp/{name}": "data:text/javascript;base64," + base64.b64encode(data).decode()
        for name, data in _modules().items()
    }
    scripts = "\n".join(
        f'<script type="text/plain" id="{name}">{data}</script>' for name, data in blobs.items()
    )
    return _fill_template(
        {**settings, "live": False},
        policy=f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        style=f"<style>{static_files()['style.css'].decode()}</style>",
        imports=imports,
        blobs=scripts,
    )


def _script_json(value: Any) -> str:
    """Return JSON without characters that could end the surrounding script element."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fill_template(settings: Mapping[str, Any], imports: Mapping[str, str], **texts: str) -> str:
    parts = {
        "policy": "",
        "nonce": "",
        "blobs": "",
        "title": html.escape(str(settings["name"])),
        "imports": _script_json({"imports": imports}),
        "settings": _script_json(settings),
        **texts,
    }
    # One pass: a placeholder inside an inserted text must not be replaced.
    template = static_files()["page.html"].decode()
    return re.sub(r"\{\{(.*?)\}\}", lambda place: parts[place[1]], template)
