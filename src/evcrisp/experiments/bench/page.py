"""Write the page of a bench: tables, figures, and everything that is needed to make it again."""

import html
from pathlib import Path
from typing import Any

from evcrisp.core.messages import counted
from evcrisp.experiments.bench.figures import bench_figures
from evcrisp.experiments.bench.result import Bench
from evcrisp.experiments.page import (
    Provenance,
    facts_html,
    figure_html,
    folded_html,
    list_html,
    provenance_html,
    versions,
    write_page,
)
from evcrisp.experiments.tables.formats import as_html

_LEGEND = (
    "AUC, sensitivity and specificity compare labels with the truth of a recording. Without a truth, "
    "uniform noise is added; original events count as signal, their own noise included, so that 1 is out "
    "of reach.",
    "ESR gain: event structural ratio of the kept events minus that of as many random ones. AOCC / raw: "
    "contrast curve of the kept events over that of all. Entropy: change of the entropy of positions. None "
    "of them tells signal from noise.",
    "FWL: variance of the image of aligned events over that of raw ones, in windows that the events choose. "
    "AEE, direction and outliers compare the velocity of every event with the true field, over the frames "
    "of the truth; an event without an estimate counts as at rest.",
    "HOTA: boxes of the objects of each frame against the true ones.",
    "Mev/s: millions of events per second for labels and motion, with other tasks on the same machine.",
)


def write_bench_page(path: Path, bench: Bench, made: Provenance) -> None:
    """Write the page of a bench, replacing an older one."""
    body = [f"<h1>Bench: {html.escape(bench.folder.resolve().name)}</h1>", provenance_html(made)]
    body += [_summary(bench), "<h2>Results</h2>"]
    body += [f'<div class="wide">{as_html([table])}</div>' for table in bench.tables()]
    body += [list_html(_LEGEND), "<h2>Figures</h2>"]
    figures = bench_figures(bench)
    body += [figure_html(figure) for figure in figures]
    if not figures:
        body.append("<p>None: they need the extra <code>plot</code>.</p>")
    body += ["<h2>Recordings</h2>", _recordings(bench), _left_out(bench)]
    body += ["<h2>Settings in effect</h2>", facts_html(bench.options.settings())]
    configs = {method.key: method.config() for method in bench.methods}
    body.append(folded_html("All parameters of all methods", facts_html(configs)))
    body += ["<h2>Versions</h2>", facts_html(versions())]
    write_page(path, f"evcrisp bench: {bench.folder.resolve().name}", body)


def _summary(bench: Bench) -> str:
    options, outcome = bench.options, bench.outcome
    parts = []
    if options.max_events is not None:
        parts.append(f"the first {options.max_events:,} events")
    if options.max_us is not None:
        parts.append(f"the first {options.max_us / 1e6:g} s")
    used = (
        f"Of each recording {' and '.join(parts)} are used"
        if parts
        else "Recordings are used whole"
    )
    text = (
        f"{counted(len(bench.clips()), 'recording')}, {counted(len(bench.methods), 'method')}, "
        f"{counted(len(bench.tasks), 'task')} ({len(outcome.failures)} failed), "
        f"{outcome.elapsed_s():.0f} s of work. {used}, from the start of the recording or of its truth, and one frame of the truth at least. "
        f"Noise that is added has {options.noise_hz:g} Hz per pixel, and at most as many events as the "
        "recording. The best of a column is bold, the second best underlined; columns without a best one "
        "describe, and do not rank."
    )
    return f"<p>{html.escape(text)}</p>"


def _recordings(bench: Bench) -> str:
    """Return a table of the recordings: size, duration, truth, and the AUC of every method."""
    by_clip: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in bench.rows():
        by_clip.setdefault((row["dataset"], row["recording"]), {})[row["method"]] = row
    methods = [method for method in bench.methods if method.key != "raw"]
    heads = "".join(f"<th>{html.escape(method.label)}</th>" for method in methods)
    lines = [f"<tr><th>AUC by recording</th><th>events</th><th>s</th><th>noise</th>{heads}</tr>"]
    for (_, name), found in by_clip.items():
        any_row = next(iter(found.values()))
        facts = f"<td>{any_row['n_events']:,}</td><td>{any_row['duration_s']:.3f}</td><td>{any_row['n_noise']:,}</td>"
        values = "".join(_cell(found.get(method.key, {}).get("auc")) for method in methods)
        lines.append(f"<tr><th>{html.escape(name)}</th>{facts}{values}</tr>")
    table = f'<div class="wide"><table>{"".join(lines)}</table></div>'
    return folded_html("AUC of every recording and method", table)


def _cell(value: float | None) -> str:
    return f"<td>{'-' if value is None else f'{value:.3f}'}</td>"


def _left_out(bench: Bench) -> str:
    problems = [f"{part.title}: {problem}" for part in bench.found for problem in part.problems]
    lines = [*bench.notes, *problems, *(f"Failed: {failure}" for failure in bench.outcome.failures)]
    return f"<p>Left out or failed:</p>{list_html(lines)}" if lines else ""
