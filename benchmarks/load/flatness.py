"""Sample a long run: whether its memory, rate and processor time per event are flat."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

#: The last tenth may differ from the second by this share.
LIMIT = 0.05


@dataclass(frozen=True, slots=True)
class Sample:
    """State of a process: seconds, processor seconds, own memory (MB), events so far."""

    wall_s: float
    cpu_s: float
    memory_mb: float
    n_events: int


def sample(n_events, pid="self"):
    """Return the state of a process; pages of mapped files are not its own memory."""
    folder = Path("/proc", str(pid))
    status = (folder / "status").read_text()
    memory_kb = int(status.partition("RssAnon:")[2].split()[0])
    # The name of the program, in brackets, can hold blanks.
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    cpu_s = ticks / os.sysconf("SC_CLK_TCK")
    return Sample(time.monotonic(), cpu_s, memory_kb / 1024, n_events)


def tenths(samples):
    """Return rate, processor time per event and largest memory of each tenth of the events."""
    total = samples[-1].n_events - samples[0].n_events
    rows = []
    for k in range(10):
        low = samples[0].n_events + total * k / 10
        high = samples[0].n_events + total * (k + 1) / 10
        inside = [s for s in samples if low <= s.n_events <= high]
        if len(inside) < 2:
            raise ValueError(f"tenth {k + 1} has {len(inside)} samples; take more")
        first, last = inside[0], inside[-1]
        n = last.n_events - first.n_events
        rows.append(
            {
                "mev_per_s": n / (last.wall_s - first.wall_s) / 1e6,
                "cpu_ns_per_event": 1e9 * (last.cpu_s - first.cpu_s) / n,
                "memory_mb": max(s.memory_mb for s in inside),
            }
        )
    return rows


def verdict(rows):
    """Compare the last tenth with the second one; the first has the start in it."""
    second, last = rows[1], rows[-1]
    ratios = {name: last[name] / second[name] for name in second}
    is_flat = (
        ratios["memory_mb"] <= 1 + LIMIT
        and ratios["cpu_ns_per_event"] <= 1 + LIMIT
        and ratios["mev_per_s"] >= 1 - LIMIT
    )
    return {"last_over_second": ratios, "is_flat": is_flat, "tenths": rows}
