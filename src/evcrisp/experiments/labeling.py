"""Label a recording with any method, chunk by chunk."""

from collections.abc import Iterable, Iterator

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.experiments.methods import Method
from evcrisp.filters import Filter
from evcrisp.pipeline.label_merging import merge_labels
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing


def labeled(
    chunks: Iterable[Events],
    resolution: tuple[int, int],
    method: Method,
    *,
    motion: str = "translation",
    windowing: Windowing | None = None,
) -> Iterator[Events]:
    """Yield all events in order, with the labels of a method in ``signal``.

    Labels that the events bring along are not looked at.

    Parameters
    ----------
    chunks : iterable of Events
        The recording.
    resolution : (int, int), px
        Its sensor.
    method : Method
        A filter or an estimator.
    motion, windowing
        For estimators; as for :func:`evcrisp.track`.
    """
    if method.kind == "filter":
        yield from _by_filter(chunks, resolution, method.filter())
        return
    plain = (chunk.with_signal(None) for chunk in chunks)
    estimates = track(plain, method.name, motion, windowing=windowing, **method.options())
    for chunk in merge_labels(estimates):
        yield chunk.events


def _by_filter(
    chunks: Iterable[Events], resolution: tuple[int, int], kind: Filter
) -> Iterator[Events]:
    """Yield chunks as soon as all their labels are there; some filters hold labels back."""
    stream = kind.start(resolution)
    waiting: list[Events] = []
    labels: list[Bools] = []
    for chunk in chunks:
        waiting.append(chunk)
        labels.append(stream.label(chunk).signal)
        yield from _ready(waiting, labels)
    labels.append(stream.finish().signal)
    yield from _ready(waiting, labels)


def _ready(waiting: list[Events], labels: list[Bools]) -> Iterator[Events]:
    n_labels = sum(part.size for part in labels)
    while waiting and len(waiting[0]) <= n_labels:
        known = np.concatenate(labels) if len(labels) != 1 else labels[0]
        chunk = waiting.pop(0)
        yield chunk.with_signal(known[: len(chunk)])
        labels[:] = [known[len(chunk) :]]
        n_labels -= len(chunk)
