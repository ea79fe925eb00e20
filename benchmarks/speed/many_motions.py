"""Time of the default method, by the number of motions in a window. Table; JSON to a file.

Command: ``python -m benchmarks.speed.many_motions [PARTS] [-o FILE] [--repeats 9]``.

one       one motion, about 30 000 events: the default, and the motion as one translation
several   three to six motions, 25 000 to 50 000 events
million   about a million events of four motions in 30 ms, 1280x720
stream    time per window of a recording of 0.6 s: one motion, and three objects

Compared: the default, and ``motion="translation"``, which fits one motion, in turns in one process. The
fastest of the repeats counts: on a shared machine others slow a run down, and nothing speeds it up.
Floor: the search for one translation.
"""

import argparse
import logging
import time

import numpy as np
from benchmarks.measure import interleaved, print_table, write_report
from benchmarks.quality import many_motion_scenes as scenes

import evcrisp
from evcrisp.core.windows import Window

#: Windows by the number of their motions; the background counts if it moves.
SEVERAL = {
    3: "two objects, turning background",
    4: "three objects, moving",
    5: "five objects, still",
    6: "six objects, still",
}
#: Low thresholds and much noise: about a million events in 30 ms.
DENSE = {"c_on": 0.025, "c_off": 0.025, "noise_hz": 18.0}
STREAM_US = 600_000
METHODS = {"auto": "auto", "one translation": "translation"}


def one(repeats):
    """Return the times of a window with one motion, ms."""
    _, window = scenes.scene("translation")
    return {"1 motion": times(window, repeats)}


def several(repeats):
    """Return the times of windows with three to six motions, ms."""
    rows = {}
    for n_motions, name in SEVERAL.items():
        _, window = scenes.scene(name)
        rows[f"{n_motions} motions"] = times(window, repeats)
    return rows


def million(repeats):
    """Return the times of a window of a million events, ms."""
    settings = scenes.SENSOR | dict(scenes.SCENES["four objects, 1280x720"]) | DENSE
    events = evcrisp.simulate(**settings, seed=1, duration_us=scenes.WINDOW_US).events
    window = Window(events, 0, scenes.WINDOW_US)
    return {"4 motions, 1280x720": times(window, max(repeats // 3, 1))}


def stream(repeats):
    """Return the times per window of a recording, ms."""
    rows = {}
    for title, name in (
        ("stream, 1 motion", "translation"),
        ("stream, 4 motions", "three objects, moving"),
    ):
        settings = dict(scenes.SCENES[name])
        # Objects leave the view in a long recording: it is one scene after the other, each 90 ms.
        parts = [
            evcrisp.simulate(
                **scenes.SENSOR, **settings, resolution=scenes.RESOLUTION, seed=seed,
                duration_us=scenes.HISTORY_US + scenes.WINDOW_US, t_start_us=seed * _PART_US,
            ).events
            for seed in range(STREAM_US // _PART_US)
        ]  # fmt: skip
        rows[title] = stream_times(evcrisp.Events.concatenate(parts), repeats)
    return rows


_PART_US = scenes.HISTORY_US + scenes.WINDOW_US


def times(window, repeats):
    """Return the fastest time of each method, ms, and their ratio."""
    calls = {
        method: lambda motion=motion: evcrisp.estimate(window, motion=motion)
        for method, motion in METHODS.items()
    }
    result = calls["auto"]()
    best = {name: 1e3 * min(found) for name, found in interleaved(calls, repeats).items()}
    return _row(best, len(window.events), [len(result.layers)])


def stream_times(events, repeats):
    """Return the fastest time per window of each method in a stream, ms, and their ratio."""
    windowing = evcrisp.Windowing(window_us=scenes.WINDOW_US)
    calls = {
        method: lambda motion=motion: list(
            evcrisp.track(events, motion=motion, windowing=windowing)
        )
        for method, motion in METHODS.items()
    }
    results = calls["auto"]()
    seconds = interleaved(calls, max(repeats // 3, 1))
    best = {name: 1e3 * min(found) / len(results) for name, found in seconds.items()}
    return _row(best, len(events) // len(results), [len(result.layers) for result in results])


def _row(best, n_events, layers):
    return {
        "n_events": n_events,
        "layers": float(np.mean(layers)),
        "ms": best,
        "ratio": best["auto"] / best["one translation"],
        "ns_per_event": 1e6 * best["auto"] / n_events,
    }


PARTS = {"one": one, "several": several, "million": million, "stream": stream}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=[], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("-o", "--output", help="JSON file")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    logging.disable(logging.WARNING)
    results, start = {}, time.perf_counter()
    for part in options.parts or PARTS:
        results |= PARTS[part](options.repeats)
    rows = [
        [
            name,
            f"{row['n_events']}",
            f"{row['layers']:.1f}",
            *(f"{row['ms'][method]:.1f}" for method in METHODS),
            f"{row['ratio']:.2f}",
            f"{row['ns_per_event']:.0f}",
        ]
        for name, row in results.items()
    ]
    head = [
        "",
        "events per window",
        "layers found",
        *(f"{m}, ms" for m in METHODS),
        "ratio",
        "ns/event",
    ]
    print_table("Time of the default method, fastest of the repeats", head, rows)
    if options.output:
        seconds = round(time.perf_counter() - start)
        write_report(
            options.output,
            "speed of many motions",
            results,
            repeats=options.repeats,
            seconds=seconds,
        )
    return results


if __name__ == "__main__":
    main()
