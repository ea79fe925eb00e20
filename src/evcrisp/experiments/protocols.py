"""Measurements of a recording and a method (structure, labels or motion), and its labels."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.core.windows import by_count
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.ecd import camera_of
from evcrisp.experiments.datasets.noise import with_recorded_noise, with_uniform_noise
from evcrisp.experiments.datasets.sample import limit_events, read_true_labels
from evcrisp.experiments.methods import Method
from evcrisp.filters import Filter
from evcrisp.io.reading import open_recording, read
from evcrisp.io.recording import Recording
from evcrisp.metrics import Confusion, EsrMeter, confusion, random_chunks
from evcrisp.pipeline.label_merging import merge_labels
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing

Numbers = dict[str, Any]

#: Settings of estimators for labels; part of the key of a result.
LABEL_SETTINGS: dict[str, Any] = {"motion": "translation", "window_us": 30_000}


def measure_structure(clip: Clip, method: Method, settings: Mapping[str, Any]) -> Numbers:
    """Return the ESR of the kept events, and of as many events drawn at random.

    Settings: ``slice_events``, ``seed``, ``max_events`` (None = all), and ``LABEL_SETTINGS``.
    If true labels are stored beside the recording, labels are compared with them.
    """
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        size, slices = recording.resolution, settings["slice_events"]
        kept = EsrMeter(size, slice_events=slices)
        truth, counts, n_total = read_true_labels(clip.path), None, 0
        for chunk in _labeled(_first_chunks(recording, settings), size, method, settings):
            signal = np.asarray(chunk.signal)
            kept.add(chunk[signal])
            if truth is not None:
                new = confusion(signal, truth[n_total : n_total + len(chunk)])
                counts = new if counts is None else counts + new
            n_total += len(chunk)
        report, random = kept.report(), EsrMeter(size, slice_events=slices)
        chunks = _first_chunks(recording, settings)
        for chunk in random_chunks(chunks, report.n_events, n_total=n_total, seed=settings["seed"]):
            random.add(chunk)
    return _json(
        {
            "esr": report.esr,
            "n_slices": report.n_slices,
            "random_esr": random.report().esr,
            "retention": report.n_events / n_total if n_total else math.nan,
            "n_events": n_total,
            **_rates(counts),
        }
    )


def measure_labels(clip: Clip, method: Method, settings: Mapping[str, Any]) -> Numbers:
    """Return sensitivity and specificity on a clean recording with added noise.

    Settings: ``share`` of noise, ``noise`` ("uniform", or the name of a measured noise, which is
    the second file of the clip), ``seed``, ``max_events``, ``skip_share`` (share of the time at
    the start that is excluded), and ``LABEL_SETTINGS``.
    """
    clean = read(clip.path, resolution=clip.resolution)[: settings["max_events"]]
    if settings["skip_share"] and len(clean):
        clean = clean[clean.t >= int(clean.t[0]) + settings["skip_share"] * clean.duration_us]
    share, seed = settings["share"], settings["seed"]
    if settings["noise"] == "uniform":
        noisy = with_uniform_noise(clean, share, seed=seed)
    else:
        noisy = with_recorded_noise(clean, read(clip.files[1]), share, seed=seed)
    found = _labeled([noisy], noisy.resolution, method, settings)
    signal = np.concatenate([np.zeros(0, np.bool_), *(np.asarray(part.signal) for part in found)])
    return _json(_rates(confusion(signal, np.asarray(noisy.signal))))


def _labeled(
    chunks: Iterable[Events], size: tuple[int, int], method: Method, settings: Mapping[str, Any]
) -> Iterator[Events]:
    windowing = Windowing(window_us=settings["window_us"])
    return label_chunks(chunks, size, method, motion=settings["motion"], windowing=windowing)


def measure_motion(clip: Clip, method: Method, settings: Mapping[str, Any]) -> Numbers:
    """Return start and end in us, angular velocity in rad/s and status of each window.

    Settings: ``window_events``, ``max_events``. The model is rotation for all sequences. A method
    of the kind "zero" returns zeros.
    """
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        chunks, n = _first_chunks(recording, settings), settings["window_events"]
        if method.kind == "zero":
            full = (cut.events for cut in by_count(chunks, n) if len(cut.events) == n)
            return _motion([(part.t[0], part.t[-1], (0.0, 0.0, 0.0), "ZERO") for part in full])
        camera, windowing = camera_of(clip, recording), Windowing(window_events=n)
        found = track(
            chunks,
            method.configured(),
            "rotation",
            camera,
            windowing=windowing,
            device=method.device,
        )
        full = ((e, e.window.events.t) for e in found if len(e) == n)  # the last is incomplete
        return _motion([(t[0], t[-1], e.theta, e.status.name) for e, t in full])


def _motion(rows: list[tuple[Any, ...]]) -> Numbers:
    return {
        "t_start_us": [int(row[0]) for row in rows],
        "t_end_us": [int(row[1]) for row in rows],
        "theta_rad_s": [[float(value) for value in np.nan_to_num(row[2])] for row in rows],
        "status": [row[3] for row in rows],
    }


def _first_chunks(recording: Recording, settings: Mapping[str, Any]) -> Iterator[Events]:
    return limit_events(recording.chunks(), settings["max_events"])


def _rates(counts: Confusion | None) -> Numbers:
    names = ("sensitivity", "specificity", "denoising_accuracy")
    return {} if counts is None else {name: getattr(counts, name) for name in names}


def _json(numbers: Numbers) -> Numbers:
    """Replace NaN by None, since JSON has no NaN."""
    unknown = [k for k, n in numbers.items() if isinstance(n, float) and not math.isfinite(n)]
    return {**numbers, **dict.fromkeys(unknown)}


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
    part, device = method.configured(), method.device
    for chunk in merge_labels(track(plain, part, motion, windowing=windowing, device=device)):
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
