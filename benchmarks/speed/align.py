"""Speed and accuracy of whole methods and of the search alone, against eventcv. Prints JSON.

Command: ``python -m benchmarks.speed.align [--parts growth] [--sizes 10000 100000 1000000 10000000]``.

Compared: all calls see the same events, in turns, in one process. Times are medians; the motion error
is the distance between warped and true positions, root mean square over view and window.

windows     cold and warm, against eventcv. ``auto`` and ``cmax`` are the whole methods, with hot pixels,
            conversion and scores, and for ``auto`` labels, W and the values of the joint problem;
            ``search`` only finds the motion.
streaming   consecutive windows of a recording
stages      time of the parts of a cold search
growth      a window of 20 ms with up to millions of events, without copies; see `dense_window`

Floor: one evaluation of the objective with all events, which every method needs.
"""

import argparse
import statistics
import time

import numpy as np
from benchmarks.measure import interleaved, report

from evcrisp import Window, simulate
from evcrisp.core.interop import to_eventcv
from evcrisp.core.windows import by_count
from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.hot_pixels import data_without_hot_pixels
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing
from evcrisp.search import search
from evcrisp.search.coarse_search import best_starts, bound_px, coarse_level
from evcrisp.search.multiscale_objective import LevelObjective

RESOLUTION = (346, 260)

#: Texture and velocity, px/s. Finer textures give shorter windows for the same number of events.
SCENES = {
    "shapes, slow": ("shapes", (130.0, -60.0)),
    "shapes, fast": ("shapes", (-900.0, 650.0)),
    "dots": ("dots", (330.0, 210.0)),
    "rocks": ("rocks", (-350.0, -520.0)),
}
NOISE_HZ = (0.0, 2.0, 10.0)

PARTS = ("windows", "streaming", "stages", "growth")


def window_of(texture, theta, noise_hz, n_events, seed=0):
    """Return a simulation and a window of it with a number of events."""
    duration_us = 20_000
    while True:
        scene = simulate(
            texture=texture, theta=theta, noise_hz=noise_hz, resolution=RESOLUTION,
            duration_us=duration_us, seed=seed,
        )  # fmt: skip
        if len(scene.events) >= n_events or duration_us > 60_000_000:
            events = scene.events[:n_events]
            return scene, Window(events, 0, int(events.t[-1]) + 1)
        duration_us *= 2


def milliseconds(call, repeats):
    """Return the median time of a call, and its result."""
    result = call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times), result


def compare(texture, theta, noise_hz, n_events, repeats):
    """Return times and errors of both packages in one window."""
    scene, window = window_of(texture, theta, noise_hz, n_events)
    _, data = data_without_hot_pixels(window, scene.motion)
    stream = to_eventcv(window.events)
    guess = 1.05 * np.array(theta)
    calls = {
        "search": lambda: search.find_motion(data),
        "search, warm": lambda: search.find_motion(data, guess),
        "cmax": lambda: Cmax().run(window, scene.motion),
        "cmax, warm": lambda: Cmax().run(window, scene.motion, guess),
        "auto": lambda: AutoRegret().run(window, scene.motion),
        "auto, warm": lambda: AutoRegret().run(window, scene.motion, guess),
        "eventcv": stream.contrast_maximise,
    }
    seconds = {k: statistics.median(v) for k, v in interleaved(calls, repeats).items()}
    found = {name: call() for name, call in calls.items()}
    thetas = {k: v["params"] if k == "eventcv" else v.theta for k, v in found.items()}
    return {
        "events": len(window.events),
        "window_ms": window.t_end / 1e3,
        "displacement_px": float(np.hypot(*theta) * window.t_end / 1e6),
        "ms": {k: 1e3 * v for k, v in seconds.items()},
        "ratio": {k: seconds["eventcv"] / v for k, v in seconds.items() if k != "eventcv"},
        "error_px": {k: scene.warp_error_px(v, 0, window.t_end) for k, v in thetas.items()},
        "evaluations": {k: v.n_eval for k, v in found.items() if k != "eventcv"},
    }


def streaming(n_events, n_rounds, n_windows=8):
    """Return the time per window in a stream, each started from the previous motion, ms.

    Methods take turns of some windows, so that load on the machine affects all of them.
    """
    n_all = n_events * n_windows * n_rounds
    scene, _ = window_of("shapes", (400.0, -150.0), 2.0, n_all)
    events = scene.events[:n_all]
    cut = Windowing(window_events=n_events)
    tracks = {method: track(events, method, windowing=cut) for method in ("auto", "cmax")}
    streams = (to_eventcv(window.events) for window in by_count((events,), n_events))
    tracks["eventcv"] = (stream.contrast_maximise() for stream in streams)
    tracks["auto, cold"] = (
        AutoRegret().run(window, scene.motion) for window in by_count((events,), n_events)
    )
    seconds = {name: [] for name in tracks}
    for _ in range(n_rounds):
        for name, results in tracks.items():
            for _ in range(n_windows):
                began = time.perf_counter()
                next(results)
                seconds[name].append(time.perf_counter() - began)
    # The first window compiles or loads kernels, and has no previous motion.
    medians = {name: 1e3 * statistics.median(times[1:]) for name, times in seconds.items()}
    ratios = {name: medians["eventcv"] / ms for name, ms in medians.items() if name != "eventcv"}
    return {"windows": n_windows * n_rounds, "ms": medians, "ratio": ratios}


def stages(n_events, repeats):
    """Return the times of the parts of a cold search, ms."""
    scene, window = window_of("shapes", (400.0, -150.0), 2.0, n_events)
    config = search.SearchConfig()
    convert, (_, data) = milliseconds(
        lambda: data_without_hot_pixels(window, scene.motion), repeats
    )
    problem = search.search_problem(data, config)
    coarse = coarse_level(problem, config)
    bound = bound_px(problem, config)
    lattice, (starts, _) = milliseconds(lambda: best_starts(coarse, bound), repeats)
    climb, end = milliseconds(
        lambda: search._coarse_ascent(coarse, starts[0], 0.1 * coarse.scale), repeats
    )
    plan = search._passes(coarse.scale // 2, 2 * config.coarse_events, len(data), config)
    refine, _ = milliseconds(
        lambda: search._coarse_to_fine(problem, config, plan, end.theta, 0), repeats
    )
    fine = LevelObjective.around(problem, end.theta, scale=2, n_events=len(data), margin_px=6.0)
    one, _ = milliseconds(lambda: fine(end.theta), repeats)
    whole, result = milliseconds(lambda: search.find_motion(data), repeats)
    return {
        "conversion and hot pixels": convert,
        "grid search on the coarse map": lattice,
        "maximization on the coarse map": climb,
        "maximization on finer maps": refine,
        "whole search": whole,
        "one evaluation with all events (floor)": one,
        "whole search over floor": whole / one,
        "evaluations": result.n_eval,
    }


def dense_window(n_events, duration_us=20_000):
    """Return a simulation and a window of fixed length with a number of distinct events.

    Above 300 000 events, the contrast threshold falls from 0.2 and the noise rises with the number.
    A random selection of the result is taken. Repeated events would be too easy: the cache already
    holds their positions.
    """
    finer = max(1.0, n_events / 300_000)
    scene = simulate(
        texture="rocks", theta=(350.0, -520.0), noise_hz=2.0 * finer, resolution=RESOLUTION,
        duration_us=duration_us, seed=0, c_on=0.2 / finer, c_off=0.2 / finer, refractory_us=0.0,
    )  # fmt: skip
    chosen = np.random.default_rng(0).permutation(len(scene.events))[:n_events]
    return scene, Window(scene.events[np.sort(chosen)], 0, duration_us)


def growth(sizes, repeats):
    """Return times by number of events in a window of one length; see `dense_window`."""
    rows = {}
    for n_events in sizes:
        scene, window = dense_window(n_events)
        _, data = data_without_hot_pixels(window, scene.motion)
        n = max(1, min(repeats, 20_000_000 // n_events))
        cold, found = milliseconds(lambda d=data: search.find_motion(d), n)
        warm, _ = milliseconds(lambda d=data, f=found: search.find_motion(d, 1.02 * f.theta), n)
        cmax, _ = milliseconds(lambda w=window, s=scene: Cmax().run(w, s.motion), n)
        auto, result = milliseconds(lambda w=window, s=scene: AutoRegret().run(w, s.motion), n)
        times = {"cold": cold, "warm": warm, "cmax": cmax, "auto": auto}
        rows[n_events] = {
            **{f"{name}_ms": ms for name, ms in times.items()},
            **{f"{name}_ns_per_event": 1e6 * ms / n_events for name, ms in times.items()},
            "error_px": scene.warp_error_px(found.theta, 0, window.t_end),
            "auto_error_px": scene.warp_error_px(result.theta, 0, window.t_end),
        }
    return rows


def comparison(n_events, repeats):
    """Return all windows, and medians and means over them."""
    windows = {
        f"{name}, {noise_hz:g} Hz/px": compare(*scene, noise_hz, n_events, repeats)
        for name, scene in SCENES.items()
        for noise_hz in NOISE_HZ
    }
    ratios = {
        name: [row["ratio"][name] for row in windows.values()]
        for name in next(iter(windows.values()))["ratio"]
    }
    errors = {
        name: [row["error_px"][name] for row in windows.values()]
        for name in next(iter(windows.values()))["error_px"]
    }
    summary = {
        "median_ratio": {name: statistics.median(values) for name, values in ratios.items()},
        "lowest_ratio": {name: min(values) for name, values in ratios.items()},
        "mean_error_px": {name: statistics.fmean(values) for name, values in errors.items()},
    }
    return {"summary": summary, "windows": windows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--events", type=int, default=35_000)
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000],
        help="numbers of events of `growth`; 10000000 takes half a minute and 2 GB more",
    )  # fmt: skip
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    results = {}
    if "windows" in options.parts:
        results |= comparison(options.events, options.repeats)
    if "streaming" in options.parts:
        results["streaming"] = streaming(options.events, 5)
    if "stages" in options.parts:
        results["stages_ms"] = stages(options.events, 30)
    if "growth" in options.parts:
        results["growth"] = growth(options.sizes, options.repeats)
    report("align", results, **vars(options))


if __name__ == "__main__":
    main()
