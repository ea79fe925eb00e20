"""Read damaged copies of a recording, in a separate process to detect hangs and crashes.

Usage: fuzz_program.py SAMPLE N_CUTS N_FLIPS SEED. Prints one JSON object; exits 1 on a wrong result.
"""

import contextlib
import json
import logging
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import evcrisp

MEMORY_BYTES = 6 << 30


def is_prefix(part, whole):
    n = len(part)
    return n <= len(whole) and all(
        np.array_equal(getattr(part, name), getattr(whole, name)[:n])
        for name in ("x", "y", "t", "p")
    )


def damaged_files(sample, folder, n_cuts, n_flips, rng):
    """Yield (kind, path) of damaged copies."""
    for kind in ["cut"] * n_cuts + ["flip"] * n_flips:
        copy = folder / sample.name
        if sample.is_dir():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(sample, copy)
            target = rng.choice(sorted(p for p in copy.rglob("*") if p.is_file()))
        else:
            shutil.copyfile(sample, copy)
            target = copy
        target.chmod(0o644)
        data = bytearray(target.read_bytes())
        if kind == "cut":
            data = data[: int(rng.integers(0, len(data)))]
        else:
            for _ in range(int(rng.integers(1, 4))):
                # Half of the flips hit the first bytes, where headers are.
                end = len(data) if rng.random() < 0.5 else min(len(data), 400)
                data[int(rng.integers(0, end))] ^= 1 << int(rng.integers(0, 8))
        target.write_bytes(data)
        yield kind, copy


def read(path, on_error, reader):
    """Return (events, error); exceptions other than FormatError are not caught."""
    try:
        with evcrisp.open(
            path, on_error=on_error, format=reader, resolution=(65536, 65536)
        ) as opened:
            events = evcrisp.Events.concatenate(
                [evcrisp.Events.empty((65536, 65536)), *opened.chunks()]
            )
            opened.imu(), opened.triggers(), sum(1 for _ in opened.frames())
            return events, opened.damage
    except evcrisp.FormatError as error:
        return None, error


def read_part(path, reader, whole):
    """Read the second half of a damaged file; return whether all events have a time in it.

    A wrong first event moves the part, possibly beyond the end.
    """
    start_us = whole.duration_us // 2
    try:
        with evcrisp.open(
            path,
            on_error="truncate",
            format=reader,
            resolution=(65536, 65536),
            start_us=start_us,
            duration_us=max(start_us, 1),
        ) as opened:
            events = opened.read()
            n_chunks = sum(map(len, opened.chunks(1000)))
            opened.imu(), opened.triggers(), sum(1 for _ in opened.frames())
            return n_chunks == len(events) and events.duration_us <= start_us
    except (evcrisp.FormatError, evcrisp.EventDataError):
        return True


def main():
    sample, n_cuts, n_flips, seed = sys.argv[1], *map(int, sys.argv[2:5])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.getLogger("evcrisp").setLevel(logging.CRITICAL)
    sample = Path(sample)
    with evcrisp.open(sample) as opened:
        whole, reader = opened.read(), opened.format
    rng = np.random.default_rng(seed)
    counts = {"format": reader, "read": 0, "refused": 0, "n_kept": 0}
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in damaged_files(sample, Path(folder), n_cuts, n_flips, rng):
            events, failure = read(path, "raise", reader)
            kept, _ = read(path, "truncate", reader)
            counts["read" if events is not None else "refused"] += 1
            counts["n_kept"] += 0 if kept is None else len(kept)
            if failure is not None and kept is not None and len(kept) < failure.n_before:
                sys.exit(f"{kind}: truncate kept {len(kept)} of {failure.n_before} good events")
            if kind == "cut" and kept is not None and not is_prefix(kept, whole):
                sys.exit("cut: the kept events are not the start of the recording")
            if not read_part(path, reader, whole):
                sys.exit(f"{kind}: a part has events outside of it, or other events in chunks")
            with contextlib.suppress(evcrisp.FormatError, evcrisp.MissingExtraError):
                evcrisp.read(path)  # detection must not fail on damaged content
    sys.stdout.write(json.dumps(counts))


if __name__ == "__main__":
    main()
