"""Fuzz readers and parsers: ``python -m tests.fuzz --count 1000 --seed 1 [TARGET ...]``.

Prints one line of JSON per target. Ends with 1 if something was wrong. ``--save FOLDER --index N``
writes one damaged recording instead, to try it by hand.
"""

import argparse
import sys
from pathlib import Path

from tests.fuzz.campaign import TARGETS, make_target, rng_of, run_campaign
from tests.fuzz.recordings import DamagedRecordings


def main() -> int:
    """Run the chosen targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=None, help="limit of each target")
    parser.add_argument("--save", type=Path, default=None)
    parser.add_argument("--index", type=int, default=None)
    options = parser.parse_args()
    chosen = options.targets or list(TARGETS)
    if options.save is not None:
        return _save(chosen[0], options.seed, options.index, options.save)
    n_findings = 0
    for target in chosen:
        report = run_campaign(
            target,
            seed=options.seed,
            start=options.start,
            count=options.count,
            seconds=options.seconds,
        )
        n_findings += len(report.findings)
        print(report.to_json(), flush=True)
    return int(n_findings > 0)


def _save(target: str, seed: int, index: int, folder: Path) -> int:
    inputs = make_target(target)
    rng = rng_of(target, seed, index)
    assert isinstance(inputs, DamagedRecordings), "only recordings are saved"
    sample, name, kind, first, files = inputs.files(rng)
    for path, data in sample.pack(files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    print(f"{sample.name}: {kind} of {name} at byte {first}; reader {sample.reader}")
    inputs.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
