"""Denoise a recording in chunks, in bounded memory: clean_recording.py INPUT OUTPUT."""

import sys

import evcrisp
from evcrisp.filters import Baf


def clean(source: str, target: str) -> None:
    """Write the events of ``source`` that the filter keeps to ``target``."""
    with evcrisp.open(source) as recording:
        stream = Baf(tau_us=5_000).start(recording.resolution)  # keeps its state over chunks
        kept = (chunk[stream.label(chunk).signal] for chunk in recording.chunks())
        n_kept = evcrisp.write(target, kept)
    print(f"kept {n_kept:,} events")


if __name__ == "__main__":
    clean(*sys.argv[1:3])
