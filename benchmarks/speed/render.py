"""Speed of rendering videos, as multiples of real time. Prints JSON.

Command: ``python -m benchmarks.speed.render [RECORDING ...]``. Without recordings, five seconds of a
simulated DAVIS346 are rendered, with a fast motion and at about the rate of a real recording (0.63
million events per second).

Compared: kinds of video, in turns in one process. ``wall`` is the elapsed time. Two windows are
estimated in parallel, frames are drawn in another thread, and ffmpeg is a separate process;
``two_cores`` divides the duration of the video by half of their total CPU time, the best case of two
idle cores.

Floor: ``track``, motion and labels alone, window after window, without video.
"""

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.measure import report

import evcrisp
from evcrisp.video import VideoConfig, render

CASES = {
    "mp4": (".mp4", VideoConfig()),
    "mp4, scale 2": (".mp4", VideoConfig(scale=2)),
    "mp4, raw only": (".mp4", VideoConfig(panes=("raw",))),
    "gif": (".gif", VideoConfig()),
    "webp": (".webp", VideoConfig()),
}


SCENES = {
    "fast": {"trajectory": "random", "noise_hz": 2.0, "seed": 0},
    "typical": {"theta": (130.0, -60.0), "noise_hz": 1.0, "seed": 3},
}


def seconds(who):
    """Return the CPU time of this process, or of its finished child processes."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def timed(path, output, config):
    """Render once; return the video, wall time, and CPU time of process and children."""
    before = time.perf_counter(), *map(seconds, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    with evcrisp.open(path) as recording:
        video = render(recording, output, config=config, overwrite=True)
    after = time.perf_counter(), *map(seconds, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return video, *(end - start for start, end in zip(before, after, strict=True))


def tracked(path, window_us):
    """Return the CPU time of motion and labels alone."""
    before = seconds(resource.RUSAGE_SELF)
    with evcrisp.open(path) as recording:
        for _ in evcrisp.track(recording, windowing=evcrisp.Windowing(window_us=window_us)):
            pass
    return seconds(resource.RUSAGE_SELF) - before


def measure(path, folder, repeats):
    """Return the medians of all cases."""
    runs = {name: [] for name in CASES}
    tracks = []
    for turn in range(repeats + 1):
        tracks.append(tracked(path, VideoConfig().window_us))
        for name, (suffix, config) in CASES.items():
            result = timed(path, folder / f"out{suffix}", config)
            runs[name].append((*result, (folder / f"out{suffix}").stat().st_size))
        if turn == 0:  # warm-up: kernels are compiled
            tracks.clear()
            runs = {name: [] for name in CASES}
    results = {}
    for name, found in runs.items():
        duration = found[0][0].duration_s
        walls, ours, theirs, sizes = zip(*(run[1:] for run in found), strict=True)
        halves = [0.5 * sum(pair) for pair in zip(ours, theirs, strict=True)]
        results[name] = {
            "times_real_time_wall": duration / statistics.median(walls),
            "times_real_time_two_cores": duration / statistics.median(halves),
            "our_cpu_ms_per_frame": 1e3 * statistics.median(ours) / found[0][0].n_frames,
            "ffmpeg_cpu_ms_per_frame": 1e3 * statistics.median(theirs) / found[0][0].n_frames,
            "bytes_per_frame": sizes[0] / found[0][0].n_frames,
        }
    n_frames = runs["mp4"][0][0].n_frames
    results["track"] = {"our_cpu_ms_per_frame": 1e3 * statistics.median(tracks) / n_frames}
    with evcrisp.open(path) as recording:
        n_events = sum(map(len, recording.chunks()))
    results["events_per_frame"] = n_events / n_frames
    return results


def simulated(path, duration_s, **settings):
    """Write a simulated recording of shapes."""
    chunks = evcrisp.simulate_chunks(
        texture="shapes", duration_us=round(1e6 * duration_s), resolution=(346, 260), **settings
    )
    evcrisp.write(path, (chunk.with_signal(None) for chunk in chunks))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="duration of the simulated recordings"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = options.recordings or [
            simulated(folder / f"{name}.aedat4", options.seconds, **settings)
            for name, settings in SCENES.items()
        ]
        results = {path.name: measure(path, folder, options.repeats) for path in paths}
    report("render", results, repeats=options.repeats)


if __name__ == "__main__":
    main()
