"""Hold what the live page shows: the latest events, and the counts of the last seconds."""

import json
import struct
import threading
import time
from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.events import Events
from evcrisp.motion.open_motion import OpenMotion

#: Time of the events in the pictures, us.
SHOWN_US = 40_000
#: Length of the curves, s, and states of a session that are kept: ten per second.
HISTORY_S, _MOST_STATES = 10.0, 120
#: Pixels of a picture; larger sensors are shown with every second or third pixel joined.
_MOST_PIXELS = 500_000
#: Events of one picture: of more, every second or third is drawn.
_MOST_EVENTS = 400_000


class Part(Protocol):
    """What a live session labels at once; `LivePart` of the package for live use."""

    events: Events
    kept: Events
    estimate: Any  # None for filters


class LiveBoard:
    """Pictures and numbers of a live session; threads may add and read at the same time."""

    def __init__(self, *, shown_us: int = SHOWN_US) -> None:
        self._shown_us = shown_us
        self._parts: deque[Part] = deque()
        self._states: deque[dict[str, Any]] = deque(maxlen=_MOST_STATES)
        self._version = 0
        self._is_ended = False
        self._lock = threading.Condition()

    def show(self, part: Part) -> None:
        """Add labeled events; those that are older than the pictures are dropped."""
        if not len(part.events):
            return
        with self._lock:
            self._parts.append(part)
            t_first = int(part.events.t[-1]) - self._shown_us
            while len(self._parts) > 1 and self._parts[0].events.t[-1] < t_first:
                self._parts.popleft()
            self._version += 1
            self._lock.notify_all()

    def note(self, facts: Mapping[str, Any]) -> None:
        """Add the counts of the session so far."""
        with self._lock:
            self._states.append({**facts, "at_s": time.monotonic()})

    def end(self) -> None:
        """Note that the session is over."""
        with self._lock:
            self._is_ended = True
            self._version += 1
            self._lock.notify_all()

    def wait(self, version: int, timeout_s: float) -> None:
        """Wait for events that are newer than a version."""
        with self._lock:
            self._lock.wait_for(lambda: self._version != version, timeout_s)

    def frame(self) -> bytes:
        """Return the pictures and numbers of now: size of the JSON, JSON, pictures.

        A picture has one byte per pixel: 128 plus the number of ON events, less that of OFF events.
        """
        with self._lock:
            parts, version = tuple(self._parts), self._version
            states, is_ended = tuple(self._states), self._is_ended
        head: dict[str, Any] = {"version": version, "is_ended": is_ended, **_curves(states)}
        pictures: list[NDArray[np.uint8]] = []
        if parts:
            resolution = parts[-1].events.resolution
            step = _joined(resolution)
            raw, kept, aligned = _columns(parts)
            pictures = [_picture(columns, resolution, step) for columns in (raw, aligned, kept)]
            head |= {
                "resolution": resolution,
                "shape": pictures[0].shape,
                "n_raw": raw[0].size,
                "n_kept": kept[0].size,
                "is_aligned": parts[-1].estimate is not None,
                "motion": _motion(parts[-1].estimate),
                "is_doubtful": bool(parts[-1].estimate is not None and parts[-1].estimate.doubts),
            }
        data = json.dumps(head).encode()
        return struct.pack("<I", len(data)) + data + b"".join(one.tobytes() for one in pictures)


Columns3 = tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]


def _columns(parts: tuple[Part, ...]) -> tuple[Columns3, Columns3, Columns3]:
    """Return x, y and p of all events, of the kept ones, and of the kept ones aligned."""
    raw = _joint([part.events for part in parts])
    kept = _joint([part.kept for part in parts])
    last = parts[-1].estimate
    if last is None:  # a filter knows no motion
        return raw, kept, kept
    # Windows have reference times of their own: only the newest one is sharp.
    signal = last.signal
    aligned = last.aligned_x[signal], last.aligned_y[signal], last.window.events.p[signal]
    return raw, kept, aligned


def _joint(chunks: list[Events]) -> Columns3:
    x, y, p = (np.concatenate([getattr(one, name) for one in chunks]) for name in ("x", "y", "p"))
    return x, y, p


def _joined(resolution: tuple[int, int]) -> int:
    """Return how many pixels along each axis are joined.

    >>> _joined((640, 480)), _joined((1280, 720))
    (1, 2)
    """
    width, height = resolution
    return max(int(np.ceil(np.sqrt(width * height / _MOST_PIXELS))), 1)


def _picture(columns: Columns3, resolution: tuple[int, int], step: int) -> NDArray[np.uint8]:
    every = max(-(-columns[0].size // _MOST_EVENTS), 1)
    x, y, p = (column[::every] for column in columns)
    width, height = -(-resolution[0] // step), -(-resolution[1] // step)
    column, row = np.rint(x).astype(np.int64) // step, np.rint(y).astype(np.int64) // step
    inside = (column >= 0) & (row >= 0) & (column < width) & (row < height)
    index = row[inside] * width + column[inside]
    n_on = np.bincount(index[p[inside]], minlength=width * height)
    n_off = np.bincount(index[~p[inside]], minlength=width * height)
    return np.clip(128 + n_on - n_off, 0, 255).astype(np.uint8).reshape(height, width)


def _motion(estimate: Any) -> str:
    """Return the motion of a window in words."""
    if estimate is None:
        return "a filter: no motion"
    model, theta = estimate.motion, estimate.theta
    if estimate.moved_center is not None:  # the velocity at the middle of the sensor
        model = OpenMotion()
        theta = estimate.parameters(model)
    values = zip(model.param_names, theta, model.param_units, strict=True)
    text = ", ".join(f"{name} {value:.3g} {unit}" for name, value, unit in list(values)[:2])
    n_layers = len(estimate.layer_motions)
    layers = f", {n_layers} layers" if n_layers > 1 else ""
    doubts = ", ".join(doubt.code.replace("_", " ") for doubt in estimate.doubts)
    sign = f"\N{WARNING SIGN} {doubts}: " if doubts else ""
    return f"{sign}{estimate.motion.name}: {text}{layers}"


def _curves(states: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Return rates, latencies and drops of the last seconds, oldest first."""
    if not states:
        return {"curves": {}, "counts": {}}
    now = states[-1]["at_s"]
    states = tuple(state for state in states if state["at_s"] > now - HISTORY_S)
    pairs = [
        (before, after, max(after["at_s"] - before["at_s"], 1e-3))
        for before, after in pairwise(states)
    ]
    curves = {
        "age_s": [round(after["at_s"] - now, 2) for _, after, _ in pairs],
        "events_s": [(b["n_events"] - a["n_events"]) / dt for a, b, dt in pairs],
        "kept_s": _kept_rates(pairs),
        "dropped_s": [(b["n_dropped"] - a["n_dropped"]) / dt for a, b, dt in pairs],
        "latency_ms": [b["latency_p95_ms"] for _, b, _ in pairs],
    }
    counts = {name: value for name, value in states[-1].items() if name != "at_s"}
    return {"curves": curves, "counts": counts}


def _kept_rates(
    pairs: list[tuple[dict[str, Any], dict[str, Any], float]],
) -> list[float | None]:
    """Return the rates of kept events: the rate of the events, times the share that is kept of late.

    Labels come window by window, all at once. Their own rate would be 0, and then above that of the
    events. None before the first labels.
    """
    rates: list[float | None] = []
    share: float | None = None
    for before, after, dt in pairs:
        names = ("n_events", "n_dropped", "n_labeled", "n_kept")
        n_in, n_dropped, n_labeled, n_kept = (after[name] - before[name] for name in names)
        share = n_kept / n_labeled if n_labeled else share
        rates.append(None if share is None else (n_in - n_dropped) / dt * share)
    return rates
