"""Run many damaged inputs in another process; find crashes, hangs, large memory and wrong results."""

import json
import logging
import multiprocessing
import os
import resource
import time
import traceback
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.recordings import DamagedRecordings
from tests.fuzz.samples import READER_NAMES
from tests.fuzz.texts import TEXTS

#: Processor time of one input, s. Wall time also counts what other programs use.
HANG_S = 5.0
#: Wall time of one input, s, for a program that waits for ever.
WAIT_S = 120.0
#: Memory of one input: this many times its size, and a constant part, bytes.
MEMORY_RATIO, MEMORY_BYTES = 4, 256 << 20
#: Address space of the process, bytes.
ADDRESS_BYTES = 12 << 30

TARGETS = (*READER_NAMES, *TEXTS)


@dataclass
class Report:
    """Counts of one target, and what was wrong."""

    target: str
    seed: int
    n_inputs: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    largest_bytes: int = 0  # of memory, beside that before the input
    slowest_s: float = 0.0
    findings: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> str:
        """Return the report as a line of JSON."""
        return json.dumps(asdict(self))


def make_target(name: str) -> Any:
    """Return the damaged inputs of a target."""
    return TEXTS[name]() if name in TEXTS else DamagedRecordings(name)


def rng_of(target: str, seed: int, index: int) -> np.random.Generator:
    """Return the random numbers of one input; it depends on no other input."""
    return np.random.default_rng([seed, zlib.crc32(target.encode()), index])


def run_campaign(
    target: str, *, seed: int, start: int, count: int, seconds: float | None = None
) -> Report:
    """Run inputs ``start`` to ``start + count - 1`` of a target, for at most ``seconds``."""
    report = Report(target, seed)
    begin = time.monotonic()
    end, at = start + count, start
    while at < end and (seconds is None or time.monotonic() - begin < seconds):
        left = None if seconds is None else seconds - (time.monotonic() - begin)
        at = _run_process(report, at, end, left)
    report.seconds = time.monotonic() - begin
    return report


def _run_process(report: Report, start: int, end: int, seconds: float | None) -> int:
    """Run inputs in one process until it ends; return the next input."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    place = context.Array("q", [start - 1, 0], lock=False)
    arguments = (report.target, report.seed, start, end, seconds, place, sender)
    process = context.Process(target=_work, args=arguments)
    process.start()
    sender.close()
    last, cpu_then, wall_then = start - 1, 0.0, time.monotonic()
    problem = None
    while process.is_alive() or receiver.poll():
        try:
            while receiver.poll(0.2):
                _add(report, receiver.recv())
        except EOFError:
            process.join(1.0)
            break
        now, cpu = time.monotonic(), _cpu_seconds(process.pid or 0)
        if place[0] != last:
            last, cpu_then, wall_then = place[0], cpu, now
        elif last >= start and (cpu - cpu_then > HANG_S or now - wall_then > WAIT_S):
            problem = f"no end after {cpu - cpu_then:.0f} s of processor time"
            process.kill()
            break
    process.join()
    if problem is None and process.exitcode:
        problem = f"the process ended with {process.exitcode}"
    if problem is not None:
        report.findings.append({"index": int(place[0]), "problem": problem})
        if place[0] < start:  # it did not start
            return end
        report.n_inputs += int(place[0]) - start + 1 - int(place[1])
    return int(place[0]) + 1


def _add(report: Report, counts: dict[str, Any]) -> None:
    report.n_inputs += counts["n"]
    for name, n in counts["outcomes"].items():
        report.outcomes[name] = report.outcomes.get(name, 0) + n
    report.findings += counts["findings"]
    report.largest_bytes = max(report.largest_bytes, counts["largest"])
    report.slowest_s = max(report.slowest_s, counts["slowest"])


def _cpu_seconds(pid: int) -> float:
    """Return the processor time of a process and its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10
    return 0


def _reset_peak() -> int:
    """Start a new peak of memory; return the memory now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak_bytes()


def _work(
    target: str, seed: int, start: int, end: int, seconds: float | None, place: Any, sender: Any
) -> None:
    logging.getLogger("evcrisp").setLevel(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    inputs = make_target(target)
    inputs.prepare()
    begin = sent = time.monotonic()
    counts = _new_counts()
    for index in range(start, end):
        place[0] = index
        before, then = _reset_peak(), time.process_time()
        _run_one(inputs, target, seed, index, counts)
        used, limit = _peak_bytes() - before, MEMORY_RATIO * inputs.file_bytes() + MEMORY_BYTES
        if used > limit:
            problem = f"{used >> 20} MB of memory for {inputs.file_bytes()} bytes"
            counts["findings"].append({"index": index, "problem": problem})
        counts["n"] += 1
        counts["largest"] = max(counts["largest"], used)
        counts["slowest"] = max(counts["slowest"], time.process_time() - then)
        now = time.monotonic()
        if now - sent > 1 or counts["findings"]:
            sender.send(counts)
            place[1] = index - start + 1
            counts, sent = _new_counts(), now
        if seconds is not None and now - begin > seconds:
            break
    sender.send(counts)
    inputs.close()
    sender.close()
    os._exit(0)  # libraries may crash at exit


def _new_counts() -> dict[str, Any]:
    return {"n": 0, "outcomes": {}, "findings": [], "largest": 0, "slowest": 0.0}


def _run_one(inputs: Any, target: str, seed: int, index: int, counts: dict[str, Any]) -> None:
    try:
        outcome = inputs.run(rng_of(target, seed, index))
    except Exception as error:
        lines = traceback.format_exception(error)[-6:]
        text = f"{type(error).__name__}: {error}"
        counts["findings"].append({"index": index, "problem": text, "trace": "".join(lines)})
        outcome = "wrong"
    counts["outcomes"][outcome] = counts["outcomes"].get(outcome, 0) + 1
