"""What is measured of a recording and a method: structure, labels, or motion."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.windows import by_count
from evcrisp.experiments.datasets import Clip
from evcrisp.experiments.datasets.ecd import calibration_file
from evcrisp.experiments.datasets.noise import with_recorded_noise, with_uniform_noise
from evcrisp.experiments.labeling import labeled
from evcrisp.experiments.methods import Method
from evcrisp.io.reading import open_recording, read
from evcrisp.io.recording import Recording
from evcrisp.metrics import Confusion, EsrMeter, confusion, random_chunks
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing

Numbers = dict[str, Any]

#: How estimators are run where labels are measured; part of the settings, and so of a result's name.
LABELING: dict[str, Any] = {"motion": "translation", "window_us": 30_000}


def measure_structure(clip: Clip, method: Method, settings: Mapping[str, Any]) -> Numbers:
    """Return the ESR of what a method keeps, and of as many events drawn at random.

    Settings: ``slice_events``, ``seed``, ``max_events`` (None = all), and those of ``LABELING``.
    Where the truth lies beside the recording, labels are compared with it too.
    """
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        size, slices = recording.resolution, settings["slice_events"]
        kept = EsrMeter(size, slice_events=slices)
        truth, counts, n_total = truth_beside(clip.path), None, 0
        for chunk in _labeled(_first(recording, settings), size, method, settings):
            signal = np.asarray(chunk.signal)
            kept.add(chunk[signal])
            if truth is not None:
                new = confusion(signal, truth[n_total : n_total + len(chunk)])
                counts = new if counts is None else counts + new
            n_total += len(chunk)
        report, random = kept.report(), EsrMeter(size, slice_events=slices)
        drawn = random_chunks(
            _first(recording, settings), report.n_events, n_total=n_total, seed=settings["seed"]
        )
        for chunk in drawn:
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
    """Return sensitivity and specificity after noise was added to a clean recording.

    Settings: ``share`` of noise, ``noise`` ("uniform", or the name of a measured noise, whose
    recording is then the second file of the clip), ``seed``, ``max_events``, ``skip_share`` (share
    of the time at the start that is left out), and those of ``LABELING``.
    """
    clean = read(clip.path, resolution=clip.resolution)[: settings["max_events"]]
    if settings["skip_share"] and len(clean):
        clean = clean[clean.t >= int(clean.t[0]) + settings["skip_share"] * clean.duration_us]
    noisy = _with_noise(clean, clip, settings)
    found = _labeled([noisy], noisy.resolution, method, settings)
    parts = [np.asarray(part.signal) for part in found]
    signal = np.concatenate(parts) if parts else np.zeros(0, np.bool_)
    return _json(_rates(confusion(signal, np.asarray(noisy.signal))))


def _labeled(
    chunks: Iterable[Events], size: tuple[int, int], method: Method, settings: Mapping[str, Any]
) -> Iterator[Events]:
    windows = Windowing(window_us=settings["window_us"])
    return labeled(chunks, size, method, motion=settings["motion"], windowing=windows)


def _with_noise(clean: Events, clip: Clip, settings: Mapping[str, Any]) -> Events:
    share, seed = settings["share"], settings["seed"]
    if settings["noise"] == "uniform":
        return with_uniform_noise(clean, share, seed=seed)
    return with_recorded_noise(clean, read(clip.files[1]), share, seed=seed)


def measure_motion(clip: Clip, method: Method, settings: Mapping[str, Any]) -> Numbers:
    """Return angular velocities window by window: times in us, rad/s, and how each search ended.

    Settings: ``window_events``, ``max_events``. The model is rotation for all sequences. A method of
    the kind "zero" only cuts the windows.
    """
    with open_recording(clip.path, resolution=clip.resolution) as recording:
        chunks, n = _first(recording, settings), settings["window_events"]
        if method.kind == "zero":
            full = (cut.events for cut in by_count(chunks, n) if len(cut.events) == n)
            return _motion([(part.t[0], part.t[-1], (0.0, 0.0, 0.0), "ZERO") for part in full])
        estimates = track(
            chunks,
            method.name,
            "rotation",
            camera=_camera(clip, recording),
            windowing=Windowing(window_events=n),
            **method.options(),
        )
        # The last window is cut short by the end of the recording.
        return _motion(
            [
                (e.window.events.t[0], e.window.events.t[-1], e.theta, e.status.name)
                for e in estimates
                if len(e) == n
            ]
        )


def _motion(rows: list[tuple[Any, ...]]) -> Numbers:
    return {
        "t_start_us": [int(row[0]) for row in rows],
        "t_end_us": [int(row[1]) for row in rows],
        "theta_rad_s": [[float(value) for value in np.nan_to_num(row[2])] for row in rows],
        "status": [row[3] for row in rows],
    }


def _camera(clip: Clip, recording: Recording) -> Camera:
    path = calibration_file(clip)
    if path is not None:
        return Camera.from_file(path)
    numbers = recording.metadata.get("calib")
    if not isinstance(numbers, list) or len(numbers) != 9:
        raise ConfigError(f"{clip.path} has no calib.txt of nine numbers.")
    return Camera(*numbers[:4], tuple(numbers[4:]))


def _first(recording: Recording, settings: Mapping[str, Any]) -> Iterator[Events]:
    """Yield the chunks of the first so many events."""
    return limited(recording.chunks(), settings["max_events"])


def limited(chunks: Iterable[Events], max_events: int | None) -> Iterator[Events]:
    """Yield chunks until there were ``max_events`` events; all if it is None."""
    left = math.inf if max_events is None else max_events
    for chunk in chunks:
        if left <= 0:
            return
        yield chunk[: int(min(left, len(chunk)))]
        left -= len(chunk)


def truth_beside(path: Path) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Return the labels that a twin has beside a recording; None if there are none."""
    beside = path.with_name(f"{path.stem}.truth.npz")
    if not beside.is_file():
        return None
    with np.load(beside) as archive:
        return archive["signal"].astype(np.bool_)


def _rates(counts: Confusion | None) -> Numbers:
    if counts is None:
        return {}
    return {
        "sensitivity": counts.sensitivity,
        "specificity": counts.specificity,
        "denoising_accuracy": counts.denoising_accuracy,
    }


def _json(numbers: Numbers) -> Numbers:
    """Return the numbers with None for NaN, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in numbers.items()
    }
