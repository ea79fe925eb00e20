"""Estimate the cost of large data sets from the measured throughput of one core."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from evcrisp.core.messages import counted
from evcrisp.experiments.methods import Method
from evcrisp.experiments.protocols import label_chunks
from evcrisp.io.reading import open_recording
from evcrisp.io.writing import write
from evcrisp.simulation import simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Size of a data set."""

    name: str
    n_recordings: int  # tasks that can run in parallel; a recording is not split
    duration_s: float  # of all recordings
    rate_hz: float  # mean events per second; an assumption if no count is published

    @property
    def n_events(self) -> float:
        """Total number of events."""
        return self.duration_s * self.rate_hz


#: E-MLB has 100 scenes at four levels of light, recorded three times. The other numbers are
#: assumptions, and are printed as such; DSEC has 53 sequences of two cameras, and the year consists
#: of files of ten minutes.
LOADS = (
    Load(name="E-MLB", n_recordings=1200, duration_s=6_000.0, rate_hz=0.6e6),
    Load(name="DSEC, both cameras", n_recordings=106, duration_s=6_386.0, rate_hz=8e6),
    Load(name="a year of one camera", n_recordings=52_560, duration_s=31_536_000.0, rate_hz=1e6),
)

MACHINES = (1, 16, 256)  # numbers of machines in the table
CORES = 16  # physical cores of a machine
TASK_S = 0.02  # overhead of a task, s: 1.5 % of one second on a cluster, rounded up


def throughput_hz(method: Method, *, n_events: int = 400_000, repeats: int = 3) -> float:
    """Return the median rate of one core, from AEDAT4 file to labels, events per second.

    Processor time is measured, so that other programs have little effect. The scene is simulated:
    346 x 260 px, 5 Hz of noise per pixel.
    """
    scene = simulate(duration_us=max(20_000, n_events // 2), noise_hz=5.0, seed=1)
    events = scene.events[:n_events].with_signal(None)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scene.aedat4"
        write(path, events)
        _run(method, path)  # compiles
        times = sorted(_run(method, path) for _ in range(repeats))
    return len(events) / times[len(times) // 2]


def _run(method: Method, path: Path) -> float:
    start = time.process_time()
    with open_recording(path) as recording:
        for _ in label_chunks(recording.chunks(), recording.resolution, method):
            pass
    return time.process_time() - start


def hours(
    load: Load, rate_hz: float, machines: int, *, cores: int = CORES, task_s: float = TASK_S
) -> float:
    """Return the time of a load, h.

    Tasks are equal recordings, run in rounds of ``machines * cores``; the last can be incomplete.

    >>> load = Load(name="x", n_recordings=32, duration_s=3600.0, rate_hz=1e6)
    >>> [hours(load, 1e6, machines, task_s=0.0) for machines in (1, 2, 256)]
    [0.0625, 0.03125, 0.03125]
    """
    rounds = math.ceil(load.n_recordings / (machines * cores))
    return rounds * (load.n_events / load.n_recordings / rate_hz + task_s) / 3600.0


def cost_lines(rates: Sequence[tuple[Method, float]]) -> Iterator[str]:
    """Yield a Markdown table of the cost of every load with every method."""
    heads = [counted(n, "machine") for n in MACHINES]
    yield f"| | method | Mev/s and core | {' | '.join(heads)} |"
    yield f"|---|---|---|{'---|' * len(heads)}"
    for load in LOADS:
        for method, rate in rates:
            times = [_formatted(hours(load, rate, machines)) for machines in MACHINES]
            yield f"| {load.name} | {method.label} | {rate / 1e6:.3g} | {' | '.join(times)} |"


def load_lines() -> Iterator[str]:
    """Yield the assumptions about the loads."""
    for load in LOADS:
        yield (
            f"{load.name}: {counted(load.n_recordings, 'recording')}, {load.duration_s / 3600:,.1f} h, "
            f"{load.rate_hz / 1e6:g} million events per second (assumed)"
        )


def _formatted(time_h: float) -> str:
    for unit, unit_h in (("days", 24.0), ("h", 1.0), ("min", 1 / 60)):
        if time_h >= 2 * unit_h:
            return f"{time_h / unit_h:.3g} {unit}"
    return f"{3600 * time_h:.3g} s"
