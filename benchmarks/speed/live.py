"""Rate and latency of live cleaning, from a NetworkWriter of dv-processing on this machine.

Command: ``python -m benchmarks.speed.live [--method baf] [--seconds 2] [--rates 1 2 5 10]``.

For each rate (million events per second), a process sends random events in packets of 1 ms; another
runs ``evcrisp live`` with the method. Printed: events sent, received and dropped, and the latency from
the arrival of a packet to its labels. A rate is reached without loss if the three numbers agree.
"""

import argparse
import datetime
import json
import os
import socket
import subprocess
import sys
import time

RESOLUTION = (640, 480)
#: Length of a packet, and of the groups of events with one time, us.
PACKET_US, STEP_US = 1_000, 20


def make_packet(start_us, n):
    """Return random events of one packet, made by dv-processing; adding them one by one takes too long."""
    import dv_processing as dv

    packet, step = dv.EventStore(), datetime.timedelta(microseconds=STEP_US)
    n_steps = PACKET_US // STEP_US
    for k in range(n_steps):
        t, n_now = start_us + k * STEP_US, (k + 1) * n // n_steps - k * n // n_steps
        seed = (start_us // STEP_US + k) % 2**31
        packet.add(dv.data.generate.uniformEventsWithinTimeRange(t, step, RESOLUTION, n_now, seed))
    return packet


def send(port, numbers):
    """Send packets of 1 ms with these numbers of events, when a client has come; print what was sent."""
    import dv_processing as dv

    stream = dv.io.Stream.EventStream(0, "events", "camera", RESOLUTION)
    writer = dv.io.NetworkWriter("127.0.0.1", port, stream)
    packets = [make_packet(k * PACKET_US, n) for k, n in enumerate(numbers)]
    print("listening", flush=True)
    while writer.getClientCount() == 0:
        time.sleep(0.001)
    start = time.monotonic()
    for k, packet in enumerate(packets):
        writer.writeEvents(packet)
        time.sleep(max(0.0, start + (k + 1) * PACKET_US / 1e6 - time.monotonic()))
    took = time.monotonic() - start
    while writer.getQueuedPacketCount():
        time.sleep(0.001)
    time.sleep(0.5)
    print(json.dumps({"n_sent": sum(numbers), "took_s": took}), flush=True)
    os._exit(0)  # the end of a NetworkWriter can block Python


def numbers_of(rates, seconds):
    """Return the numbers of events in packets at each rate in turn, million events per second."""
    n_packets = int(1e6 * seconds / PACKET_US)
    return [int(rate * PACKET_US) for rate in rates for _ in range(n_packets)]


def free_port():
    """Return a port of this machine that nothing uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure(method, rate, seconds, more=()):
    """Return the counts and latencies of one rate."""
    port = free_port()
    words = ["-m", "benchmarks.speed.live", "--send", str(port), "--seconds", str(seconds)]
    sender = subprocess.Popen(
        [sys.executable, *words, "--rates", str(rate)], stdout=subprocess.PIPE, text=True
    )
    sender.stdout.readline()
    command = ["-m", "evcrisp", "live", f"tcp://127.0.0.1:{port}", "-m", method, "--json", *more]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=True,
        timeout=300 + 3 * seconds,
    )
    sent = json.loads(sender.communicate()[0])
    return {**json.loads(done.stdout), **sent}


def main():
    """Measure all rates and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", default="baf")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rates", type=float, nargs="+", default=[1.0, 2.0, 5.0, 10.0])
    parser.add_argument("--options", default="", help="of `evcrisp live`, in one text")
    parser.add_argument("--send", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send is not None:
        send(options.send, numbers_of(options.rates, options.seconds))
    print("rate [M/s]  sent rate [M/s]      sent  received   dropped  p50 [ms]  p95 [ms]")
    for rate in options.rates:
        got = measure(options.method, rate, options.seconds, options.options.split())
        reached = got["n_sent"] / got["took_s"] / 1e6
        counts = f"{got['n_sent']:10} {got['n_events']:9} {got['n_dropped']:9}"
        latency = f"{got['latency_p50_ms']:9.2f} {got['latency_p95_ms']:9.2f}"
        print(f"{rate:10} {reached:16.2f} {counts} {latency}")


if __name__ == "__main__":
    main()
