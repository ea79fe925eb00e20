"""Labels come in time: windows that the wall clock ends, motions that are reused, warm kernels."""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp import Doubt, Events, Windowing
from evcrisp.estimators import AutoRegret
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.pipeline.auto_windows import auto_windows
from evcrisp.pipeline.tracking import Tracker
from evcrisp.simulation import ObjectConfig
from evcrisp.streaming import cleaning as cleaning_module
from evcrisp.streaming.bounded_queue import BoundedQueue
from evcrisp.streaming.pace import Effort
from evcrisp.streaming.packet_stream import PacketStream
from evcrisp.streaming.protocol import SourceCounts

SIZE = (120, 90)


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=SIZE, theta=(250.0, -100.0), duration_us=200_000, noise_hz=5.0, seed=4
    )


@pytest.fixture(scope="module")
def street():
    thing = ObjectConfig(motion="translation", theta=(-260, 90), size=(0.4, 0.5))
    return evcrisp.simulate(
        resolution=(240, 180),
        theta=(90, 40),
        objects=(thing,),
        duration_us=120_000,
        noise_hz=3.0,
        seed=3,
    )


class ManualSource:
    """A source that sends what the test puts, when the test puts it."""

    name, can_wait = "manual", False

    def __init__(self, resolution):
        self.counts, self._resolution = SourceCounts(), resolution
        self.queue = BoundedQueue(10**9)

    def open(self):
        return self._resolution

    def chunks(self):
        yield from self.queue

    def close(self):
        self.queue.end()


def windows_of(events, length_us):
    return list(evcrisp.by_time(events, length_us))


def test_relabeled_window_has_the_labels_of_its_own_motion(scene):
    first, second, *_ = windows_of(scene.events.with_signal(None), 40_000)
    tracker = Tracker(AutoRegret(), OpenMotion(), SIZE)
    tracker.estimate(first)
    result = tracker.relabel(second)
    assert result.doubts == (Doubt.REUSED,)
    assert not result.reliable
    full = Tracker(AutoRegret(), OpenMotion(), SIZE)
    full.estimate(first)
    expected = full.estimate(second)
    # The motion is constant: that of the window before gives the same labels but for few events.
    assert np.mean(result.signal == expected.signal) > 0.98


def test_relabeled_layers_are_those_of_the_window_before(street):
    first, second, *_ = windows_of(street.events.with_signal(None), 40_000)
    tracker = Tracker(AutoRegret(), OpenMotion("layers"), (240, 180))
    known = tracker.estimate(first)
    result = tracker.relabel(second)
    assert len(known.layers) >= 2
    ids = {layer.id for layer in known.layers}
    moving = [layer for layer in result.layers if np.hypot(*layer.velocity) > 10]
    assert {layer.id for layer in moving} <= ids
    truth = street.events.between(second.t_start, second.t_end)
    assert np.mean(result.signal == truth.signal) > 0.9
    one = tracker.relabel(second, by_one_motion=True)
    assert one.layer_map is None


def test_without_a_motion_labels_rest_on_neighbors(scene):
    window = windows_of(scene.events, 40_000)[0]
    result = Tracker(AutoRegret(), OpenMotion(), SIZE).relabel(window)
    assert not result.theta.any()
    truth = scene.events.signal[: len(window.events)]
    assert np.mean(result.signal == truth) > 0.8


def test_chosen_windows_end_without_the_events_after_them(scene):
    chunks = [scene.events[k : k + 50] for k in range(0, len(scene.events), 50)]
    for joins_rest in (True, False):
        taken = []

        def stream(taken=taken):
            for chunk in chunks:
                taken.append(chunk)
                yield chunk

        window, _ = next(auto_windows(stream(), 500_000, joins_rest=joins_rest))
        beyond_us = int(taken[-1].t[-1]) - window.t_end
        if not joins_rest:
            assert int(taken[-2].t[-1]) < window.t_end <= int(taken[-1].t[-1])
        else:
            assert beyond_us > 1_000  # what a live session must not wait for


def test_silence_ends_a_window(scene):
    queue = BoundedQueue(10**9)
    packets = PacketStream(queue)
    queue.put((scene.events[:100], time.monotonic()), 100)
    assert [len(chunk) for chunk in packets.until_silence(0.01)] == [100]
    assert not packets.is_ended
    packets.labeled(int(scene.events.t[99]))
    queue.put((scene.events[100:150], time.monotonic()), 50)
    queue.end()
    assert [len(chunk) for chunk in packets.until_silence(0.01)] == [50]
    assert packets.is_ended


def test_labels_come_while_the_source_is_silent(start_live, wait_until, scene):
    source = ManualSource(SIZE)
    session = start_live(source, method="auto", windowing=Windowing(max_latency_us=30_000))
    first = scene.events.between(0, 20_000)
    source.queue.put(first, len(first))
    wait_until(lambda: sum(len(part.events) for part in session.parts) == len(first))
    rest = scene.events.between(60_000, 120_000)
    source.queue.put(rest, len(rest))
    source.queue.end()
    summary = session.result()
    assert summary.n_labeled == len(first) + len(rest)
    assert [part.estimate.window.index for part in session.parts][1] == len(first)


@pytest.fixture
def never_in_time(monkeypatch):
    monkeypatch.setattr("evcrisp.streaming.pace.SLACK_S", -1.0)


def test_without_time_motions_are_reused_and_searched_beside(
    never_in_time, start_live, wait_until, scene
):
    source = ManualSource(SIZE)
    windowing = Windowing(window_us=20_000)
    session = start_live(source, method="auto", windowing=windowing)
    n_sent = 0
    for k in range(200):
        events = scene.events.between(k % 10 * 20_000, (k % 10 + 1) * 20_000)
        shifted = Events(
            x=events.x, y=events.y, t=events.t + (k // 10) * 200_000, p=events.p, resolution=SIZE
        )
        source.queue.put(shifted, len(events))
        n_sent += len(events)
        if k > 3:
            wait_until(lambda k=k: len(session.parts) >= k - 2)
        if any(part.searched is not None for part in session.parts[:-2]):
            break
        time.sleep(0.01)
    source.queue.end()
    summary = session.result()
    assert summary.n_labeled == n_sent
    assert summary.n_reused == summary.n_windows > 0
    assert 0 < summary.n_searched < summary.n_windows
    assert {part.effort for part in session.parts} == {Effort.REUSED}
    searched = [part.searched for part in session.parts if part.searched is not None]
    # The first search of the other process is what a search of this window alone gives here.
    alone = Tracker(AutoRegret(), OpenMotion(), SIZE).estimate(searched[0].window)
    np.testing.assert_allclose(searched[0].theta, alone.theta)
    last = session.parts[-1].estimate
    np.testing.assert_array_equal(last.theta, searched[-1].theta)
    assert last.doubts == (Doubt.REUSED,)
    assert "reused the motion" in summary.page()


def test_search_that_is_killed_is_started_again(never_in_time, wait_until):
    made = cleaning_module.cleaning_by("auto")
    beside = made._beside
    beside.start(wait=True)
    os.kill(beside._process.pid, signal.SIGKILL)
    wait_until(lambda: beside._process is None)
    assert not beside.is_busy
    beside.start(wait=True)
    made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_search_has_a_lower_priority_than_labels():
    made = cleaning_module.cleaning_by("auto")
    made._beside.start(wait=True)
    process = Path(f"/proc/{made._beside._process.pid}")
    niceness = int((process / "stat").read_text().rpartition(")")[2].split()[16])
    made.close()
    assert niceness == min(os.nice(0) + 5, 19)


def test_search_lowers_the_priority_of_its_group(monkeypatch, tmp_path):
    module = importlib.import_module("evcrisp.streaming.search_process")
    monkeypatch.setattr(module, "_AUTOGROUP", tmp_path / "autogroup")
    monkeypatch.setattr(os, "nice", lambda n: n)
    module._lower_priority()
    assert (tmp_path / "autogroup").read_text() == "5"
    monkeypatch.setattr(module, "_AUTOGROUP", tmp_path / "absent" / "autogroup")
    module._lower_priority()  # other systems


def test_full_search_reuses_nothing(never_in_time, start_live, scene):
    source = ManualSource(SIZE)
    windowing = Windowing(window_us=20_000)
    session = start_live(source, method="auto", windowing=windowing, full_search=True)
    events = scene.events.between(0, 100_000)
    source.queue.put(events, len(events))
    source.queue.end()
    summary = session.result()
    assert summary.n_reused == 0
    assert summary.n_searched == summary.n_windows == 5


_COMPILED = """
import json, sys
import evcrisp
from evcrisp.streaming.cleaning import cleaning_by

def compiled():
    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("evcrisp.kernels"):
            for key, kernel in vars(module).items():
                for signature in getattr(kernel, "signatures", ()):
                    found.add(f"{kernel.py_func.__module__}.{key} {signature}")
    return found

made = cleaning_by("auto")
made.warm_up()
before = compiled()
events = evcrisp.read(sys.argv[1])
tracker = made.tracker(events.resolution)
for window, _ in evcrisp.Windowing().cut(iter((events,)), tracker.speed_px_s):
    tracker.estimate(window)
    tracker.relabel(window)
print(json.dumps(sorted(compiled() - before)))
"""


@pytest.mark.slow
def test_warm_up_compiles_what_a_scene_needs(street, tmp_path):
    evcrisp.write(tmp_path / "a.npz", street.events)
    done = subprocess.run(
        [sys.executable, "-c", _COMPILED, str(tmp_path / "a.npz")],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert json.loads(done.stdout) == []


def test_state_is_reported_while_the_session_runs(start_live, wait_until, scene):
    source, states = ManualSource(SIZE), []
    session = start_live(source, method="baf", on_state=states.append)
    source.queue.put(scene.events[:1000], 1000)
    wait_until(lambda: states and states[-1].n_labeled == 1000)
    assert states[-1].latency_p95_ms is not None
    source.queue.end()
    assert session.result().n_events == 1000
    assert threading.active_count() < 50
