"""Filters: events per second, against dv-processing and eventcv on the same events. Prints JSON.

Run with ``python -m benchmarks.speed.filters``. Everything runs in one process, in turns. The peers are
given what they work on, an event store and an event stream, made before the clock starts; ours is
given ``Events``. Both "labels" and "kept" are measured for ours: the peers return kept events and have
no labels and no scores.
"""

import argparse
import datetime
import importlib.util
import statistics
from pathlib import Path

import numpy as np
from benchmarks.measure import edge_events, interleaved, rates, report

import evcrisp
from evcrisp.filters import FILTERS, denoise

TAU_US = 2_000

#: Networks take minutes for millions of events; name them with --filters to measure them.
NETWORKS = {"edncnn", "mlpf"}

#: What goes through memory per event at least: x, y, t, p in; signal and score out.
BYTES_IN, BYTES_OUT = 2 + 2 + 8 + 1, 1 + 8


def copy_floor(events):
    """Return a call that only touches the bytes that any filter with a score has to touch."""
    columns = (events.x, events.y, events.t, events.p)

    def call():
        signal, score = np.empty(len(events), np.bool_), np.empty(len(events))
        signal[:] = columns[3]
        score[:] = columns[2]
        return signal, score, columns[0].max(), columns[1].max()

    return call


def ours(events):
    """Return the cases of our background activity filter."""

    def kept():
        return denoise(events, "baf", tau_us=TAU_US).kept(events)

    return {"baf labels": lambda: denoise(events, "baf", tau_us=TAU_US), "baf kept": kept}


def peers(events):
    """Return the cases of the same filter in other packages, those that are installed."""
    cases = {}
    if importlib.util.find_spec("dv_processing"):
        import dv_processing as dv

        store = events.to_dv()
        tau = datetime.timedelta(microseconds=TAU_US)

        def with_dv():
            other = dv.noise.BackgroundActivityNoiseFilter(events.resolution, tau)
            other.accept(store)
            return other.generateEvents()

        def with_dv_to_numpy():
            return with_dv().numpy()

        cases |= {"dv kept": with_dv, "dv kept as numpy": with_dv_to_numpy}
    if importlib.util.find_spec("eventcv"):
        stream = events.to_eventcv()
        cases["eventcv kept"] = lambda: stream.background_activity_filter(TAU_US)
    return cases


def measured(events, repeats):
    """Return the rates of one set of events, and the ratios."""
    cases = {"floor": copy_floor(events), **ours(events), **peers(events)}
    seconds = interleaved(cases, repeats)
    result = rates(seconds, len(events))
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    result["ratios"] = {
        f"{mine} to {other}": medians[other] / medians[mine]
        for mine in ("baf labels", "baf kept")
        for other in medians
        if other.startswith(("dv", "eventcv"))
    }
    return result


def beside_tonic(events, repeats):
    """Return the ratio to tonic, with its rule and on as many events as a loop in Python takes."""
    from tonic.functional import denoise_numpy

    some = events[:200_000]
    records = np.empty(len(some), [("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "?")])
    for name in records.dtype.names:
        records[name] = getattr(some, name)
    cases = {
        "evcrisp": lambda: denoise(some, "baf", preset="tonic").kept(some),
        "tonic": lambda: denoise_numpy(records.copy(), 10_000),
    }
    seconds = {name: statistics.median(v) for name, v in interleaved(cases, repeats).items()}
    return {"ratio": seconds["tonic"] / seconds["evcrisp"], "tonic_mev_s": 0.2 / seconds["tonic"]}


def every_filter(events, names, repeats):
    """Return the rate of each filter with its defaults, and its share of that of baf."""
    seconds = interleaved({n: lambda n=n: denoise(events, n) for n in names}, repeats)
    result = rates(seconds, len(events))
    baf_s = statistics.median(seconds["baf"])
    for name, times in seconds.items():
        result[name]["share_of_baf"] = baf_s / statistics.median(times)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--recording", type=Path, help="a real recording, to be measured as well")
    parser.add_argument(
        "--filters", nargs="*", default=sorted(set(FILTERS) - NETWORKS), help="which to measure"
    )
    options = parser.parse_args()
    events = edge_events(options.events)
    results = {
        "bytes_per_event": {"in": BYTES_IN, "out": BYTES_OUT},
        "synthetic": measured(events, options.repeats),
        "filters": every_filter(events, sorted({"baf", *options.filters}), options.repeats),
    }
    if importlib.util.find_spec("tonic"):
        results["tonic"] = beside_tonic(events, options.repeats)
    if options.recording:
        real = evcrisp.read(options.recording)
        results["recording"] = measured(real, options.repeats)
    report("filters", results, events=options.events, repeats=options.repeats, tau_us=TAU_US)


if __name__ == "__main__":
    main()
