"""Throughput of reading and writing AEDAT4, against dv-processing, aedat and eventcv. Prints JSON.

Command: ``python -m benchmarks.speed.aedat4 [--events 20000000] [--repeats 5] [--recording FILE]``.

Compared: every library reads into its own objects; where these are not numpy columns, a second case
adds the conversion. Every timed call follows an untimed call of the same kind: a virtual machine may
return freed memory to its host after a second or two, and getting it back costs more than reading
(260 MB: 30 ms at once, 300 ms after two seconds).

Floor: the fastest other library; files are read from the page cache.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import aedat
import dv_processing as dv
import eventcv
import numpy as np
from benchmarks.measure import edge_events, rates, report

import evcrisp

#: dv-processing takes events one by one from Python; fewer events give the same rate.
DV_WRITES_EVENTS = 200_000


def read_chunks(path):
    with evcrisp.open(path) as recording:
        return sum(len(chunk) for chunk in recording.chunks())


def read_dv(path):
    recording = dv.io.MonoCameraRecording(str(path))
    batches = []
    while (batch := recording.getNextEventBatch()) is not None:
        batches.append(batch)
    return batches


def read_aedat(path):
    return [packet["events"] for packet in aedat.Decoder(str(path)) if "events" in packet]


def readers(path):
    return {
        "evcrisp.read": lambda: evcrisp.read(path),
        "evcrisp chunks": lambda: read_chunks(path),
        "dv-processing": lambda: read_dv(path),
        "dv-processing to numpy": lambda: np.concatenate([b.numpy() for b in read_dv(path)]),
        "aedat, nothing kept": lambda: sum("events" in p for p in aedat.Decoder(str(path))),
        "aedat": lambda: read_aedat(path),
        "aedat, one array": lambda: np.concatenate(read_aedat(path)),
        "eventcv": lambda: eventcv.load(str(path)),
        "eventcv to numpy": lambda: eventcv.load(str(path)).numpy(),
    }


def write_dv(path, events):
    config = dv.io.MonoCameraWriter.EventOnlyConfig("camera", events.resolution)
    writer = dv.io.MonoCameraWriter(str(path), config)
    store = dv.EventStore()
    columns = (events.t.tolist(), events.x.tolist(), events.y.tolist(), events.p.tolist())
    for t, x, y, p in zip(*columns, strict=True):
        store.push_back(t, x, y, p)
    writer.writeEvents(store)


def like_dv(path, events):
    """Write a file in packets of 10 000 events, as dv-processing does."""
    from evcrisp.io.aedat import aedat4_writer

    usual = aedat4_writer._EVENTS_PER_PACKET
    aedat4_writer._EVENTS_PER_PACKET = 10_000
    try:
        evcrisp.write(path, events)
    finally:
        aedat4_writer._EVENTS_PER_PACKET = usual


def without_table(path, target):
    """Copy a file without its data table, as after a recording that was killed."""
    with evcrisp.open(path) as recording:
        end = recording._source.header.table_position
    data = bytearray(path.read_bytes()[:end])
    data[54:62] = (-1).to_bytes(8, "little", signed=True)
    target.write_bytes(data)


def steady(cases, n_events, repeats):
    """Time the callables of a dict in turns, each after an untimed call.

    Adds the CPU time of all threads, which is more reliable on a shared machine.
    """
    seconds = {name: [] for name in cases}
    cpu_seconds = {name: [] for name in cases}
    for _ in range(repeats):
        for name, call in cases.items():
            call()
            start, cpu_start = time.perf_counter(), time.process_time()
            result = call()
            seconds[name].append(time.perf_counter() - start)
            cpu_seconds[name].append(time.process_time() - cpu_start)
            del result
    results = rates(seconds, n_events)
    for name, times in cpu_seconds.items():
        results[name]["cpu_ns_per_event"] = statistics.median(times) / n_events * 1e9
    return results


def measured(cases, n_events, repeats):
    results = steady(cases, n_events, repeats)
    own = results["evcrisp.read"]
    others = [r for name, r in results.items() if not name.startswith("evcrisp")]
    return {
        "rates": results,
        "read_to_fastest": own["median_mev_s"] / max(r["median_mev_s"] for r in others),
        "read_to_fastest_by_cpu": min(r["cpu_ns_per_event"] for r in others)
        / own["cpu_ns_per_event"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--recording", type=Path, help="recording to read as well")
    options = parser.parse_args()
    events = edge_events(options.events)
    few = events[:DV_WRITES_EVENTS]
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own, dv_like, killed = folder / "own.aedat4", folder / "dv.aedat4", folder / "killed.aedat4"
        evcrisp.write(own, events)
        like_dv(dv_like, events)
        without_table(own, killed)
        results["read, own file"] = measured(readers(own), len(events), options.repeats)
        results["read, packets of 10 000"] = measured(
            readers(dv_like), len(events), options.repeats
        )
        without = {k: v for k, v in readers(killed).items() if not k.startswith("dv")}
        results["read, no data table"] = measured(without, len(events), options.repeats)
        results["write"] = writing(folder, events, few, options.repeats)
    if options.recording:
        n = len(evcrisp.read(options.recording))
        results["read, recording"] = measured(readers(options.recording), n, 41)
    report("aedat4", results, events=options.events, repeats=options.repeats)


def writing(folder, events, few, repeats):
    def save(compression):
        return lambda: evcrisp.write(
            folder / f"{compression}.aedat4", events, overwrite=True, compression=compression
        )

    cases = {name: save(name) for name in ("lz4", "zstd", "none")}
    results = steady(cases, len(events), repeats)
    slow = {"dv-processing": lambda: write_dv(folder / "few.aedat4", few)}
    results |= steady(slow, len(few), repeats)
    ratio = results["lz4"]["median_mev_s"] / results["dv-processing"]["median_mev_s"]
    sizes = {
        n: (folder / f"{n}.aedat4").stat().st_size / len(events) for n in ("lz4", "zstd", "none")
    }
    return {"rates": results, "lz4_to_dv-processing": ratio, "bytes_per_event": sizes}


if __name__ == "__main__":
    main()
