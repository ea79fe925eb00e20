"""ROS 2 messages over zenoh and DDS, with real peers on this machine."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import evcrisp
from evcrisp import ConfigError, Events, EvError, FormatError
from evcrisp.streaming.protocol import SourceCounts
from evcrisp.streaming.ros.messages import MessageDecoder, MessageEncoder, parse

zenoh = pytest.importorskip("zenoh", reason="the package eclipse-zenoh is not installed")
pytest.importorskip("cyclonedds", reason="the package cyclonedds is not installed")

PEER = Path(__file__).parent / "dds_peer.py"


@pytest.fixture
def events(make_events):
    made = make_events(30_000, resolution=(80, 60))
    return made.with_signal(None)


@pytest.fixture
def messages(events):
    return MessageEncoder(events.resolution).encode(events)


def test_messages_are_those_that_rosbags_writes(messages):
    store = get_typestore(Stores.ROS2_HUMBLE)
    fields = """std_msgs/Header header
uint32 height
uint32 width
uint64 seq
uint64 time_base
string encoding
bool is_bigendian
uint8[] events
"""
    name = "event_camera_msgs/msg/EventPacket"
    store.register(get_types_from_msg(fields, name))
    for data in messages:
        message = store.deserialize_cdr(data, name)
        assert (message.width, message.height, message.encoding) == (80, 60, "evt3")
        assert bytes(store.serialize_cdr(message, name)) == data


def test_messages_are_those_that_cyclonedds_writes(messages):
    from tests.unit.streaming.dds_fields import EventPacketFields

    from evcrisp.streaming.ros.dds_types import EventPacket

    name = "event_camera_msgs.msg.dds_.EventPacket_"
    for kind in (EventPacketFields, EventPacket):
        assert kind.__idl_typename__.replace("::", ".") == name
    for data in messages[:3]:
        assert EventPacketFields.deserialize(data).serialize() == data


def decoded(messages, counts=None):
    decoder = MessageDecoder(counts or SourceCounts())
    return [found for data in messages for found in decoder.decode(data)]


def test_messages_keep_all_events(events, messages):
    columns = [np.concatenate(parts) for parts in zip(*decoded(messages), strict=True)]
    x, y, t, p = columns
    assert Events(x=x, y=y, t=t, p=p, resolution=events.resolution).equals(events)


def test_messages_that_did_not_arrive_are_counted(messages):
    counts = SourceCounts()
    decoded([messages[0], *messages[3:]], counts)
    assert counts.n_lost == 2


@pytest.mark.parametrize("size", [0, 3, 10, 60, 77])
def test_short_messages_are_refused(messages, size):
    with pytest.raises(FormatError):
        parse(messages[0][:size])


def test_damaged_messages_are_never_worse_than_refused(messages):
    rng = np.random.default_rng(0)
    for _ in range(200):
        data = bytearray(messages[0][: rng.integers(0, len(messages[0]))])
        for place in rng.integers(0, max(len(data), 1), 5)[: len(data)]:
            data[place] = rng.integers(0, 256)
        for found in MessageDecoder(SourceCounts()).decode(bytes(data)):
            assert isinstance(found, FormatError) or found.x.size == found.t.size


def zenoh_session(port, kind):
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5(f"{kind}/endpoints", f'["tcp/127.0.0.1:{port}"]')
    return zenoh.open(config)


def test_zenoh_source_takes_messages_of_a_peer(start_live, wait_until, free_port, events, messages):
    session = start_live(f"zenoh://camera/events?listen=tcp/127.0.0.1:{free_port}")
    with connected(free_port, wait_until) as peer:
        # By default zenoh drops messages when it is busy.
        block = zenoh.CongestionControl.BLOCK
        publisher = peer.declare_publisher("camera/events", congestion_control=block)
        wait_until(lambda: publisher.matching_status.matching)
        publisher.put(b"damage")
        for data in messages:
            publisher.put(data)
        wait_until(lambda: sum(len(part.events) for part in session.parts) == len(events))
        session.stop.set()
        summary = session.result()
    assert Events.concatenate([part.kept for part in session.parts]).equals(events)
    assert (summary.n_events, summary.n_damaged, summary.n_lost) == (len(events), 1, 0)


def connected(port, wait_until):
    """Return a session that is connected to a peer, which may not listen yet."""
    made = []

    def connects():
        try:
            made.append(zenoh_session(port, "connect"))
        except zenoh.ZError:
            return False
        return True

    wait_until(connects)
    return made[0]


def test_zenoh_sink_sends_messages_to_a_peer(wait_until, free_port, events, tmp_path):
    evcrisp.write(tmp_path / "a.npz", events)
    got = []
    with zenoh_session(free_port, "listen") as peer:
        peer.declare_subscriber("clean", lambda sample: got.append(sample.payload.to_bytes()))
        address = f"zenoh://clean?connect=tcp/127.0.0.1:{free_port}"
        summary = evcrisp.live(tmp_path / "a.npz", address, "raw", speed="max")
        wait_until(lambda: sum(found.t.size for found in decoded(got)) == len(events))
    assert summary.n_kept == len(events)
    assert not [found for found in decoded(got) if isinstance(found, FormatError)]


def test_zenoh_without_a_router_is_an_error_that_says_so(free_port):
    with pytest.raises(EvError, match="cannot be used.*Start a router"):
        evcrisp.live(f"zenoh://events?connect=tcp/127.0.0.1:{free_port}", method="raw")


@pytest.mark.parametrize(
    ("address", "match"),
    [
        ("zenoh://", "Expected zenoh://KEY"),
        ("zenoh://a?port=1", "Expected zenoh://KEY"),
        ("zenoh://a?listen=tcp/0.0.0.0:7449", "admits other machines"),
        ("dds://300/events", "Expected dds://DOMAIN/TOPIC"),
        ("dds://events", "Expected dds://DOMAIN/TOPIC"),
        ("ftp://events", "Expected an address"),
    ],
)
def test_wrong_addresses_are_refused(address, match):
    with pytest.raises(ConfigError, match=match):
        evcrisp.live(address, method="raw")


@pytest.fixture
def start_peer():
    started = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, str(PEER), *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_dds_source_takes_messages_of_another_process(
    start_live, start_peer, wait_until, events, messages, tmp_path
):
    (tmp_path / "messages").write_bytes(pickle.dumps(messages))
    session = start_live("dds://77/camera/events")
    start_peer("send", 77, "camera/events", tmp_path / "messages")
    wait_until(lambda: sum(len(part.events) for part in session.parts) == len(events))
    session.stop.set()
    summary = session.result()
    assert Events.concatenate([part.kept for part in session.parts]).equals(events)
    assert (summary.n_damaged, summary.n_lost) == (0, 0)


def test_dds_sink_sends_messages_to_another_process(start_peer, events, messages):
    from evcrisp.streaming.ros.dds import DdsSink

    peer = start_peer("take", 78, "clean", len(messages))
    assert peer.stdout.readline() == "ready\n"
    sink = DdsSink("dds://78/clean")
    sink.open(events.resolution)
    while not sink._writer.get_matched_subscriptions():
        pass
    sink.write(events)
    got = [bytes.fromhex(peer.stdout.readline()) for _ in messages]
    sink.close(is_complete=True)
    assert got == messages
