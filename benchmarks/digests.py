"""Digests of everything that the command line writes, to compare two versions of the project.

Run ``python -m benchmarks.digests -o NEW.json [--compare OLD.json] [--only run filter]``. It writes SHA-256
digests of the outputs of ``simulate``, ``run`` (every method), ``filter`` (every filter), ``convert`` (every
format), ``pareto`` and ``reproduce --small`` on simulated recordings, about 100 commands in 2 to 3 minutes on
one core. With ``--compare`` it prints the differences and exits with 1 if there are any. There is no floor:
equal outputs have equal digests.

Only the command line is used, so that an older checkout can be measured: put its ``src`` on PYTHONPATH.
Archives are digested member by member, JSON by top-level key, CSV by column. Fields with times are left out.
"""

import argparse
import contextlib
import csv
import hashlib
import io
import json
import os
import re
import runpy
import sys
import tempfile
import zipfile
from pathlib import Path

#: Names of JSON keys and CSV columns with elapsed times or the version.
_TIMES = re.compile(r"^(evcrisp|elapsed_s|seconds|.*(elapsed|seconds|per second).*)$")

#: Suffix of the output for every format that `convert` writes.
FORMATS = {
    "aedat4": "aedat4",
    "columns": "columns",
    "csv": "csv",
    "dat": "dat",
    "dsec": "h5",
    "ecd": "txt",
    "ecd-zip": "zip",
    "es": "es",
    "evt2": "raw",
    "evt3": "raw",
    "npz": "npz",
}

#: Simulated recordings, the inputs of all other commands.
SCENES = {
    "translation": ["--noise-hz", "5", "--seed", "1"],
    "rotation": ["--motion", "rotation", "--texture", "rocks", "--noise", "dark", "--seed", "2"],
}

#: Further simulations: every motion model, trajectory and kind of noise.
SIMULATIONS = {
    "zoom": ["--motion", "zoom", "--noise", "light"],
    "similarity": ["--motion", "similarity", "--trajectory", "sine"],
    "affine": ["--motion", "affine", "--trajectory", "random"],
    "homography": ["--motion", "homography", "--texture", "checkerboard"],
    "objects": ["--object-theta", "-150,80", "--texture", "dots", "--noise-share", "0.2"],
    "sensor": ["--set", "c_on=0.3", "--set", "hot_pixels=5", "--set", "gyro_noise_rad_s=0.1"],
}
SIZE = ["--resolution", "96x72", "--duration-ms", "70"]

#: Tables of `reproduce` and some of their rows; all rows take minutes.
TABLES = {"table1": "auto,baf", "table2": "auto,eja-5", "table3": "auto,baf+cmax"}


def command(*words):
    """Run one command of evcrisp in this process; return exit code and standard output."""
    output = io.StringIO()
    old, sys.argv = sys.argv, ["evcrisp", *map(str, words)]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            runpy.run_module("evcrisp", run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = old
    return code, output.getvalue()


def digest(data):
    """Return the first 16 hexadecimal digits of the SHA-256 digest of bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def without_times(value):
    """Return JSON types without the fields that hold times."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not _TIMES.search(k)}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def digests_of_json(data):
    """Yield name and digest of every top-level key, of each item if the top level is a list."""
    value = without_times(json.loads(data))
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        for key, part in item.items():
            name = f"[{number}][{key}]" if isinstance(value, list) else f"[{key}]"
            yield name, digest(json.dumps(part, sort_keys=True).encode())


def digests_of_csv(data):
    """Yield name and digest of every column of a table, or of a file that is not one."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    if len({len(row) for row in rows}) != 1:
        yield "", digest(data)
        return
    for number, column in enumerate(zip(*rows, strict=False)):
        if not _TIMES.search(column[0]):
            yield f"[{number}]", digest("\n".join(column).encode())


def digests_of_archive(data):
    """Yield name and digest of every member."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            yield f"[{name}]", digest(archive.read(name))


def digests_of_file(path):
    """Yield name and digest of every part of a file."""
    data = path.read_bytes()
    if path.suffix in (".npz", ".zip"):
        yield from digests_of_archive(data)
    elif path.suffix == ".json":
        yield from digests_of_json(data)
    elif path.suffix == ".csv":
        yield from digests_of_csv(data)
    elif path.suffix == ".md":  # without titles and remarks
        yield "", digest(b"\n".join(row for row in data.splitlines() if row.startswith(b"|")))
    else:
        yield "", digest(data)


def digests_of(target):
    """Return the digests of a file, or of the files of a folder and its recordings, by name."""
    if target.is_file():
        return {f"{target}{part}": value for part, value in digests_of_file(target)}
    found = {}
    for path in sorted(target.iterdir()):
        if path.is_file() and path.name not in ("digests.json", "failures.log"):
            found |= {f"{path.name}{part}": value for part, value in digests_of_file(path)}
    deeper = [path for path in target.rglob("*/*") if path.is_file()]
    # Their names depend on the version; archives hold the time of day.
    recordings = [digest(p.read_bytes()) for p in deeper if p.suffix not in (".json", ".npz")]
    return found | {"recordings": digest("".join(sorted(recordings)).encode())}


def names(listing, key=None):
    """Return the names that ``evcrisp methods`` or ``evcrisp filters`` lists."""
    _, text = command(listing, "--json")
    items = json.loads(text)
    return [item["name"] for item in (items[key] if key else items)]


def cases(only):
    """Yield label, command and output path of everything that is digested."""
    for name, options in {**SCENES, **SIMULATIONS}.items():
        path = Path(f"{name}.npz")
        if name in SCENES or "simulate" in only:
            yield f"simulate {name}", ["simulate", path, *SIZE, *options], path
    if "run" in only:
        for motion in SCENES:
            for method in names("methods", "methods"):
                folder = Path(f"run-{motion}-{method}")
                words = ["run", f"{motion}.npz", "-o", folder, "-m", method, "--motion", motion]
                yield f"run {motion} {method}", words, folder
        overlapping = ["run", "translation.npz", "-o", "run-overlap", "--overlap", "0.5"]
        yield "run overlap", overlapping, Path("run-overlap")
    if "filter" in only:
        for method in names("filters"):
            path, labels = f"filter-{method}.npz", Path(f"labels-{method}.npz")
            words = ["filter", "translation.npz", path, "-m", method, "--labels", labels]
            yield f"filter {method}", words, labels
    if "convert" in only:
        for name, suffix in FORMATS.items():
            path = Path(f"convert-{name}.{suffix}")
            yield f"convert {name}", ["convert", "translation.npz", path, "--to", name], path
    if "pareto" in only:
        for motion in SCENES:
            path = Path(f"pareto-{motion}.json")
            words = ["pareto", f"{motion}.npz", "--motion", motion, "--points", "7", "-o", path]
            yield f"pareto {motion}", words, path
    if "reproduce" in only:
        for table, methods in TABLES.items():
            folder = Path(f"reproduce-{table}")
            words = ["reproduce", table, "--small", "-o", folder, "--methods", methods]
            yield f"reproduce {table}", [*words, "--workers", "0"], folder


def measured(only):
    """Return the digests of all outputs by label and part; a failed command gives its exit code."""
    found = {}
    for label, words, target in cases(only):
        code, _ = command(*words)
        found[label] = {"exit code": str(code), **(digests_of(target) if target.exists() else {})}
        truth = Path(f"{target}.truth.json")
        if words[0] == "simulate" and truth.exists():
            found[label] |= digests_of(truth)
        print(f"{label}: exit code {code}, {len(found[label]) - 1} digests", file=sys.stderr)
    return found


def differences(old, new):
    """Yield one line for each difference between two sets of digests."""
    for label in sorted({*old, *new}):
        before, after = old.get(label), new.get(label)
        if before is None or after is None:
            yield f"{label}: only in the {'new' if before is None else 'old'} version"
            continue
        for part in sorted({*before, *after}):
            if before.get(part) != after.get(part):
                yield f"{label}: {part}: {before.get(part)} -> {after.get(part)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--compare", type=Path, help="JSON file of another version")
    commands = ("simulate", "run", "filter", "convert", "pareto", "reproduce")
    parser.add_argument("--only", nargs="+", choices=commands, default=commands)
    options = parser.parse_args()
    output, compare = options.output.resolve(), options.compare and options.compare.resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # relative names: outputs hold the names of their inputs
        # Compile anew: code from a cache of another run can differ in the last bit of results.
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder, "compiled"))
        new = measured(options.only)
        os.chdir(output.parent)
    output.write_text(json.dumps(new, indent=1) + "\n")
    if compare:
        old = json.loads(compare.read_text())
        lines = list(differences({k: v for k, v in old.items() if k in new}, new))
        print("\n".join(lines) or "All outputs are equal.")
        sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
