"""Recovery of a live session from overload: drops and latency, second by second. Prints a table.

Command: ``python -m benchmarks.speed.live_overload [--method auto] [--rates 2 20 2] [--seconds 4]
[--max-latency-ms 20]``.

A NetworkWriter of dv-processing sends random events of 640x480 px in packets of 1 ms, for some seconds at
each rate (million events per second) in turn. Another process cleans them. Its state is printed once in a
second: events that came and that were dropped, and the latency of the last half second of packets. The
session has recovered where nothing more is dropped, and the latency is that of before.
"""

import argparse
import json
import subprocess
import sys

from benchmarks.speed.live import free_port, numbers_of, send

import evcrisp


def receive(port, method, max_latency_us):
    """Clean what comes; print the states as JSON."""
    states = []

    def on_state(state):
        row = (state.duration_s, state.n_events, state.n_dropped, state.latency_p95_ms)
        if state.n_events and (not states or state.duration_s >= states[-1][0] + 1.0):
            states.append(row)

    windowing = evcrisp.Windowing(max_latency_us=max_latency_us)
    summary = evcrisp.live(
        f"tcp://127.0.0.1:{port}", method=method, windowing=windowing, on_state=on_state
    )
    total = (summary.duration_s, summary.n_events, summary.n_dropped, summary.latency_p95_ms)
    print(json.dumps({"states": states, "all": total, "n_labeled": summary.n_labeled}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="auto")
    parser.add_argument("--rates", type=float, nargs="+", default=[2.0, 20.0, 2.0])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--max-latency-ms", type=int, default=20)
    parser.add_argument("--send", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--receive", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send is not None:
        send(options.send, numbers_of(options.rates, options.seconds))
    if options.receive is not None:
        receive(options.receive, options.method, 1000 * options.max_latency_ms)
        return
    port = free_port()
    words = [sys.executable, "-m", "benchmarks.speed.live_overload", *sys.argv[1:]]
    sender = subprocess.Popen([*words, "--send", str(port)], stdout=subprocess.PIPE, text=True)
    sender.stdout.readline()
    done = subprocess.run(
        [*words, "--receive", str(port)], stdout=subprocess.PIPE, text=True, check=True, timeout=600
    )
    sent, found = json.loads(sender.communicate()[0]), json.loads(done.stdout)
    print(f"sent {sent['n_sent']} in {sent['took_s']:.1f} s; labeled {found['n_labeled']}")
    print("time [s]      came   dropped  95 % of latencies [ms]")
    for seconds, n_events, n_dropped, latency_ms in [*found["states"], found["all"]]:
        latency = f"{latency_ms:22.1f}" if latency_ms is not None else 22 * " "
        print(f"{seconds:8.1f} {n_events:9} {n_dropped:9}  {latency}")


if __name__ == "__main__":
    main()
