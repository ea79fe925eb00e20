"""Kill commands at random moments (kill -9), look at what is left, and run them again.

Command: ``python -m benchmarks.faults.kills [--kills 200] [--seed 0] [--commands run convert ...]``.

Each kill starts a command in an empty folder, or over complete outputs of another run with
``--force``, and kills it and its processes: half of the time at a moment of the whole run, and half
of the time within 0.3 s after its first file appears. Afterwards every visible file must be that of the
old run or of a complete new one, and a file that describes others must belong to them. The command is
then run again, and its outputs must have the bytes of a run that was never killed. Prints JSON.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import report

import evcrisp
from evcrisp import cli

#: Longest time of a run on a loaded machine, s.
LONG_S = 600


@dataclass(frozen=True)
class Command:
    """Words of a command, and how its outputs are judged."""

    words: str  # {a}, {b}: recordings; {o}: output folder
    description: str | None = None  # belongs to all other files of its folder
    #: Outputs that must be equal in all runs; others hold times or digests of the code.
    compared: tuple[str, ...] = ("**/*",)
    #: Whether the same command continues without --force.
    resumes: bool = False


COMMANDS = {
    "run": Command("run {a} -o {o} -m cmax --motion translation", "summary.json"),
    "run two jobs": Command(
        "run {a} {b} -o {o} --jobs 2 -m cmax --motion translation", "summary.json",
        ("*/*", "summary.json"), resumes=True,
    ),
    "convert": Command("convert {a} {o}/a.raw"),
    "convert to a folder": Command("convert {a} {o}/a --to columns"),
    "filter": Command("filter {a} {o}/a.aedat4 --labels {o}/labels.npz", "labels.npz"),
    "live": Command("live {a} -o {o}/a.aedat4 -m baf --speed max"),
    "reproduce": Command(
        "reproduce table3 --small -o {o} --workers 0 --methods eja", None,
        ("table3.*",), resumes=True,
    ),
}  # fmt: skip


def contents(folder, patterns=("**/*",)):
    """Return the visible files by name."""
    files = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def temporary_names(folder):
    """Return the files and folders with a temporary name."""
    return [str(p.relative_to(folder)) for p in folder.rglob(".*")]


def wait_until(is_true):
    """Wait until a condition holds."""
    deadline = time.monotonic() + LONG_S
    while not is_true():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.005)


class Child:
    """A command in a fork of this process, which has imported and compiled what it needs.

    It has a session of its own, so that its processes can be killed. ``code`` is None while it runs.
    """

    def __init__(self, words, log):
        self.code = None
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            for number in (1, 2):
                os.dup2(log.fileno(), number)
            code = 1
            try:
                main_command(words)
                code = 0
            finally:
                os._exit(code)

    def is_running(self):
        """Return whether the command still runs."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is None


def main_command(words):
    """Run a command of evcrisp in this process."""
    cli.main(words, standalone_mode=False)


def problems(found, old, new, description):
    """Yield what is wrong with the visible files of a killed run."""
    for name, content in found.items():
        if content not in (old.get(name), new.get(name)):
            yield f"{name} is neither old nor new ({len(content)} bytes)"
    for name in found:
        if description is None or Path(name).name != description:
            continue
        inside = Path(name).parent
        whole = old if found[name] == old.get(name) else new
        others = (n for n in whole if Path(n).is_relative_to(inside))
        torn = [n for n in others if found.get(n) != whole[n]]
        if torn:
            yield f"{name} stands beside other files: {torn}"


class Trials:
    """Kills of one command."""

    def __init__(self, command, folder, recordings):
        self.command, self.folder, self.recordings = command, folder, recordings
        self.log = (folder / "log").open("w+")
        self.wholes, self.duration_s = [], 0.0
        for k in range(2):
            output = folder / f"whole{k}"
            output.mkdir()
            begin = time.monotonic()
            with contextlib.redirect_stdout(io.StringIO()):
                main_command(self.words(output, k))
            self.duration_s = time.monotonic() - begin  # of the second, which compiles nothing
            self.wholes.append(output)

    def words(self, output, k, force=False):
        """Return the command with the k-th recordings."""
        a, b = self.recordings[k]
        words = self.command.words.format(a=a, b=b, o=output).split()
        return [*words, "--force"] if force else words

    def finish(self, words):
        """Run a command to its end, which must be a success."""
        child = Child(words, self.log)
        wait_until(lambda: not child.is_running())
        if child.code:
            self.log.seek(0)
            raise SystemExit(self.log.read()[-3000:])

    def kill_once(self, rng):
        """Kill one run; return facts about it."""
        compared = self.command.compared
        has_old = rng.random() < 0.5 and not self.command.words.startswith("reproduce")
        output = self.folder / "out"
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(self.wholes[0], output) if has_old else output.mkdir()
        old = contents(self.wholes[0], compared) if has_old else {}
        new = contents(self.wholes[1], compared)
        child = Child(self.words(output, 1, has_old), self.log)
        is_aimed = rng.random() < 0.5
        if is_aimed:
            wait_until(lambda: temporary_names(output) or not child.is_running())
            time.sleep(rng.uniform(0, 0.3))
        else:
            time.sleep(rng.uniform(0, self.duration_s))
        was_running = child.is_running()
        is_alone = rng.random() < 0.5  # its workers must end by themselves
        if was_running:
            (os.kill if is_alone else os.killpg)(child.pid, signal.SIGKILL)
        wait_until(lambda: not child.is_running() and not session_of(child.pid))
        wrong = list(problems(contents(output, compared), old, new, self.command.description))
        n_left = len(temporary_names(output))
        force = has_old or (not self.command.resumes and bool(contents(output)))
        self.finish(self.words(output, 1, force))
        if contents(output, compared) != new:
            wrong.append("the second run does not have the same bytes")
        return {
            "was_running": was_running,
            "is_aimed": is_aimed,
            "n_left": n_left,
            "n_left_after_rerun": len(temporary_names(output)),
            "wrong": wrong,
        }


def session_of(pid):
    """Return the processes of a session that are alive."""
    words = ["ps", "-o", "pid=", "--sid", str(pid)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()


def make_recordings(folder):
    """Return two pairs of recordings; the pairs have the same names."""
    pairs = []
    for k in range(2):
        inside = folder / f"input{k}"
        inside.mkdir()
        paths = inside / "a.aedat4", inside / "b.aedat4"
        for seed, path in enumerate(paths):
            scene = evcrisp.simulate(
                resolution=(240, 180), duration_us=500_000, noise_hz=5.0, seed=10 * k + seed
            )
            evcrisp.write(path, scene.events)
        pairs.append(paths)
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    results = {}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        recordings = make_recordings(folder)
        for i, name in enumerate(options.commands):
            inside = folder / f"command{i}"
            inside.mkdir()
            trials = Trials(COMMANDS[name], inside, recordings)
            n = len(range(i, options.kills, len(options.commands)))
            facts = []
            while sum(fact["was_running"] for fact in facts) < n:
                facts.append(trials.kill_once(rng))
            results[name] = {
                "n_kills": n,
                "n_too_late": len(facts) - n,
                "n_with_leftovers": sum(fact["n_left"] > 0 for fact in facts),
                "n_with_leftovers_after_rerun": sum(f["n_left_after_rerun"] > 0 for f in facts),
                "wrong": [problem for fact in facts for problem in fact["wrong"]],
            }
            print(name, json.dumps(results[name]), file=sys.stderr, flush=True)
    report("kills", results, kills=options.kills, seed=options.seed)
    if any(result["wrong"] for result in results.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
