"""How many events per second the networks label on one core. Prints JSON.

Run with ``python -m benchmarks.speed.networks``. `mlpf` is compared with the same network in numpy, given the
inputs, which is the least that a version without a compiler could take, and with `baf`.
"""

import argparse
import statistics

import numpy as np
from benchmarks.measure import edge_events, interleaved, report

from evcrisp.filters import build_filter, denoise


def in_numpy(inputs, weights):
    """Return the scores of encoded events, as plain matrix products."""
    hidden_kernel, hidden_bias, output_kernel, output_bias = weights
    hidden = np.maximum(inputs @ hidden_kernel.T + hidden_bias, 0)
    return 1 / (1 + np.exp(-(hidden @ output_kernel + output_bias)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--edncnn-events", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    events = edge_events(options.events)
    few = events[: options.edncnn_events]
    weights = build_filter("mlpf").start(events.resolution).weights
    inputs = np.random.default_rng(0).random((50_000, 98), np.float32)
    cases = {
        "mlpf": (len(events), lambda: denoise(events, "mlpf")),
        "mlpf, network alone in numpy": (len(inputs), lambda: in_numpy(inputs, weights)),
        "baf": (len(events), lambda: denoise(events, "baf")),
        "edncnn": (len(few), lambda: denoise(few, "edncnn")),
    }
    seconds = interleaved({name: call for name, (_, call) in cases.items()}, options.repeats)
    rates = {
        name: {
            "median": cases[name][0] / statistics.median(times) / 1e6,
            "best": cases[name][0] / min(times) / 1e6,
        }
        for name, times in seconds.items()
    }
    report("networks", {"million_events_per_second": rates}, events=len(events))


if __name__ == "__main__":
    main()
