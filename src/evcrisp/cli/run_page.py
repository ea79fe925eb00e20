"""The page that ``evcrisp run`` prints."""

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evcrisp.core.doubt import Doubt
from evcrisp.core.messages import counted
from evcrisp.core.status import Status

if TYPE_CHECKING:
    from evcrisp.pipeline.run import RunResult

_NAME_COLUMNS = 16
#: Minimum width of the page, columns.
_MIN_COLUMNS = 50


def run_page(result: "RunResult") -> str:
    """Return a short table: events, windows, motions, doubts with their remedies, and files."""
    return page(_rows(result))


def page(rows: Iterable[tuple[str, str]]) -> str:
    """Return rows of a name and a text, wrapped to the width of the terminal."""
    width = max(shutil.get_terminal_size().columns, _MIN_COLUMNS)
    return "\n".join(_wrapped(name, text, width) for name, text in rows)


def batch_rows(totals: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the rows of many recordings: events, windows, and doubts with their remedies."""
    n, n_kept, n_windows = (totals[key] for key in ("n_events", "n_kept", "n_windows"))
    n_reliable = totals["n_reliable"]
    yield "events", f"{n:,}"
    yield "kept", f"{n_kept:,} ({n_kept / n:.1%})" if n else "0"
    yield (
        "windows",
        f"{n_windows:,}; {n_reliable:,} reliable, {n_windows - n_reliable:,} doubtful",
    )
    yield from _doubts(totals, n_windows)
    if totals["n_damaged"]:
        yield "damage", f"in {counted(totals['n_damaged'], 'recording')}; see summary.json"


def _wrapped(name: str, text: str, width: int) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=f"{name:<{_NAME_COLUMNS}}",
        subsequent_indent=" " * _NAME_COLUMNS,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _rows(result: "RunResult") -> Iterator[tuple[str, str]]:
    summary = result.summary
    n, n_kept, n_windows = (summary[key] for key in ("n_events", "n_kept", "n_windows"))
    yield "events", f"{n:,}"
    yield "kept", f"{n_kept:,} ({n_kept / n:.1%})" if n else "0"
    yield "windows", _windows(summary)
    if summary["motion_range"]:
        yield "motion", motion_text(summary)
    if summary["models"]:
        yield "models", _models(summary)
    yield from _doubts(summary, n_windows)
    if summary["camera_source"] is not None:
        yield "camera", _camera(summary)
    if summary["damage"]:
        yield "damage", summary["damage"]
    yield "took", f"{summary['elapsed_s']:.1f} s"
    yield "files", f"{result.folder}: {', '.join(_files(result))}"


def _windows(summary: Mapping[str, Any]) -> str:
    n_windows, n_reliable = summary["n_windows"], summary["n_reliable"]
    if not n_windows:
        return "0"
    low, high = (length / 1000 for length in summary["window_length_us"])
    length = f"{low:.4g} ms" if low == high else f"{low:.4g} to {high:.4g} ms"
    return (
        f"{n_windows:,} of {length}; {n_reliable:,} reliable, {n_windows - n_reliable:,} doubtful"
    )


def motion_text(summary: Mapping[str, Any]) -> str:
    """Return the range of each parameter over reliable windows; if there is none, over all."""
    reliable = summary["reliable_motion_range"]
    shown = []
    for name, (low, high) in (reliable or summary["motion_range"]).items():
        parameter, _, unit = name.partition(" ")
        ends = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        shown.append(f"{parameter} {ends} {unit.strip('[]')}")
    text = ", ".join(shown)
    if not reliable:
        return f"{text}; doubtful in all windows"
    return text if reliable == summary["motion_range"] else f"{text}, where it is reliable"


def _models(summary: Mapping[str, Any]) -> str:
    models = ", ".join(f"{name} in {counted(n, 'window')}" for name, n in summary["models"].items())
    several = {int(n): count for n, count in summary["layers"].items() if int(n) > 1}
    if not several:
        return models
    layers = f"{min(several)}" if len(several) == 1 else f"{min(several)} to {max(several)}"
    return f"{models}; {layers} layers in {counted(sum(several.values()), 'window')}"


def doubt_lines(doubts: Mapping[str, int], n_windows: int) -> list[str]:
    """Return the doubts as on the page of a run, most frequent first; wrapped lines."""
    return page(_doubt_rows(doubts, n_windows)).splitlines()


def _doubt_rows(doubts: Mapping[str, int], n_windows: int) -> Iterator[tuple[str, str]]:
    by_count = sorted(doubts.items(), key=lambda item: -item[1])
    texts = {doubt.code: doubt.value for doubt in Doubt}
    for code, n in by_count:
        yield "doubt", f"{code} in {n:,} of {counted(n_windows, 'window')}: {texts[code]}"


def _doubts(summary: Mapping[str, Any], n_windows: int) -> Iterator[tuple[str, str]]:
    """Yield the doubts, most frequent first, and the windows whose search did not converge."""
    yield from _doubt_rows(summary["doubts"], n_windows)
    for name, n in summary["statuses"].items():
        status = Status[name.upper()]
        if status is not Status.CONVERGED:
            text = status.value[0].upper() + status.value[1:]
            yield "status", f"{name} in {n:,} of {counted(n_windows, 'window')}: {text}."


def _camera(summary: Mapping[str, Any]) -> str:
    camera = summary["camera"]
    where = "calib.txt of the recording" if summary["camera_source"] == "calib.txt" else "given"
    return f"{where}: fx {camera['fx']:.4g}, fy {camera['fy']:.4g} px, {camera['lens']}"


def _files(result: "RunResult") -> Iterable[str]:
    """Return the names of the files that were written."""
    values = (getattr(result, field.name) for field in fields(result) if field.name != "folder")
    names = [path.name for path in values if isinstance(path, Path)]
    return [*names, "summary.json"]
