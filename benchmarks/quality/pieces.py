"""Labels and motions of a run in pieces against those of one continuous pass. Prints JSON.

Command: ``python -m benchmarks.quality.pieces [RECORDING ...] [--events 12000000] [--piece-events 4194304]
[--window-us 15000]``.

Without recordings, one motion is simulated. Pieces smaller than the default show more joins. Compared:
the label of every event, and the speed of windows with the same times. ``near`` counts only events up
to a second after a join.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import report
from benchmarks.speed.long_scene import long_events

import evcrisp
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.pipeline.pieces.plan import (
    ESTIMATED_EVENTS,
    PIECE_EVENTS,
    REST_EVENTS,
    WARM_EVENTS,
    PieceSizes,
)
from evcrisp.pipeline.run_outputs import RunSettings, write_estimates


class Collector:
    """Takes the results of a run, and keeps times, labels and speeds."""

    def __init__(self):
        self.t, self.signal, self.windows = [], [], {}

    def write_window(self, result):
        """Keep times and speed."""
        speed = np.nan if not result.status.has_motion else float(np.hypot(*result.theta[:2]))
        self.windows[result.window.t_start, result.window.t_end] = speed, result.reliable

    def write_labels(self, chunk):
        """Keep labels."""
        self.t.append(chunk.events.t)
        self.signal.append(chunk.signal)

    def end_piece(self):
        """Do nothing: labels are compared, not their bytes."""


def compare(path, motion, sizes, opening, windowing):
    settings = RunSettings(
        method=ESTIMATORS["auto"](),
        motion=motion,
        camera=None,
        windowing=windowing,
        sizes=sizes,
    )
    whole, pieces = Collector(), Collector()
    with evcrisp.open(path, **opening) as recording:
        write_estimates(
            (
                (0, result)
                for result in evcrisp.track(recording, "auto", motion, windowing=windowing)
            ),
            whole,
        )
        starts = []

        def estimates():
            last = 0
            for number, result in settings.on(recording).estimates():
                if number != last:
                    starts.append(result.window.t_start)
                    last = number
                yield number, result

        write_estimates(estimates(), pieces)
    t, differ = (
        np.concatenate(whole.t),
        np.concatenate(whole.signal) != np.concatenate(pieces.signal),
    )
    near = np.zeros(t.size, bool)
    for start in starts:
        near |= (t >= start) & (t < start + 1_000_000)
    both = whole.windows.keys() & pieces.windows.keys()
    speeds = np.array([(whole.windows[key][0], pieces.windows[key][0]) for key in both])
    change = np.abs(speeds[:, 0] - speeds[:, 1]) / np.maximum(speeds[:, 0], 1.0)
    return {
        "events": t.size, "joins": len(starts), "differing_labels": float(differ.mean()),
        "differing_labels_near": float(differ[near].mean()) if near.any() else 0.0,
        "windows": len(whole.windows), "windows_in_pieces": len(pieces.windows), "same_windows": len(both),
        "reliable": sum(ok for _, ok in whole.windows.values()),
        "reliable_in_pieces": sum(ok for _, ok in pieces.windows.values()),
        "change_of_speed_median": float(np.nanmedian(change)), "change_of_speed_max": float(np.nanmax(change)),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--events", type=int, default=12_000_000)
    parser.add_argument("--piece-events", type=int, default=PIECE_EVENTS)
    parser.add_argument("--motion", default="auto")
    parser.add_argument("--duration-us", type=int)
    parser.add_argument("--window-us", type=int, help="fixed windows, whose times do not change")
    args = parser.parse_args()
    n = args.piece_events
    sizes = PieceSizes(n, min(n, REST_EVENTS), min(n, WARM_EVENTS), min(n, ESTIMATED_EVENTS))
    with tempfile.TemporaryDirectory() as folder:
        paths = args.recordings
        if not paths:
            paths = [Path(folder) / "simulated.aedat4"]
            evcrisp.write(paths[0], long_events("jumping", args.events))
        opening = {"duration_us": args.duration_us}
        windowing = evcrisp.Windowing(window_us=args.window_us)
        results = {
            path.name: compare(path, args.motion, sizes, opening, windowing) for path in paths
        }
    report("pieces", results, piece_events=n, motion=args.motion, window_us=args.window_us)


if __name__ == "__main__":
    main()
