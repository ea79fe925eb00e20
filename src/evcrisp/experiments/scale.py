"""What large data sets cost: from the measured throughput of one core to hours on many machines."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from evcrisp.core.messages import counted
from evcrisp.experiments.labeling import labeled
from evcrisp.experiments.methods import Method
from evcrisp.io.reading import open_recording
from evcrisp.io.writing import write
from evcrisp.simulation import simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A body of recordings, as far as its cost goes.

    Parameters
    ----------
    name : str
        What it is.
    n_recordings : int
        Tasks that can run side by side; a recording is not cut.
    duration_s : float
        All recordings together.
    rate_hz : float
        Mean events per second. An assumption where no count is published.
    """

    name: str
    n_recordings: int
    duration_s: float
    rate_hz: float

    @property
    def n_events(self) -> float:
        """All events."""
        return self.duration_s * self.rate_hz


#: E-MLB has 100 scenes at four levels of light, taken three times. All other numbers are assumptions
#: of a likely size, DSEC's 53 sequences of two cameras among them, and are printed as such. The year
#: is kept in files of ten minutes.
LOADS = (
    Load(name="E-MLB", n_recordings=1200, duration_s=6_000.0, rate_hz=0.6e6),
    Load(name="DSEC, both cameras", n_recordings=106, duration_s=6_386.0, rate_hz=8e6),
    Load(name="a year of one camera", n_recordings=52_560, duration_s=31_536_000.0, rate_hz=1e6),
)

MACHINES = (1, 16, 256)

#: Cores of a machine that work; threads that share a core do not count.
CORES = 16


#: What handing out a task costs, s: 1.5 % of a task of one second on a cluster, rounded up.
TASK_S = 0.02


def throughput_hz(method: Method, *, n_events: int = 400_000, repeats: int = 3) -> float:
    """Return events per second of one core, from AEDAT4 file to labels; the median of some runs.

    What counts is the time that the processor spent, so that other work on the machine matters
    little. The scene is simulated: 346 x 260 px, 5 Hz of noise per pixel.
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
        for _ in labeled(recording.chunks(), recording.resolution, method):
            pass
    return time.process_time() - start


def hours(
    load: Load, rate_hz: float, machines: int, *, cores: int = CORES, task_s: float = TASK_S
) -> float:
    """Return how long a load takes, h.

    Tasks are one recording each, all alike, and run in rounds of ``machines * cores``; the last
    round is not full.

    Examples
    --------
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
            times = [_shown(hours(load, rate, machines)) for machines in MACHINES]
            yield f"| {load.name} | {method.label} | {rate / 1e6:.3g} | {' | '.join(times)} |"


def load_lines() -> Iterator[str]:
    """Yield what is assumed about the loads."""
    for load in LOADS:
        yield (
            f"{load.name}: {counted(load.n_recordings, 'recording')}, {load.duration_s / 3600:,.1f} h, "
            f"{load.rate_hz / 1e6:g} million events per second (assumed)"
        )


def _shown(time_h: float) -> str:
    for unit, length_h in (("days", 24.0), ("h", 1.0), ("min", 1 / 60)):
        if time_h >= 2 * length_h:
            return f"{time_h / length_h:.3g} {unit}"
    return f"{3600 * time_h:.3g} s"
