"""Write the report: one self-contained HTML file with tables, figures, settings and times."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evcrisp.core.messages import counted
from evcrisp.experiments.datasets.sample import read_true_labels
from evcrisp.experiments.figures import first_events
from evcrisp.experiments.page import (
    Figure,
    Provenance,
    facts_html,
    figure_html,
    folded_html,
    list_html,
    provenance_html,
    versions,
    write_page,
)
from evcrisp.experiments.reproduction import Reproduction
from evcrisp.experiments.tables.formats import as_html
from evcrisp.viewer.export import ExportOptions, export_html


def write_report(
    path: Path,
    parts: Sequence[Reproduction],
    figures: Sequence[Figure] = (),
    page: str = "",
    *,
    made: Provenance | None = None,
) -> None:
    """Write the report of several tables, replacing an older one.

    Figures are embedded as PNG, and ``page``, the viewer page of a recording, as a frame.
    """
    made = Provenance.now("evcrisp reproduce all") if made is None else made
    body = ["<h1>The paper's tables, made by evcrisp</h1>", provenance_html(made), _summary(parts)]
    for part in parts:
        tables = f'<div class="wide">{as_html(part.tables)}</div>'
        body += [f"<h2>{html.escape(part.title)}</h2>", tables, _failures(part)]
    body += ["<h2>Figures</h2>", *(figure_html(figure) for figure in figures)]
    if not figures:
        body += ["<p>None: they need the extra <code>plot</code> and readable recordings.</p>"]
    if page:
        frame = '<iframe title="Viewer" loading="lazy" sandbox="allow-scripts" '
        body += ["<h2>See a recording</h2>", f'{frame}srcdoc="{html.escape(page)}"></iframe>']
    configs = {p.name: {task.method.key: task.method.config() for task in p.tasks} for p in parts}
    body += ["<h2>Times</h2>", _times(parts), "<h2>Settings in effect</h2>"]
    body += [facts_html({part.title: part.settings() for part in parts})]
    body += [folded_html("All parameters of all methods", facts_html(configs))]
    body += ["<h2>Versions</h2>", facts_html(versions())]
    write_page(path, "evcrisp: the paper's tables", body)


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
    return f"<p>Failed:</p>{list_html(part.outcome.failures)}"


def _times(parts: Sequence[Reproduction]) -> str:
    """Return a table of the times per method: total, and median per recording."""
    rows = []
    for part in parts:
        times: dict[str, list[float]] = {}
        for task, result in part.done():
            times.setdefault(task.method.label, []).append(result["elapsed_s"])
        rows += [
            f"<tr><th>{html.escape(part.title.partition(':')[0])}: {html.escape(label)}</th><td>{len(values)}</td>"
            f"<td>{sum(values):.2f}</td><td>{np.median(values):.3f}</td></tr>"
            for label, values in times.items()
        ]
    head = "<tr><th></th><th>tasks</th><th>total s</th><th>median s</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


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
