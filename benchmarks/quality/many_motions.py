"""Labels and motion in windows with many motions, simulated and real, and with one motion.

Command: ``python -m benchmarks.quality.many_motions [PARTS] [--data DIR] [-o FILE]``. Tables go to the
terminal, all figures to FILE (JSON).

scenes    the scenes of `benchmarks.quality.many_motion_scenes`: 30 kinds of motion with known truth
one       scenes and real windows with one motion: nothing may be lost by looking for more
inbound   road traffic seen from above (REMOT), with true boxes
cradle    five balls of which one or two move fast (E-MLB, demo-01)

Parts whose recordings are not in DIR (default: ``EVCRISP_DATA``) are left out.
"""

import argparse
import logging
import os
import time
from pathlib import Path

from benchmarks.measure import write_report
from benchmarks.quality import cradle, inbound, many_motion_quality, one_motion

PARTS = {
    "scenes": many_motion_quality.measure,
    "one": one_motion.measure,
    "inbound": inbound.measure,
    "cradle": cradle.measure,
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--data", type=Path, help="folder of real recordings")
    parser.add_argument("--only", nargs="+", help="names of scenes; default: all")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("-o", "--output", type=Path, help="JSON file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    logging.disable(logging.WARNING)  # recordings without resolution or calibration
    data_dir = options.data or Path(os.environ.get("EVCRISP_DATA", "data"))
    results, start = {}, time.perf_counter()
    for part in options.parts or PARTS:
        results[part] = PARTS[part](data_dir, only=options.only, repeats=options.repeats)
        if options.output:  # after every part, since all of them take minutes
            seconds = round(time.perf_counter() - start)
            write_report(options.output, "many motions", results, seconds=seconds)
    return results


if __name__ == "__main__":
    main()
