"""The figures of the report: each is a function from a reproduced table to pictures.

This is the one place where figures join the report: add a function to ``FIGURES``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import MissingExtraError
from evcrisp.core.events import Events
from evcrisp.estimators.estimate import estimate
from evcrisp.estimators.joint.pareto import pareto_front
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.ecd import calibration_file
from evcrisp.experiments.datasets.emlb import LEVELS
from evcrisp.experiments.datasets.noise import with_uniform_noise
from evcrisp.experiments.labeling import labeled
from evcrisp.experiments.methods import Method
from evcrisp.experiments.protocols import limited
from evcrisp.experiments.reproduction import Reproduced
from evcrisp.io.atomic_output import replacing
from evcrisp.io.reading import open_recording
from evcrisp.plots import figure, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

#: Events that a scatter shows.
SHOWN_EVENTS = 30_000

#: Share of noise in the figure of right and wrong labels.
SHOWN_NOISE = 0.10


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture."""

    title: str
    png: bytes


#: Name of the file, title, and the drawing itself.
Drawn = tuple[str, str, "Drawing"]


def ratio_by_light(part: Reproduced) -> Iterator[Drawn]:
    """Draw the ESR of every method against the filter in front of the lens."""
    table = part.tables[0]
    for half in ("day", "night"):
        values = {
            row.label: [_or_nan(row.cells[f"{half}-{level}"].value) for level in LEVELS.values()]
            for row in table.rows
        }
        drawing = figure(
            "levels", levels=list(LEVELS.values()), values=values, x_label="filter", y_label="ESR"
        )
        yield f"esr_{half}", f"ESR by {half}, from much light to little", drawing


def kept_events(part: Reproduced) -> Iterator[Drawn]:
    """Draw what every method keeps of the darkest recording."""
    clip = part.clips()[-1]
    events = beginning(clip)
    labels = {method.label: _labels(events, method) for method in _methods(part)}
    yield (
        "kept",
        f"Events that are kept: {clip.name}",
        figure("scatter", events=events, labels=labels),
    )


def right_labels(part: Reproduced) -> Iterator[Drawn]:
    """Draw which labels are right after noise was added."""
    # The paper shows hotel-bar; any other will do where that is missing.
    clip = max(part.clips(), key=lambda clip: "hotel" in clip.name)
    events = with_uniform_noise(beginning(clip), SHOWN_NOISE)
    labels = {method.key: _labels(events, method) for method in _methods(part)}
    title = f"Right and wrong labels: {clip.name} with {SHOWN_NOISE:.0%} of noise"
    yield "outcomes", title, figure("outcomes", events=events, labels=labels)


def alignment(part: Reproduced) -> Iterator[Drawn]:
    """Draw a window before and after alignment, and its trade-off with denoising."""
    clip = part.clips()[0]
    n = part.tasks[0].settings["window_events"]
    events, path = beginning(clip, n), calibration_file(clip)
    camera = None if path is None else Camera.from_file(path)
    found = estimate(events, "auto", "rotation", camera=camera)
    yield "aligned", f"Aligned by auto: {clip.name}", figure("aligned", estimate=found)
    yield "intro", "Drift and alignment", figure("intro", estimate=found)
    front = pareto_front(found.window, found.motion)
    yield "pareto", "Trade-off of alignment and denoising", figure("pareto", front=front)
    yield "tradeoff", "What changes along the trade-off", figure("tradeoff", front=front)


#: What the report shows of each table, in this order.
FIGURES: dict[str, tuple[Callable[[Reproduced], Iterator[Drawn]], ...]] = {
    "table1": (ratio_by_light, kept_events),
    "table2": (right_labels,),
    "table3": (alignment,),
}


def report_figures(parts: Sequence[Reproduced], folder: Path) -> list[Figure]:
    """Draw all figures, save them as PNG and PDF, and return them; none without the extra ``plot``."""
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


def beginning(clip: Clip, n_events: int = SHOWN_EVENTS) -> Events:
    """Return the first events of a recording."""
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        return Events.concatenate(limited(recording.chunks(), n_events))


def _methods(part: Reproduced) -> list[Method]:
    """Return the methods that have results, each once, in their order."""
    done = {
        task.method.key: task.method
        for task, result in zip(part.tasks, part.outcome.results, strict=True)
        if result is not None and not task.method.slow
    }
    return list(done.values())


def _labels(events: Events, method: Method) -> Any:
    parts = labeled([events], events.resolution, method)
    return np.concatenate([np.asarray(part.signal) for part in parts])


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
