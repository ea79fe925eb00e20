"""USB cameras: packets of the real packages' types, from a camera that is made up."""

from types import SimpleNamespace

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, EvError
from evcrisp.streaming.sources.usb import DvCamera, NeuromorphicCamera


@pytest.fixture
def packets(make_events):
    events = make_events(3_000, resolution=(346, 260)).with_signal(None)
    return [events[k : k + 500] for k in range(0, 3_000, 500)]


class MadeUpDvCamera:
    """The methods of dv-processing's cameras that are used; its packets are real event stores."""

    def __init__(self, stores):
        self._stores = list(stores)

    def getEventResolution(self):  # noqa: N802 - the name in the package
        return (346, 260)

    def isRunning(self):  # noqa: N802
        return bool(self._stores)

    def getNextEventBatch(self):  # noqa: N802
        return self._stores.pop(0)


def test_batches_of_dv_processing_become_events(packets):
    dv = pytest.importorskip("dv_processing", reason="the package dv-processing is not installed")
    for name in ("getEventResolution", "isRunning", "getNextEventBatch"):
        assert hasattr(dv.io.camera.CameraInputBase, name)
    stores = [packets[0].to_dv(), None, dv.EventStore(), *(one.to_dv() for one in packets[1:])]
    parts = []
    source = DvCamera("usb://dv-processing", MadeUpDvCamera(stores))
    summary = evcrisp.live(source, method="raw", on_part=parts.append)
    kept = Events.concatenate([part.kept for part in parts])
    assert kept.equals(Events.concatenate(packets))
    assert summary.n_damaged == summary.n_lost == 0


class MadeUpDevice:
    """A device of neuromorphic-drivers: iterates over status and packet."""

    def __init__(self, packets):
        self._packets = packets

    def properties(self):
        from neuromorphic_drivers.generated.devices.inivation_davis346 import Properties

        return Properties()

    def __iter__(self):
        return iter((None, packet) for packet in self._packets)


def test_packets_of_neuromorphic_drivers_become_events(packets):
    drivers = pytest.importorskip(
        "neuromorphic_drivers", reason="the package neuromorphic-drivers is not installed"
    )
    made = []
    for events in packets:
        packet = drivers.Davis346Packet()
        records = np.empty(
            len(events), [("t", "<u8"), ("x", "<u2"), ("y", "<u2"), (("p", "on"), "?")]
        )
        columns = (events.t, events.x, events.y, events.p)
        for name, column in zip(("t", "x", "y", "on"), columns, strict=True):
            records[name] = column
        packet.polarity_events = records
        packet.polarity_events_overflow_indices = None
        made.append(packet)
    made[2].polarity_events_overflow_indices = np.array([5])
    without = drivers.Davis346Packet()
    without.polarity_events = None
    parts = []
    source = NeuromorphicCamera("usb://neuromorphic-drivers", MadeUpDevice([None, without, *made]))
    summary = evcrisp.live(source, method="raw", on_part=parts.append)
    kept = Events.concatenate([part.kept for part in parts])
    assert kept.equals(Events.concatenate(packets))
    assert summary.n_lost == 1


def test_events_outside_the_sensor_are_damage():
    camera = MadeUpDvCamera(
        [SimpleNamespace(isEmpty=lambda: False, numpy=lambda: records([400])), None]
    )
    summary = evcrisp.live(DvCamera("usb://dv-processing", camera), method="raw")
    assert (summary.n_events, summary.n_damaged) == (0, 1)


def records(x):
    kind = [("timestamp", "<i8"), ("x", "<i2"), ("y", "<i2"), ("polarity", "u1")]
    made = np.zeros(len(x), kind)
    made["x"] = x
    return made


@pytest.mark.parametrize("package", ["dv-processing", "neuromorphic-drivers"])
def test_a_camera_that_is_absent_is_an_error_that_says_so(package):
    pytest.importorskip(package.replace("-", "_"), reason=f"{package} is not installed")
    with pytest.raises(EvError, match="cannot be opened.*Connect the camera"):
        evcrisp.live(f"usb://{package}/no-such-serial-number", method="raw")


def test_an_unknown_package_is_refused():
    with pytest.raises(ConfigError, match="Expected usb://dv-processing"):
        evcrisp.live("usb://other", method="raw")
