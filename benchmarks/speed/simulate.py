"""Speed of the simulator: events per second on one core, and the ratio to plain numpy.

    python benchmarks/speed/simulate.py [--repeats 5] [--duration-ms 500] [--output FILE]

Prints JSON. The rate is that of `evcrisp.simulate` as a whole: textures, signal, noise, sorting. The
ratio compares the compiled sensor with its plain twin on the same slabs of time, in one process.
"""

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

import numba
import numpy as np

import evcrisp
from evcrisp.kernels import reference_simulate
from evcrisp.kernels.simulate import Pixels
from evcrisp.simulation import simulate, slabs
from evcrisp.simulation.generate import build_paths
from evcrisp.simulation.overrides import build_config

RESOLUTION = (346, 260)
SCENES = {
    "shapes, translation": {"texture": "shapes"},
    "shapes, translation, 5 Hz/px noise": {"texture": "shapes", "noise_hz": 5.0},
    "shapes, translation, dark": {"texture": "shapes", "noise": "dark"},
    "rocks, translation": {"texture": "rocks"},
    "rocks, translation, 5 Hz/px noise": {"texture": "rocks", "noise_hz": 5.0},
    "shapes, rotation": {"texture": "shapes", "motion": "rotation"},
    "rocks, homography": {"texture": "rocks", "motion": "homography"},
    "shapes with an object": {"texture": "shapes", "object_theta": (-200.0, 150.0)},
}


def seconds(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def spread(values):
    low, middle, high = np.percentile(values, (25, 50, 75))
    return {"median": float(middle), "iqr": float(high - low)}


def measure_rates(repeats, duration_us):
    times = {name: [] for name in SCENES}
    counts = {}
    for _ in range(repeats):  # interleaved, so that a busy moment hits all scenes
        for name, settings in SCENES.items():
            taken, result = seconds(
                lambda s=settings: simulate(resolution=RESOLUTION, duration_us=duration_us, **s)
            )
            times[name].append(taken)
            counts[name] = len(result.events)
    return {
        name: {
            "events": counts[name],
            "seconds": spread(times[name]),
            "events_per_second": counts[name] / statistics.median(times[name]),
        }
        for name in SCENES
    }


def measure_ratio(texture, repeats):
    """Run the compiled and the plain sensor over one slab of 20 ms."""
    config = build_config(None, {"resolution": RESOLUTION, "texture": texture})
    model, paths = build_paths(config)
    view = slabs.build_view(config.scene, config.resolution, model, config.seed)
    times = slabs._step_times(config, paths, 0, 20_000)
    slab = slabs.Slab(0, 0, 20_000, slabs.texture_matrices(paths, times))
    fresh = slabs._fresh_pixels(config, view, slab.matrices)
    refractory = float(config.sensor.refractory_us)
    buffer = slabs._empty_buffer(1 << 20)
    fast, plain = [], []
    for _ in range(repeats + 1):
        mine, theirs = (Pixels(*(column.copy() for column in fresh)) for _ in range(2))
        taken, (_, n_mine) = seconds(
            lambda p=mine: slabs._emit(view, slab, times, p, refractory, buffer)
        )
        fast.append(taken)
        taken, (t, _, _) = seconds(
            lambda p=theirs: reference_simulate.emit_signal(
                view.base, slab.matrices, times, view.scene, p, refractory
            )
        )
        plain.append(taken)
        if n_mine != t.size:
            raise RuntimeError(f"{texture}: {n_mine} events against {t.size}")
    return statistics.median(plain[1:]) / statistics.median(fast[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--duration-ms", type=int, default=500)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    simulate(resolution=(32, 24), duration_us=2000, noise="dark", noise_hz=5.0)  # compile
    result = {
        "benchmark": "simulate",
        "resolution": RESOLUTION,
        "duration_ms": options.duration_ms,
        "repeats": options.repeats,
        "evcrisp": evcrisp.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "threads": 1,
        "scenes": measure_rates(options.repeats, 1000 * options.duration_ms),
        "ratio_to_numpy": {
            texture: measure_ratio(texture, options.repeats) for texture in ("shapes", "rocks")
        },
    }
    text = json.dumps(result, indent=2)
    if options.output:
        options.output.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
