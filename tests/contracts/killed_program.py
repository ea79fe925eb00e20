"""Kill a command before each of its steps on the file system; check what is left, and run it again.

Usage: killed_program.py NAME. Prints one JSON object; exits 1 on a wrong state. The steps are opening a
file to write, making and removing files and folders, and renaming; Python announces them to an audit
hook, which ends the process there, as ``kill -9`` would.
"""

import contextlib
import io
import json
import logging
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import evcrisp
from evcrisp.cli import main

KILLED = 9
STEPS = ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree")


@dataclass(frozen=True)
class Command:
    """A command, and the file that describes the other outputs: it must belong to them."""

    words: str  # {i}: input, {o}: output folder
    description: str | None = None


COMMANDS = {
    "aedat4": Command("convert {i} {o}/a.aedat4"),
    "npz": Command("convert {i} {o}/a.npz"),
    "columns": Command("convert {i} {o}/a --to columns"),
    "ros2": Command("convert {i} {o}/a --to ros2"),
    "filter": Command("filter {i} {o}/a.npz --labels {o}/labels.npz", "labels.npz"),
    "live": Command("live {i} -o {o}/a.aedat4 -m baf --speed max"),
    "run": Command("run {i} -o {o} -m cmax --motion translation", "summary.json"),
    "flow": Command("flow {i} -o {o} -m cmax --motion translation", "flow.csv"),
    "simulate": Command("simulate {o}/a.npz --seed {seed} --duration-ms 20", "a.npz.truth.json"),
}


def contents(folder):
    """Return the visible files: those with a temporary name do not count."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def leftovers(folder):
    """Return the number of files and folders with a temporary name."""
    return sum(path.name.startswith(".") for path in folder.rglob("*"))


def is_step(event, args, folder):
    """Return whether an audit event changes something in the folder."""
    if event == "open":
        path, mode, flags = args
        is_writing = (
            bool(flags & (os.O_WRONLY | os.O_RDWR)) if mode is None else set(mode) & set("wax+")
        )
        return bool(is_writing) and str(path).startswith(folder)
    return event in STEPS and any(
        str(arg).startswith(folder) for arg in args if isinstance(arg, (str, Path))
    )


def run_in_child(words, folder, n_steps=None):
    """Run a command in a fork; kill it before step ``n_steps``. Return its exit code."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    if n_steps is not None:
        count = 0

        def hook(event, args):
            nonlocal count
            if is_step(event, args, str(folder)):
                count += 1
                if count == n_steps:
                    os._exit(KILLED)

        sys.addaudithook(hook)
    code = 1
    try:
        main(words, standalone_mode=False)
        code = 0
    finally:
        os._exit(code)


def check(found, old, new, description):
    """Raise if a file is torn, or a description stands beside files of another run."""
    for name, content in found.items():
        if content not in (old.get(name), new.get(name)):
            raise AssertionError(f"{name} is neither the old one nor the new one")
    if description in found:
        whole = old if found[description] == old.get(description) else new
        if any(found.get(name) != content for name, content in whole.items()):
            raise AssertionError(f"{description} stands beside files of another run")
    elif description is None and found not in (old, new):
        raise AssertionError(f"there is neither the old output nor the new one: {sorted(found)}")


def attack(command, inputs, folder, *, has_old):
    """Kill a command at every step; return the number of kills and of leftovers after a rerun."""

    def words(output, k, force):
        text = command.words.format(i=inputs[k], o=output, seed=k + 1)
        return [*text.split(), *(["--force"] if force else [])]

    whole = []
    for k in range(2):
        output = folder / f"whole{k}"
        output.mkdir()
        # In this process, so that the forks have imported and compiled all they need.
        with contextlib.redirect_stdout(io.StringIO()):
            main(words(output, k, False), standalone_mode=False)
        whole.append(contents(output))
    old, new = (whole[0] if has_old else {}), whole[1]
    n_kills = n_left = n_stale = 0
    while True:
        output = folder / "out"
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(folder / "whole0", output) if has_old else output.mkdir()
        code = run_in_child(words(output, 1, has_old), output, n_kills + 1)
        assert code in (0, KILLED), code
        check(contents(output), old, new, command.description)
        if code == 0:
            assert contents(output) == new
            return {"n_kills": n_kills, "n_left": n_left, "n_stale": n_stale}
        n_kills += 1
        n_left += leftovers(output) > 0
        # Without a description, results of a killed run may need --force.
        force = bool(contents(output))
        assert run_in_child(words(output, 1, force), output) == 0
        assert contents(output) == new, sorted(contents(output))
        n_stale += leftovers(output) > 0


def attack_all(name):
    """Attack a command with and without old outputs."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text).resolve()
        inputs = []
        for seed in (1, 2):
            scene = evcrisp.simulate(
                resolution=(64, 48), duration_us=30_000, noise_hz=5.0, seed=seed
            )
            (folder / str(seed)).mkdir()
            inputs.append(folder / str(seed) / "scene.npz")
            evcrisp.write(inputs[-1], scene.events)
        found = {}
        for has_old in (False, True):
            work = folder / f"work{has_old}"
            work.mkdir()
            found["replaced" if has_old else "fresh"] = attack(
                COMMANDS[name], inputs, work, has_old=has_old
            )
    return found


if __name__ == "__main__":
    logging.disable()
    sys.stdout.write(json.dumps(attack_all(sys.argv[1])))
