"""The viewer's page of one recording, which the report holds."""

import html
from collections.abc import Sequence

from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.figures import beginning
from evcrisp.experiments.protocols import truth_beside
from evcrisp.experiments.reproduction import Reproduced
from evcrisp.viewer.export import ExportOptions, export_html

#: Events that the page holds, which bounds its size.
N_EVENTS = 60_000

#: Windows that the page holds, and their greatest length.
N_WINDOWS, MAX_WINDOW_US = 4, 30_000


def report_page(parts: Sequence[Reproduced]) -> str:
    """Return the page of the last recording of the first table: of E-MLB, one in the dark.

    Empty where no recording could be read.
    """
    for part in parts:
        clips = part.clips()
        if clips:
            return _page(clips[-1])
    return ""


def _page(clip: Clip) -> str:
    events, truth = beginning(clip, N_EVENTS), truth_beside(clip.path)
    if truth is not None:
        events = events.with_signal(truth[: len(events)])
    length_us = min(MAX_WINDOW_US, max(1000, events.duration_us // N_WINDOWS // 1000 * 1000))
    options = ExportOptions(
        window_us=length_us, n_windows=N_WINDOWS, methods=("auto", "exact"), filters=("baf",)
    )
    return export_html(events, options, name=clip.name)


def framed(page: str) -> str:
    """Return a frame with a page in it, which can neither reach out nor touch what is around it."""
    return (
        '<iframe title="Viewer" loading="lazy" sandbox="allow-scripts" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )
