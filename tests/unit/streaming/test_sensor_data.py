"""IMU samples, triggers and frames of a source reach sinks that keep them, in the order of time."""

import io
import socket

import numpy as np
import pytest
from tests.sensor_data import GivenData

import evcrisp
from evcrisp.core.sensor_data import Frame, Imu, Triggers
from evcrisp.streaming import sensor_data
from evcrisp.streaming.addresses import Address
from evcrisp.streaming.sinks.stdout import StdoutSink
from evcrisp.streaming.sources.socket import SocketSource
from evcrisp.streaming.sources.stdin import StdinSource

SPAN_US = 60_000


@pytest.fixture
def events():
    rng = np.random.default_rng(0)
    x, y, p = (rng.integers(0, n, 30_000) for n in (32, 24, 2))
    return evcrisp.Events(x=x, y=y, t=np.arange(30_000) * 2, p=p, resolution=(32, 24))


@pytest.fixture
def file(events, tmp_path):
    rng = np.random.default_rng(1)
    t = np.arange(0, SPAN_US, 1_000)
    imu = Imu(t=t, gyro_rad_s=rng.normal(size=(60, 3)), accel_m_s2=rng.normal(size=(60, 3)))
    edges = Triggers(
        t=np.array([5_000, 31_000]), kind=np.array([1, 2], np.uint8), channel=np.zeros(2, np.uint8)
    )
    images = tuple(Frame(t=t, image=np.full((24, 32), t // 500, np.uint8)) for t in (9_000, 40_000))
    evcrisp.write(tmp_path / "a.aedat4", events, sensor_data_from=GivenData(imu, edges, images))
    return tmp_path / "a.aedat4"


def assert_same_data(path, expected_path):
    with evcrisp.open(path) as found, evcrisp.open(expected_path) as expected:
        for name in ("t", "gyro_rad_s", "accel_m_s2"):
            np.testing.assert_allclose(
                getattr(found.imu(), name), getattr(expected.imu(), name), rtol=1e-6
            )
        for name in ("t", "kind"):
            assert getattr(found.triggers(), name).tolist() == (
                getattr(expected.triggers(), name).tolist()
            )
        frames = list(found.frames()), list(expected.frames())
        assert [frame.t for frame in frames[0]] == [frame.t for frame in frames[1]]
        for one, other in zip(*frames, strict=True):
            assert (one.image == other.image).all()


def packet_times(path):
    """Return the first time of every packet of a file, in the order of the file."""
    times = []
    with path.open("rb") as file:
        source = StdinSource(file=file)
        source.open()
        source.on_sensor_data = lambda data: times.append(sensor_data.first_time(data))
        for events in source.chunks():
            times.append(int(events.t[0]))
    return times


@pytest.mark.parametrize("method", ["raw", "baf", "cmax"])
def test_file_has_the_sensor_data_in_the_order_of_time(file, tmp_path, method):
    out = tmp_path / "b.aedat4"
    options = {"motion": "translation"} if method == "cmax" else {}
    windowing = evcrisp.Windowing(max_latency_us=10_000)
    evcrisp.live(file, out, method, speed="max", windowing=windowing, **options)
    assert_same_data(out, file)
    times = packet_times(out)
    longest = 5_000 if method != "cmax" else 10_000  # of a packet, of a window
    assert len(times) > 60 / 10
    assert (np.diff(times) > -longest).all()


def test_server_and_pipe_pass_sensor_data_on(file, tmp_path, start_live, wait_until, free_port):
    address = f"tcp://127.0.0.1:{free_port}"
    pipe = io.BytesIO()
    sender = start_live(file, [f"{address}?sensors", StdoutSink(file=pipe)], speed=0.02)
    wait_until(lambda: _is_open(free_port))
    receiver = start_live(address, tmp_path / "received.aedat4")
    sender.result()
    receiver.result()
    with evcrisp.open(tmp_path / "received.aedat4") as received:
        assert {40_000} <= {frame.t for frame in received.frames()}
        assert 31_000 in received.triggers().t
        assert received.imu().t[-1] == SPAN_US - 1_000
    (tmp_path / "pipe.aedat4").write_bytes(pipe.getvalue())
    assert_same_data(tmp_path / "pipe.aedat4", file)


def _is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def test_server_sends_events_alone_unless_asked(file, start_live, wait_until, free_port):
    sender = start_live(file, f"tcp://127.0.0.1:{free_port}", speed=0.02)
    wait_until(lambda: _is_open(free_port))
    source = SocketSource(Address.parse(f"tcp://127.0.0.1:{free_port}"))
    source.open()
    assert source.sensor_kinds == ()
    source.close()
    list(source.chunks())
    sender.stop.set()


def test_sink_without_sensor_data_is_named_once(file, tmp_path, caplog):
    evcrisp.live(file, tmp_path / "b.npz", "raw", speed="max")
    texts = [record.getMessage() for record in caplog.records]
    for name in ("IMU samples", "triggers", "frames"):
        assert sum(f"does not keep {name}" in text for text in texts) == 1


def test_waiting_data_are_bounded():
    queue = sensor_data.SensorDataQueue()
    for t in range(100):
        queue.put(Frame(t=t, image=np.zeros((1024, 1024), np.uint8)))
    kept = [frame.t for frame in queue.take(None)]
    assert kept == list(range(100 - len(kept), 100))
    assert queue.n_dropped == 100 - len(kept) >= 36
