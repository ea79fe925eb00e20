"""Speed of event flow by lists of pixels, against a scan of all recent events. Prints JSON.

Run with ``python -m benchmarks.speed.evflow [recording]``. Both are compiled the same way, see the same
events in turns in one process, and give the same labels, which is checked. Rates are medians. The scan
takes minutes.
"""

import argparse

import numpy as np
from benchmarks.measure import edge_events, interleaved, rates, report
from tests.oracles.filters import evflow as reference_evflow

from evcrisp import read
from evcrisp.filters import Labels
from evcrisp.filters.neighborhood.evflow import EvFlow
from evcrisp.kernels.compile import njit

_scan = njit(reference_evflow.flow_labels)


def scanned(events, config):
    """Return labels by going through all events of the last tau for each event."""
    labels = Labels.empty(len(events))
    rule = (config.tau_us, config.radius, config.min_events, config.max_px_ms, config.emlb)
    _scan(events.x, events.y, events.t, *rule, labels.signal, labels.score)
    return labels


def compare(events, config, repeats):
    """Return the rates of both, and their ratio."""
    columns = events.contiguous()
    calls = {
        "lists": lambda: config.start(columns.resolution).label(columns),
        "scan": lambda: scanned(columns, config),
    }
    lists, scan = (call() for call in calls.values())
    if not np.array_equal(lists.score, scan.score):
        raise SystemExit("lists and scan differ")
    rows = rates(interleaved(calls, repeats, warm_up=0), len(events))
    ratio = rows["lists"]["median_mev_s"] / rows["scan"]["median_mev_s"]
    return {"events": len(events), "kept": int(lists.signal.sum()), "ratio": ratio, **rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recording", nargs="?", help="a recording, next to synthetic events")
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    recordings = {"synthetic": edge_events(options.events)}
    if options.recording:
        recordings["recording"] = read(options.recording)
    configs = {
        "default": EvFlow(),
        "2 ms": EvFlow(tau_us=2_000),
        "emlb": EvFlow(**EvFlow.presets["emlb"]),
    }
    results = {
        f"{name}, {kind}": compare(events, config, options.repeats)
        for name, events in recordings.items()
        for kind, config in configs.items()
    }
    report("evflow", results, events=options.events, repeats=options.repeats)


if __name__ == "__main__":
    main()
