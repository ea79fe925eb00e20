"""A DDS participant in another process: sends messages with all fields, or prints what it takes.

``python dds_peer.py send DOMAIN TOPIC FILE`` sends the messages of a pickle file, encoded by the package
cyclonedds, until its input ends. ``python dds_peer.py take DOMAIN TOPIC N`` prints N messages in hex.
"""

import pickle
import sys
import time
from pathlib import Path

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from evcrisp.streaming.ros.dds import _CONFIG

sys.path.insert(0, str(Path(__file__).parent))
from dds_fields import EventPacketFields


def main(action: str, domain: str, name: str, what: str) -> None:
    _domain = Domain(int(domain), _CONFIG.format(address="127.0.0.1", multicast="false"))
    participant = DomainParticipant(int(domain))
    topic = Topic(participant, f"rt/{name}", EventPacketFields)
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(1000))
    if action == "send":
        stored = pickle.loads(Path(what).read_bytes())
        messages = [EventPacketFields.deserialize(data) for data in stored]
        writer = DataWriter(participant, topic, qos=qos)
        while not writer.get_matched_subscriptions():
            time.sleep(0.01)
        time.sleep(1.0)  # the reader finds the writer later, and takes nothing of others
        for message in messages:
            writer.write(message)
            time.sleep(0.005)
        sys.stdin.read()
    else:
        reader = DataReader(participant, topic, qos=qos)
        print("ready", flush=True)  # noqa: T201
        for _ in range(int(what)):
            sample = next(reader.take_iter(timeout=duration(seconds=60)))
            print(sample.serialize().hex(), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
