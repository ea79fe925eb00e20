"""Label a recording with a method, chunk by chunk."""

from collections.abc import Iterable, Iterator

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.experiments.methods import Method
from evcrisp.filters import Filter
from evcrisp.pipeline.label_merging import merge_labels
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing


def label_chunks(
    chunks: Iterable[Events],
    resolution: tuple[int, int],
    method: Method,
    *,
    motion: str = "translation",
    windowing: Windowing | None = None,
) -> Iterator[Events]:
    """Yield all events in order, with the labels of a method in ``signal``.

    Labels of the recording are ignored. ``motion`` and ``windowing`` are for estimators.
    """
    if method.kind == "filter":
        yield from _label_by_filter(chunks, resolution, method.filter())
        return
    plain = (chunk.with_signal(None) for chunk in chunks)
    for chunk in merge_labels(track(plain, method.configured(), motion, windowing=windowing)):
        yield chunk.events


def signal_of(events: Events, method: Method) -> Bools:
    """Return the labels that a method gives to events."""
    parts = label_chunks([events], events.resolution, method)
    return np.concatenate([np.asarray(part.signal) for part in parts])


def _label_by_filter(
    chunks: Iterable[Events], resolution: tuple[int, int], kind: Filter
) -> Iterator[Events]:
    """Yield each chunk when all its labels are ready; some filters look ahead."""
    stream = kind.start(resolution)
    waiting: list[Events] = []
    labels: list[Bools] = []
    for chunk in chunks:
        waiting.append(chunk)
        labels.append(stream.label(chunk).signal)
        yield from _take_labeled(waiting, labels)
    labels.append(stream.finish().signal)
    yield from _take_labeled(waiting, labels)


def _take_labeled(waiting: list[Events], labels: list[Bools]) -> Iterator[Events]:
    n_labels = sum(part.size for part in labels)
    while waiting and len(waiting[0]) <= n_labels:
        known = np.concatenate(labels) if len(labels) != 1 else labels[0]
        chunk = waiting.pop(0)
        yield chunk.with_signal(known[: len(chunk)])
        labels[:] = [known[len(chunk) :]]
        n_labels -= len(chunk)
