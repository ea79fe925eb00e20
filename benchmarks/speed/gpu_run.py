"""Rate of `run` with a GPU on a long recording, and of its stages alone. Prints JSON.

Command: ``python -m benchmarks.speed.gpu_run [--events 500000000] [--motion translation]``; it needs the
compiled kernels (numba) too.

The recording repeats a simulated scene with one translation and noise of 5 Hz per pixel, without compression.
Measured, in this process, in events per second:

read        reading the recording
cut         reading it, and cutting windows of 30 ms
track       the same, and estimating on the device, with covariance and doubts
run         from the recording to results on disk

Share: the rate of `run` over the lowest of the others. Where it is near 1, stages overlap.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import print_table, report
from benchmarks.speed.long_scene import long_events

import evcrisp
from evcrisp.tensors.devices import torch_device


def seconds(call):
    """Return the time of a call, s."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--events", type=int, default=500_000_000)
    parser.add_argument("--motion", default="translation")
    parser.add_argument("--window-us", type=int, default=30_000)
    parser.add_argument("--folder", type=Path, help="for the recording and the results")
    options = parser.parse_args(arguments)
    torch_device(options.device)
    windowing = evcrisp.Windowing(window_us=options.window_us)
    settings = {"motion": options.motion, "windowing": windowing, "device": options.device}
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary)
        small, path = folder / "small.aedat4", folder / "long.aedat4"
        n_small = min(options.events, 3_000_000)
        evcrisp.write(small, long_events("jumping", n_small))
        evcrisp.write(path, long_events("jumping", options.events), compression="none")
        evcrisp.run(small, folder / "small", **settings)  # compiles

        def read():
            with evcrisp.open(path) as recording:
                sum(len(chunk) for chunk in recording.chunks())

        def cut():
            with evcrisp.open(path) as recording:
                sum(1 for _ in windowing.cut(recording.chunks(), lambda: None))

        def track():
            with evcrisp.open(path) as recording:
                sum(1 for _ in evcrisp.track(recording, **settings))

        def run():
            evcrisp.run(path, folder / "long", **settings)

        times = {}
        for call in (read, cut, track, run):
            times[call.__name__] = seconds(call)
            print(call.__name__, times[call.__name__], "s", file=sys.stderr, flush=True)
        n_bytes = path.stat().st_size
    rates = {name: options.events / value / 1e6 for name, value in times.items()}
    print_table(
        "Million events per second", ("stage", "rate"), [(k, f"{v:.1f}") for k, v in rates.items()]
    )
    report(
        "speed.gpu_run",
        {
            "s": times,
            "mev_s": rates,
            "bytes": n_bytes,
            "share": rates["run"] / min(rates[name] for name in ("read", "cut", "track")),
        },
        **{key: str(value) for key, value in vars(options).items()},
    )


if __name__ == "__main__":
    main()
