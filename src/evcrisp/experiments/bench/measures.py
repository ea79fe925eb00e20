"""Measure one method on one recording, with whatever truth the recording has."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import Events
from evcrisp.core.types import Bools
from evcrisp.core.windows import Window
from evcrisp.estimators.devices import device_method
from evcrisp.estimators.estimate import model_for
from evcrisp.estimators.result import Estimate
from evcrisp.experiments.bench.labeling import Labeled, label_events
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.noise import with_uniform_noise
from evcrisp.experiments.datasets.sample import BoxFrame, FlowFrame, Limits, Sample, read_sample
from evcrisp.experiments.methods import Method
from evcrisp.metrics import (
    EsrMeter,
    aocc,
    block_entropy,
    confusion,
    flow_errors,
    hota,
    random_subset,
    rank_auc,
)
from evcrisp.pipeline.camera_motion.motion_evaluation import window_fwl
from evcrisp.pipeline.object_tracking import ObjectTracker
from evcrisp.pipeline.on_device.device_tracking import DeviceTracker
from evcrisp.pipeline.tracking import Tracker

Numbers = dict[str, Any]

#: Events that a method labels before its time is measured.
WARM_UP_EVENTS = 2000

_RATES = ("sensitivity", "specificity", "denoising_accuracy", "precision", "f1")


def measure_bench(clip: Clip, method: Method, settings: Mapping[str, Any]) -> Numbers:
    """Return the numbers of a method on a recording; ``settings`` are those of `BenchOptions`.

    With true labels, labels are compared with them. Without, uniform noise is added, and original
    events count as signal. Flow and boxes are compared where there is a truth, for estimators.
    """
    sample = read_sample(clip, Limits(max_events=settings["max_events"], max_us=settings["max_us"]))
    events = sample.events
    if not len(events):
        raise EventDataError(f"{clip.name} has no events in the part that is used.")
    # The first call of a method loads its kernels, which is not part of its speed.
    label_events(events[:WARM_UP_EVENTS], method, settings["motion"])
    found = label_events(events, method, settings["motion"])
    numbers = {
        "n_events": len(events),
        "duration_s": events.duration_us / 1e6,
        "events_per_s": len(events) / found.seconds if found.seconds else math.nan,
        **_structure(events, found.signal, settings),
        **_label_rates(events, found, method, settings),
    }
    if method.kind == "estimator":
        numbers |= {"fwl": _warp_loss(found.estimates)}
        numbers |= _flow(sample, method, settings["motion"]) if sample.flow else {}
        numbers |= _boxes(sample, method, settings["motion"]) if sample.boxes else {}
    return {name: _json(value) for name, value in numbers.items()}


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _structure(events: Events, signal: Bools, settings: Mapping[str, Any]) -> Numbers:
    """Return metrics of the kept events, and the ESR of as many random ones."""
    kept = events.with_signal(None)[signal]
    random = random_subset(events.with_signal(None), len(kept), seed=settings["seed"])
    ratio, control = (_esr(part, settings["slice_events"]) for part in (kept, random))
    return {
        "retention": len(kept) / len(events),
        "esr": ratio,
        "esr_gain": ratio - control,
        "entropy_bits": block_entropy(kept) if len(kept) else math.nan,
        "aocc": aocc(kept).aocc if settings["measures_aocc"] and len(kept) else math.nan,
    }


def _esr(events: Events, slice_events: int) -> float:
    meter = EsrMeter(events.resolution, slice_events=slice_events)
    meter.add(events)
    return meter.report().esr


def added_noise(events: Events, noise_hz: float, seed: int) -> Events:
    """Return events with uniform noise, at most as many events as there are, and labels."""
    n = noise_hz * events.width * events.height * events.duration_us / 1e6
    return with_uniform_noise(events.with_signal(None), min(n / len(events), 1.0), seed=seed)


def _label_rates(
    events: Events, found: Labeled, method: Method, settings: Mapping[str, Any]
) -> Numbers:
    if events.signal is None:
        events = added_noise(events, settings["noise_hz"], settings["seed"])
        found = label_events(events, method, settings["motion"])
    truth = np.asarray(events.signal)
    counts = confusion(found.signal, truth)
    rates = {name: getattr(counts, name) for name in _RATES}
    return {"auc": rank_auc(found.score, truth), **rates, "n_noise": counts.n_noise}


def _warp_loss(estimates: Sequence[Estimate]) -> float:
    """Return the mean of FWL over windows with a motion, weighted by their events."""
    values: list[float] = []
    sizes: list[int] = []
    for result in (result for result in estimates if result.status.has_motion):
        value = window_fwl(result)
        if math.isfinite(value):
            values.append(value)
            sizes.append(len(result))
    return float(np.average(values, weights=sizes)) if values else math.nan


def _frames(
    sample: Sample, frames: Sequence[FlowFrame] | Sequence[BoxFrame], method: Method, motion: str
) -> list[Estimate]:
    """Return the estimates of frames; with the compiled kernels, each started from the one before."""
    events, estimator = sample.events.with_signal(None), method.configured()
    model = model_for(motion, events.resolution, None, estimator)
    edges = np.searchsorted(events.t, [(frame.t_start, frame.t_end) for frame in frames])
    windows = [
        Window(events[a:b], frame.t_start, frame.t_end, int(a))
        for frame, (a, b) in zip(frames, edges.tolist(), strict=True)
    ]
    on_device = device_method(estimator, model, method.device)
    if on_device is not None:
        batches = DeviceTracker(on_device, events.resolution)
        return list(batches.estimates((one, one.t_end - one.t_start) for one in windows))
    tracker = Tracker(estimator, model, events.resolution, None)
    return [tracker.estimate(window) for window in windows]


def _flow(sample: Sample, method: Method, motion: str) -> Numbers:
    """Return the errors of the velocities of all events in frames, as displacements over a frame."""
    found, truth = [np.empty((0, 2))], [np.empty((0, 2))]
    for result, frame in zip(
        _frames(sample, sample.flow, method, motion), sample.flow, strict=True
    ):
        events, duration_s = result.window.events, 1e-6 * (frame.t_end - frame.t_start)
        true = frame.velocity[events.y, events.x]
        known = np.isfinite(true).all(axis=1)
        # An estimate without a motion counts as no motion, so that failing does not pay.
        found.append(duration_s * np.nan_to_num(result.velocity[known]))
        truth.append(duration_s * true[known])
    errors = flow_errors(np.concatenate(found), np.concatenate(truth), None, 1.0)
    return {
        "aee_px": errors.aee,
        "direction_deg": errors.direction_deg,
        "barron_deg": errors.barron_deg,
        "outliers": errors.outliers,
        "n_vectors": errors.n,
        "n_frames": len(sample.flow),
    }


def _boxes(sample: Sample, method: Method, motion: str) -> Numbers:
    """Return HOTA and its parts of the objects of all frames."""
    tracker = ObjectTracker()
    frames = [tracker.update(result) for result in _frames(sample, sample.boxes, method, motion)]
    score = hota(
        true_boxes=[frame.boxes for frame in sample.boxes],
        true_ids=[list(frame.ids) for frame in sample.boxes],
        found_boxes=[[_corners(thing.box) for thing in frame] for frame in frames],
        found_ids=[[thing.id for thing in frame] for frame in frames],
    )
    parts = {name: getattr(score, name) for name in ("hota", "deta", "assa", "loca")}
    return {**parts, "n_true_boxes": score.n_true, "n_found_boxes": score.n_found}


def _corners(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, width, height = box
    return left, top, left + width, top + height
