"""The servers and clients of dv-processing on this machine are the other side."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.sinks.server import ServerSink

pytest.importorskip("dv_processing", reason="dv-processing is the other side")

RESOLUTION = (346, 260)
SERVER = Path(__file__).with_name("dv_server.py")
CLIENT = Path(__file__).with_name("dv_client.py")


@pytest.fixture(params=["tcp", "unix"])
def place(request, free_port, tmp_path):
    """Return the address as text, and as arguments of dv-processing."""
    if request.param == "tcp":
        return f"tcp://127.0.0.1:{free_port}", ("127.0.0.1", free_port)
    path = tmp_path / "s"
    return f"unix://{path}", (str(path),)


@pytest.fixture
def events(make_events):
    return make_events(35_000, resolution=RESOLUTION)


@pytest.fixture
def serve(events, tmp_path):
    """Return a function that starts a NetworkWriter, which sends the events to one client."""
    evcrisp.write(tmp_path / "served.npz", events)
    started = []

    def start(*where):
        command = [sys.executable, SERVER, tmp_path / "served.npz", *where]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen(list(map(str, command)), text=True, **pipes)
        started.append(process)
        assert process.stdout.readline() == "listening\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def received(session):
    return sum(len(part.events) for part in session.parts)


def test_events_of_a_network_writer_arrive(place, serve, events, start_live, wait_until):
    address, where = place
    server = serve(*where)
    session = start_live(address)
    wait_until(lambda: received(session) == len(events))
    server.communicate()
    summary = session.result()
    assert Events.concatenate([part.events for part in session.parts]).equals(events)
    assert (summary.n_events, summary.n_kept, summary.n_dropped) == (35_000, 35_000, 0)
    assert summary.n_damaged == 0


def test_killed_server_comes_back(place, serve, events, start_live, wait_until):
    address, where = place
    server = serve(*where)
    session = start_live(address, reconnect=True)
    wait_until(lambda: received(session) == len(events))
    server.kill()
    server.communicate()
    if address.startswith("unix"):
        Path(*where).unlink()  # a killed server leaves it
    serve(*where)
    wait_until(lambda: received(session) == 2 * len(events))
    session.stop.set()
    summary = session.result()
    assert (summary.n_reconnects, summary.n_damaged) == (1, 0)
    # The second server sends the same times, which continue after those of the first.
    assert np.all(np.diff(np.concatenate([part.events.t for part in session.parts])) >= 0)


def test_network_reader_reads_the_server(place, events, wait_until, tmp_path):
    address, where = place
    sink = ServerSink(Address.parse(address))
    sink.open(RESOLUTION)
    command = [sys.executable, CLIENT, tmp_path / "got.npz", len(events), *where]
    client = subprocess.Popen(list(map(str, command)))
    wait_until(lambda: sink.n_receivers == 1)
    sink.write(events)
    assert client.wait(timeout=60) == 0
    sink.close(is_complete=True)
    assert evcrisp.read(tmp_path / "got.npz").equals(events)
