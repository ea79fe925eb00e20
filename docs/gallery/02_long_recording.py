"""
Filter a long recording in bounded memory
=========================================

A recording may be larger than the memory. ``evcrisp.open`` reads it in chunks, a filter keeps its state
from chunk to chunk, and ``evcrisp.write`` takes the chunks as they come.

With files of your own: ``python 02_long_recording.py INPUT OUTPUT``.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import evcrisp
from evcrisp.filters import Baf

if len(sys.argv) > 2:
    source, target = map(Path, sys.argv[1:3])
else:
    folder = Path(tempfile.mkdtemp())
    source, target = folder / "recording.aedat4", folder / "clean.aedat4"
    chunks = evcrisp.simulate_chunks(
        theta=(400, 0), trajectory="sine", period_us=400_000, duration_us=600_000, noise_hz=8.0,
        resolution=(240, 180), seed=2,
    )  # fmt: skip
    evcrisp.write(source, (chunk.with_signal(None) for chunk in chunks))

with evcrisp.open(source) as recording:
    stream = Baf(tau_us=5_000).start(recording.resolution)
    kept = (chunk[stream.label(chunk).signal] for chunk in recording.chunks(max_events=50_000))
    print(f"kept {evcrisp.write(target, kept):,} events")

# %%
# The rate of events, in windows of 10 ms. The camera swings: the rate of edges rises and falls with its
# speed, and the noise is a floor below it. The filter removes most of the floor.


def rates(path):
    """Return times in s, and thousands of events per second."""
    with evcrisp.open(path) as opened:
        windows = evcrisp.by_time(opened.chunks(), duration_us=10_000)
        points = [(window.t_start / 1e6, len(window.events) / 10) for window in windows]
    return zip(*points, strict=True)


figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
axes.plot(*rates(source), marker=".", label="recorded")
axes.plot(*rates(target), marker=".", label="filtered")
axes.set(xlabel="time [s]", ylabel="thousand events per second", ylim=(0, None))
axes.legend()
plt.show()
