"""Events of USB cameras, through the package dv-processing or neuromorphic-drivers."""

import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError, EvError
from evcrisp.core.events import Events
from evcrisp.core.registry import require
from evcrisp.io.protocol import Columns
from evcrisp.streaming.checked_stream import CheckedStream
from evcrisp.streaming.protocol import LiveSource, SourceCounts

SCHEME = "usb://"
#: Time between two questions for events, and longest time that a camera is waited for, s.
_POLL_S, _WAIT_S = 0.0005, 0.1


def open_camera(address: str) -> "CameraSource":
    """Return the source of ``usb://PACKAGE`` or ``usb://PACKAGE/SERIAL``."""
    found = re.fullmatch(r"(dv-processing|neuromorphic-drivers)(?:/(\S+))?", address[len(SCHEME) :])
    if found is None:
        raise ConfigError(
            "Expected usb://dv-processing or usb://neuromorphic-drivers, with /SERIAL for one of "
            f"several cameras; got {address!r}."
        )
    package, serial = found.groups()
    opened = _open_dv if package == "dv-processing" else _open_neuromorphic
    try:
        return opened(address, serial)
    # The packages raise their own errors, RuntimeError or IndexError without a camera.
    except (RuntimeError, IndexError, OSError) as error:
        raise EvError(
            f"{address} cannot be opened: {_reason(error)}.",
            remedy="Connect the camera, and install its udev rules.",
        ) from error


class CameraSource(LiveSource):
    """Packets of a camera; the subclass knows the package."""

    can_wait = False

    def __init__(self, name: str, camera: Any) -> None:
        self.name, self.counts = name, SourceCounts()
        self._camera = camera
        self._stop = threading.Event()

    def columns(self) -> Iterator[Columns | None]:
        """Yield the columns of packets; None if there is none yet."""
        raise NotImplementedError

    def chunks(self) -> Iterator[Events]:
        """Yield the events of good packets until the camera is disconnected."""
        checked = CheckedStream(self.open(), self.counts)
        for columns in self.columns():
            if self._stop.is_set():
                return
            events = None if columns is None else checked.accept(columns)
            if events is not None:
                yield events

    def close(self) -> None:
        """End after the next packet."""
        self._stop.set()


class DvCamera(CameraSource):
    """A DAVIS, DVXplorer or DVS128; ``camera`` is a ``CameraInputBase`` of dv-processing."""

    def open(self) -> tuple[int, int]:
        """Return the sensor size."""
        width, height = self._camera.getEventResolution()
        return int(width), int(height)

    def columns(self) -> Iterator[Columns | None]:
        """Yield batches while the camera runs."""
        while self._camera.isRunning():
            store = self._camera.getNextEventBatch()
            if store is None or store.isEmpty():
                time.sleep(_POLL_S)
                yield None
            else:
                yield _from_records(store.numpy(), "timestamp", "polarity")


class NeuromorphicCamera(CameraSource):
    """An EVK3, EVK4, DAVIS346 or DVXplorer; ``camera`` is a device of neuromorphic-drivers."""

    def open(self) -> tuple[int, int]:
        """Return the sensor size."""
        properties = self._camera.properties()
        return int(properties.width), int(properties.height)

    def columns(self) -> Iterator[Columns | None]:
        """Yield packets; USB packets that the driver dropped are counted as lost."""
        for _, packet in self._camera:
            events = None if packet is None else packet.polarity_events
            if events is None:
                yield None
                continue
            overflows = getattr(packet, "polarity_events_overflow_indices", None)
            self.counts.n_lost += 0 if overflows is None else len(overflows)
            yield _from_records(events, "t", "on")


def _reason(error: Exception) -> str:
    """Return the one line of an error that says what is wrong."""
    if isinstance(error, IndexError):  # of dv-processing
        return "no camera was found"
    found = re.search(r"^\w*Error: (.+)$", str(error), re.MULTILINE)
    return (found[1] if found else str(error).splitlines()[0]).rstrip(".")


def _from_records(records: np.ndarray, t: str, p: str) -> Columns:
    x, y = (np.ascontiguousarray(records[name], np.uint16) for name in ("x", "y"))
    return Columns(x, y, records[t].astype(np.int64), records[p].astype(np.bool_))


def _open_dv(address: str, serial: str | None) -> CameraSource:
    dv = require("dv_processing", extra="usb", purpose="Cameras of iniVation")
    return DvCamera(address, dv.io.camera.open(*(() if serial is None else (serial,))))


def _open_neuromorphic(address: str, serial: str | None) -> CameraSource:
    drivers = require("neuromorphic_drivers", extra="usb", purpose="USB cameras")
    camera = drivers.open(serial=serial, iterator_timeout=_WAIT_S)
    return NeuromorphicCamera(address, camera.__enter__())
