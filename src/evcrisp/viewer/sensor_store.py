"""Frames and IMU samples of a recording, stored beside its events for the page."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.sensor_data import Frame, Imu
from evcrisp.io.recording import Recording
from evcrisp.viewer.bundle_format import write_bundle

FRAMES, FACTS, IMU = "frames.u1", "frames.json", "imu.npz"

#: Bytes of frames that are stored; later frames are left out.
MAX_FRAME_BYTES = 1 << 30

#: Samples of the trace; more than the pixels of a screen are not seen.
MAX_SAMPLES = 4_000


@dataclass(frozen=True, slots=True)
class SensorStore:
    """Folder with the frames and IMU samples; all of it is optional."""

    folder: Path
    t_first: int  # first event of the recording, us

    def write(self, recording: Recording) -> list[str]:
        """Store the sensor data of a recording; return notes for the user."""
        imu = recording.imu()
        if imu is not None and len(imu):
            t, gyro = _thinned(imu)
            np.savez(self.folder / IMU, t=t, gyro=gyro)
        return self._write_frames(recording.frames())

    def _write_frames(self, frames: Iterable[Frame]) -> list[str]:
        entries: list[dict[str, Any]] = []
        n_bytes, is_full = 0, False
        with (self.folder / FRAMES).open("wb") as file:
            for frame in frames:
                image = gray_bytes(frame.image)
                if is_full := n_bytes + image.size > MAX_FRAME_BYTES:
                    break
                file.write(image.tobytes())
                height, width = image.shape
                x, y = frame.position
                place = {"offset": n_bytes, "width": width, "height": height, "x": x, "y": y}
                entries.append({"t": frame.t, **place})
                n_bytes += image.size
        entries.sort(key=lambda entry: entry["t"])
        (self.folder / FACTS).write_text(json.dumps(entries))
        seconds = (entries[-1]["t"] - self.t_first) / 1e6 if entries else 0.0
        return [f"Frames after {seconds:.1f} s are not shown; they need too much disk."] * is_full

    def _frames(self) -> list[dict[str, Any]]:
        path = self.folder / FACTS
        entries: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
        return entries

    def bundle(self) -> bytes:
        """Return times of the frames and the IMU trace; times in ms since the first event."""
        t_frames = np.array([entry["t"] for entry in self._frames()], np.int64)
        arrays: dict[str, NDArray[Any]] = {"frame_ms": self._milliseconds(t_frames)}
        if (self.folder / IMU).exists():
            with np.load(self.folder / IMU) as imu:
                arrays["imu_ms"] = self._milliseconds(imu["t"])
                arrays["gyro"] = imu["gyro"].astype(np.float32).ravel()
        return write_bundle({"kind": "sensors"}, arrays)

    def _milliseconds(self, t: NDArray[np.int64]) -> NDArray[np.float32]:
        return ((t - self.t_first) / 1e3).astype(np.float32)

    def nearest_frame(self, t_us: int) -> int:
        """Return the index of the frame nearest to a time since the first event; -1 for none."""
        t = np.array([entry["t"] for entry in self._frames()], np.int64)
        return int(np.argmin(np.abs(t - (self.t_first + t_us)))) if t.size else -1

    def frame(self, index: int) -> bytes:
        """Return one frame as a bundle; an empty one if the index does not exist."""
        entries = self._frames()
        if not 0 <= index < len(entries):
            return write_bundle({"width": 0, "height": 0}, {"image": np.zeros(0, np.uint8)})
        entry = entries[index]
        n, offset = entry["width"] * entry["height"], entry["offset"]
        image = np.fromfile(self.folder / FRAMES, np.uint8, n, offset=offset)
        return write_bundle({**entry, "t": entry["t"] - self.t_first}, {"image": image})


def gray_bytes(image: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an image as gray values of one byte; larger types are scaled by their range.

    >>> gray_bytes(np.array([[0, 65535]], np.uint16)).tolist()
    [[0, 255]]
    """
    values = np.asarray(image)
    if values.ndim == 3:
        values = values.mean(axis=2).astype(values.dtype)
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind in "ui":
        return (values / (np.iinfo(values.dtype).max / 255.0)).clip(0, 255).astype(np.uint8)
    top = max(float(np.nanmax(values, initial=0.0)), 1e-9)
    return np.nan_to_num(255.0 * values / max(top, 1.0 if top <= 1.0 else top)).astype(np.uint8)


def _thinned(imu: Imu) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return times and angular velocities in order of time, as means of groups of samples."""
    order = np.argsort(imu.t, kind="stable")
    t, gyro = imu.t[order], imu.gyro_rad_s[order]
    size = -(-t.size // MAX_SAMPLES)
    groups = list(_groups(t.size, size))
    return (
        np.array([t[part][0] for part in groups], np.int64),
        np.array([gyro[part].mean(axis=0) for part in groups]),
    )


def _groups(n: int, size: int) -> Iterator[slice]:
    return (slice(first, first + size) for first in range(0, n, size))
