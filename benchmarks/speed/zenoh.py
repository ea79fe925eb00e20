"""Rate of live events over zenoh on this machine.

Command: ``python -m benchmarks.speed.zenoh [--events 10000000] [--repeats 10] [--mb-s 150]``.

One process publishes `event_camera_msgs` (evt3) at a rate; another runs `evcrisp.live`. Printed as
JSON: bytes and events per second, and how many messages were lost.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import zenoh

import evcrisp
from evcrisp.streaming.ros.messages import MessageEncoder

RESOLUTION = (640, 480)


def session(port):
    """Return a session of zenoh that is connected to a port of this machine."""
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("connect/endpoints", f'["tcp/127.0.0.1:{port}"]')
    return zenoh.open(config)


def publish(port, n_events, n_repeats, mb_s):
    """Publish the same messages several times, when the receiver listens; print bytes and events."""
    rng, n = np.random.default_rng(0), n_events
    t = np.sort(rng.integers(0, n // 2, n))  # 2 million events per second
    x, y = rng.integers(0, RESOLUTION[0], n), rng.integers(0, RESOLUTION[1], n)
    events = evcrisp.Events(x=x, y=y, t=t, p=rng.integers(0, 2, n), resolution=RESOLUTION)
    messages = MessageEncoder(RESOLUTION).encode(events)
    with session(port) as peer:
        block = zenoh.CongestionControl.BLOCK
        publisher = peer.declare_publisher("camera/events", congestion_control=block)
        while not publisher.matching_status.matching:
            time.sleep(0.01)
        start, n_bytes = time.monotonic(), 0
        for _ in range(n_repeats):
            for data in messages:
                publisher.put(data)
                n_bytes += len(data)
                time.sleep(max(0.0, start + n_bytes / 1e6 / mb_s - time.monotonic()))
        took = time.monotonic() - start
        facts = {
            "n_sent": n * n_repeats,
            "n_bytes": n_bytes,
            "put_s": took,
        }
        print(json.dumps(facts), flush=True)
        time.sleep(3600)  # the session stays until the receiver has ended


def main():
    """Measure one session and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--mb-s", type=float, default=150.0)
    parser.add_argument("--method", default="raw")
    parser.add_argument("--publish", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish is not None:
        publish(options.publish, options.events, options.repeats, options.mb_s)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    state = {"n": 0, "first": None, "last": None}

    def count(part):
        state["last"] = time.monotonic()
        state["first"] = state["first"] or state["last"]
        state["n"] += len(part.events)

    stop, summaries = threading.Event(), []
    source = f"zenoh://camera/events?listen=tcp/127.0.0.1:{port}"
    settings = {
        "method": options.method,
        "on_part": count,
        "stop": stop,
        "max_waiting_events": 10**8,
    }
    thread = threading.Thread(
        target=lambda: summaries.append(evcrisp.live(source, **settings)), daemon=True
    )
    thread.start()
    time.sleep(10)  # kernels are loaded
    words = ["--publish", str(port), "--events", str(options.events), "--mb-s", str(options.mb_s)]
    sender = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.speed.zenoh", *words, "--repeats", str(options.repeats)],
        stdout=subprocess.PIPE,
        text=True,
    )
    sent = json.loads(sender.stdout.readline())
    n_then = -1
    while state["n"] < sent["n_sent"] and state["n"] != n_then:
        n_then = state["n"]
        time.sleep(2)
    stop.set()
    thread.join()
    sender.kill()
    took = state["last"] - state["first"]
    summary = summaries[0]
    facts = {
        "mb_s": sent["n_bytes"] / took / 1e6,
        "mev_s": state["n"] / took / 1e6,
        "n_labeled": state["n"],
        "n_lost": summary.n_lost,
        "n_dropped": summary.n_dropped,
        "n_damaged": summary.n_damaged,
        "took_s": took,
    }
    print(json.dumps({**facts, **sent}), flush=True)
    os._exit(0)  # threads of zenoh can abort the end of Python


if __name__ == "__main__":
    main()
