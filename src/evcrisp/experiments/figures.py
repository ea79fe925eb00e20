"""Figures of the report; each is a function of a reproduced table, listed in ``FIGURES``."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import MissingExtraError
from evcrisp.core.events import Events
from evcrisp.estimators.estimate import estimate
from evcrisp.estimators.joint.pareto import pareto_front
from evcrisp.estimators.result import Estimate
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.ecd import calibration_file
from evcrisp.experiments.datasets.emlb import LEVELS
from evcrisp.experiments.datasets.noise import with_uniform_noise
from evcrisp.experiments.datasets.sample import limit_events
from evcrisp.experiments.methods import Method
from evcrisp.experiments.page import Figure
from evcrisp.experiments.protocols import signal_of
from evcrisp.experiments.reproduction import Reproduction
from evcrisp.io.atomic_output import replacing
from evcrisp.io.reading import open_recording
from evcrisp.plots import figure, save_figure
from evcrisp.plots.curves import regret_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SHOWN_EVENTS = 30_000  # events in a scatter plot
SEARCHED_WINDOWS = 8  # windows among which the one that moves most is drawn
SHOWN_NOISE = 0.10  # noise events per signal event in the figure of correct and wrong labels


#: Name of the file, title, and drawing.
Drawn = tuple[str, str, "Drawing"]


def ratio_by_light(part: Reproduction) -> Iterator[Drawn]:
    """Draw the ESR of every method by neutral density filter."""
    levels = list(LEVELS.values())
    for half in ("day", "night"):
        values = {
            row.label: [_or_nan(row.cells[f"{half}-{level}"].value) for level in levels]
            for row in part.tables[0].rows
        }
        drawing = figure("levels", levels=levels, values=values, x_label="filter", y_label="ESR")
        title = (
            f"ESR of the kept events by {half}; the light decreases from {levels[0]} to {levels[-1]}. "
            "A missing point had no complete slice."
        )
        yield f"esr_{half}", title, drawing


def kept_events(part: Reproduction) -> Iterator[Drawn]:
    """Draw the events of the darkest recording that every method keeps."""
    clip = part.clips()[-1]
    events = first_events(clip)
    labels = {method.label: signal_of(events, method) for method in _methods(part)}
    drawing = figure("scatter", events=events, labels=labels)
    title = f"Events that each method keeps of the first {len(events):,} of {clip.name}; red ON, blue OFF"
    yield "kept", title, drawing


def right_labels(part: Reproduction) -> Iterator[Drawn]:
    """Draw correct and wrong labels on a recording with added noise."""
    # The paper shows hotel-bar; another recording replaces it if it is missing.
    clip = max(part.clips(), key=lambda clip: "hotel" in clip.name)
    events = with_uniform_noise(first_events(clip), SHOWN_NOISE)
    labels = {method.key: signal_of(events, method) for method in _methods(part)}
    title = f"Correct and wrong labels of {clip.name} with {SHOWN_NOISE:.0%} of uniform noise added"
    yield "outcomes", title, figure("outcomes", events=events, labels=labels)


def alignment(part: Reproduction) -> Iterator[Drawn]:
    """Draw a window before and after alignment, and the trade-off with denoising."""
    clip = part.clips()[0]
    n = part.tasks[0].settings["window_events"]
    path = calibration_file(clip)
    camera = None if path is None else Camera.from_file(path)
    found, moved_px = _fastest_window(clip, n, camera)
    ms = found.window.events.duration_us / 1e3
    place = f"a window of {ms:.1f} ms of {clip.name}"
    title = f"Signal events of auto in {place}, which moves by {moved_px:.1f} px (median)"
    yield "aligned", title, figure("aligned", estimate=found)
    title = f"x against time in the rows of {place} that alignment sharpens most"
    yield "intro", title, figure("intro", estimate=found)
    front = pareto_front(found.window, found.motion)
    title = f"Pareto front of {place}. Ring: {regret_label(front)}"
    if front.is_compromise:
        title += "; dotted lines: its regrets, the distances from the ideal point"
    yield "pareto", title, figure("pareto", front=front)
    title = "Contrast, denoised contrast and share of kept events along this front"
    yield "tradeoff", title, figure("tradeoff", front=front)


def _fastest_window(clip: Clip, n: int, camera: Camera | None) -> tuple[Estimate, float]:
    """Return the estimate of the window that moves most, of the first ones, and its median way, px."""
    events = first_events(clip, SEARCHED_WINDOWS * n)
    found = []
    for start in range(0, max(len(events) - n, 0) + 1, n):
        result = estimate(events[start : start + n], "auto", "rotation", camera=camera)
        speed = np.hypot(*np.nan_to_num(result.velocity).T)
        found.append((float(np.median(speed)) * result.window.events.duration_us / 1e6, result))
    moved_px, result = max(found, key=lambda pair: pair[0])
    return result, moved_px


#: Figures of each table, in the order of the report.
FIGURES: dict[str, tuple[Callable[[Reproduction], Iterator[Drawn]], ...]] = {
    "table1": (ratio_by_light, kept_events),
    "table2": (right_labels,),
    "table3": (alignment,),
}


def report_figures(parts: Sequence[Reproduction], folder: Path) -> list[Figure]:
    """Draw and save all figures as PNG and PDF; return none without the extra ``plot``."""
    figures = []
    try:
        for part in (part for part in parts if part.clips()):
            for draw in FIGURES[part.name]:
                for name, title, drawing in draw(part):
                    folder.mkdir(parents=True, exist_ok=True)
                    for suffix in (".png", ".pdf"):
                        with replacing(folder / f"{name}{suffix}", overwrite=True) as temporary:
                            save_figure(drawing, temporary)
                    figures.append(Figure(title, (folder / f"{name}.png").read_bytes()))
    except MissingExtraError:
        return []
    return figures


def first_events(clip: Clip, n_events: int = SHOWN_EVENTS) -> Events:
    """Return the first events of a recording."""
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        return Events.concatenate(limit_events(recording.chunks(), n_events))


def _methods(part: Reproduction) -> list[Method]:
    """Return the methods that have results, each once, in order."""
    methods = (task.method for task, _ in part.done())
    return list({method.key: method for method in methods if not method.slow}.values())


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
