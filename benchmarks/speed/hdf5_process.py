"""Time reading 20 million events in the DSEC layout, in this process and in another one.

Prints the best and the median wall time, s, and the time of opening, ms.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

import evcrisp
from evcrisp.io.hdf5.dsec import DsecReader

N_EVENTS, N_RUNS = 20_000_000, 9


def _events() -> evcrisp.Events:
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.integers(0, 3, N_EVENTS))
    x = (np.arange(N_EVENTS) // 50 + rng.integers(0, 40, N_EVENTS)) % 640
    y, p = rng.integers(0, 480, N_EVENTS), rng.random(N_EVENTS) < 0.5
    x, y = x.astype(np.uint16), y.astype(np.uint16)
    return evcrisp.Events(x=x, y=y, t=t, p=p, resolution=(640, 480))


def _seconds(path: Path, *, trusted: bool, opens_only: bool = False) -> float:
    start = time.perf_counter()
    with evcrisp.open(path, format=DsecReader(trusted=trusted)) as recording:
        if not opens_only:
            recording.read()
    return time.perf_counter() - start


def main() -> None:
    """Print a line per place of reading."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.h5"
        evcrisp.write(path, _events(), format="dsec")
        for trusted in (True, False):
            first = _seconds(path, trusted=trusted, opens_only=True)
            opening = min(_seconds(path, trusted=trusted, opens_only=True) for _ in range(N_RUNS))
            runs = sorted(_seconds(path, trusted=trusted) for _ in range(N_RUNS))
            print(
                f"{'this' if trusted else 'another'} process: "
                f"read {runs[0]:.3f} s (median {runs[N_RUNS // 2]:.3f}), "
                f"open {1e3 * first:.0f} ms first, {1e3 * opening:.2f} ms later"
            )


if __name__ == "__main__":
    main()
