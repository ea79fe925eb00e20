"""Write the report: one self-contained HTML file with tables, figures, settings and times."""

import base64
import html
import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import evcrisp
from evcrisp.core.messages import counted
from evcrisp.experiments.code_digest import attributes_of
from evcrisp.experiments.datasets.sample import read_true_labels
from evcrisp.experiments.figures import Figure, first_events
from evcrisp.experiments.reproduction import Reproduction
from evcrisp.experiments.tables import Options
from evcrisp.experiments.tables.formats import as_html
from evcrisp.io.atomic_output import replacing
from evcrisp.viewer.export import ExportOptions, export_html

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 0.8em 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.6em; border-bottom: 1px solid #ddd; text-align: right; }
tr > th:first-child { text-align: left; font-weight: normal; }
tr > th[colspan] { text-align: center; }
img { max-width: 100%; } ul { color: #555; } pre { background: #f6f6f6; padding: 0.8em; overflow: auto; }
iframe { width: min(1400px, 96vw); height: 860px; margin-left: calc(50% - min(700px, 48vw)); border: 1px solid #ddd; }
"""

#: Packages whose versions affect numbers or times.
_PACKAGES = ("numpy", "numba", "lz4", "torch", "distributed", "optuna")


def write_report(
    path: Path,
    parts: Sequence[Reproduction],
    options: Options,
    figures: Sequence[Figure] = (),
    page: str = "",
) -> None:
    """Write the report of several tables, replacing an older one.

    Figures are embedded as PNG, and ``page``, the viewer page of a recording, as a frame.
    """
    body = ["<h1>The paper's tables, made by evcrisp</h1>", _summary(parts)]
    for part in parts:
        body += [f"<h2>{html.escape(part.name)}</h2>", as_html(part.tables), _failures(part)]
    body += ["<h2>Figures</h2>", *(_figure(figure) for figure in figures)]
    if not figures:
        body += ["<p>None: they need the extra <code>plot</code> and readable recordings.</p>"]
    if page:
        frame = '<iframe title="Viewer" loading="lazy" sandbox="allow-scripts" '
        body += ["<h2>See a recording</h2>", f'{frame}srcdoc="{html.escape(page)}"></iframe>']
    configs = {p.name: {task.method.key: task.method.config() for task in p.tasks} for p in parts}
    body += ["<h2>Times</h2>", _times(parts)]
    body += [
        "<h2>Settings</h2>",
        _listing(attributes_of(options)),
        "<details><summary>All parameters of all methods</summary>",
        _listing(configs),
        "</details>",
        "<h2>Versions</h2>",
        _listing(versions()),
    ]
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>evcrisp report</title>'
        f"<style>{_STYLE}</style></head><body>\n{chr(10).join(body)}\n</body></html>\n"
    )
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(page, encoding="utf-8")


def versions() -> dict[str, str]:
    """Return the versions of packages that affect numbers or times."""
    found = {"evcrisp": evcrisp.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {**found, "machine": f"{platform.system()} {platform.machine()}"}


def _summary(parts: Sequence[Reproduction]) -> str:
    n_tasks = sum(len(part.tasks) for part in parts)
    n_failed = sum(len(part.outcome.failures) for part in parts)
    elapsed = sum(part.outcome.elapsed_s() for part in parts)
    return (
        f"<p>{counted(n_tasks, 'task')} (one recording with one method each), {n_failed} failed; "
        f"{elapsed:.1f} s of work. Ours first, the paper's numbers in parentheses; the best of a "
        "column is bold, the second best underlined.</p>"
    )


def _failures(part: Reproduction) -> str:
    if not part.outcome.failures:
        return ""
    lines = "".join(f"<li>{html.escape(failure)}</li>" for failure in part.outcome.failures)
    return f"<p>Failed:</p><ul>{lines}</ul>"


def _figure(figure: Figure) -> str:
    data = base64.b64encode(figure.png).decode()
    title = html.escape(figure.title)
    return f'<figure><img alt="{title}" src="data:image/png;base64,{data}"><figcaption>{title}</figcaption></figure>'


def _times(parts: Sequence[Reproduction]) -> str:
    """Return a table of the times per method: total, and median per recording."""
    rows = []
    for part in parts:
        times: dict[str, list[float]] = {}
        for task, result in part.done():
            times.setdefault(task.method.label, []).append(result["elapsed_s"])
        rows += [
            f"<tr><th>{part.name}: {html.escape(label)}</th><td>{len(values)}</td>"
            f"<td>{sum(values):.2f}</td><td>{np.median(values):.3f}</td></tr>"
            for label, values in times.items()
        ]
    head = "<tr><th></th><th>tasks</th><th>total s</th><th>median s</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _listing(facts: Mapping[str, object]) -> str:
    return f"<pre>{html.escape(json.dumps(facts, indent=2, default=str))}</pre>"


#: Number of events in the viewer page, which bounds its size.
N_EVENTS = 60_000

#: Number of windows in the viewer page, and their longest duration, us.
N_WINDOWS, MAX_WINDOW_US = 4, 30_000


def report_page(parts: Sequence[Reproduction]) -> str:
    """Return the viewer page of the last recording of the first table, or ""."""
    clips = next(filter(None, (part.clips() for part in parts)), None)
    if clips is None:
        return ""
    clip = clips[-1]
    events, truth = first_events(clip, N_EVENTS), read_true_labels(clip.path)
    if truth is not None:
        events = events.with_signal(truth[: len(events)])
    window_us = min(MAX_WINDOW_US, max(1000, events.duration_us // N_WINDOWS // 1000 * 1000))
    options = ExportOptions(
        window_us=window_us, n_windows=N_WINDOWS, methods=("auto", "exact"), filters=("baf",)
    )
    return export_html(events, options, name=clip.name)
