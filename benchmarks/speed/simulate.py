"""Throughput of the simulator on one core, and its ratio to plain numpy. Prints JSON.

Command: ``python -m benchmarks.speed.simulate``.

Compared: `evcrisp.simulate` as a whole (textures, signal, noise, sorting), and the kernel of the sensor
against its oracle in numpy on the same slab of 20 ms. Equal numbers of events are required.

Floor: the oracle in numpy.
"""

import argparse
import statistics

from benchmarks.measure import interleaved, rates, report
from tests.oracles.simulation import sensor as oracle

from evcrisp.kernels.simulation.sensor import Pixels
from evcrisp.simulation import simulate, slabs
from evcrisp.simulation.generate import build_paths
from evcrisp.simulation.settings import build_config

SCENES = {
    "shapes": {"texture": "shapes"},
    "shapes, 5 Hz/px noise": {"texture": "shapes", "noise_hz": 5.0},
    "shapes, in the dark": {"texture": "shapes", "noise": "dark"},
    "rocks": {"texture": "rocks"},
    "rocks, 5 Hz/px noise": {"texture": "rocks", "noise_hz": 5.0},
    "shapes, rotation": {"texture": "shapes", "motion": "rotation"},
    "rocks, homography": {"texture": "rocks", "motion": "homography"},
    "shapes with an object": {"texture": "shapes", "object_theta": (-200.0, 150.0)},
}


def measure_rates(resolution, duration_us, repeats):
    """Return counts and rates of all scenes."""
    calls = {
        name: lambda s=settings: simulate(resolution=resolution, duration_us=duration_us, **s)
        for name, settings in SCENES.items()
    }
    counts = {name: len(call().events) for name, call in calls.items()}
    seconds = interleaved(calls, repeats, warm_up=0)
    return {
        name: {"events": counts[name], **rates({name: times}, counts[name])[name]}
        for name, times in seconds.items()
    }


def measure_ratio(texture, resolution, repeats):
    """Return the time of the oracle over that of the kernel."""
    config = build_config(None, {"resolution": resolution, "texture": texture})
    model, paths = build_paths(config)
    view = slabs.build_view(config, model)
    times = slabs._step_times(config, paths, 0, 20_000)
    slab = slabs.Slab(0, 0, 20_000, slabs.slab_motions(paths, times, view.base))
    fresh = slabs._initial_pixels(config, view, slab.motions)
    refractory = float(config.sensor.refractory_us)
    buffer = slabs._empty_buffer(1 << 20)

    def kernel():
        pixels = Pixels(*(column.copy() for column in fresh))
        return slabs._emit(view, slab, times, pixels, refractory, buffer)[1]

    def numpy():
        pixels = Pixels(*(column.copy() for column in fresh))
        return oracle.emit_signal(view.base, slab.motions, times, view.scene, pixels, refractory)[
            0
        ].size

    if kernel() != numpy():
        raise RuntimeError(f"{texture}: kernel and oracle differ")
    seconds = interleaved({"kernel": kernel, "numpy": numpy}, repeats)
    return statistics.median(seconds["numpy"]) / statistics.median(seconds["kernel"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--duration-us", type=int, default=500_000)
    parser.add_argument("--resolution", type=int, nargs=2, default=(346, 260))
    options = parser.parse_args()
    resolution = tuple(options.resolution)
    results = {
        "scenes": measure_rates(resolution, options.duration_us, options.repeats),
        "ratio_to_numpy": {
            texture: measure_ratio(texture, resolution, options.repeats)
            for texture in ("shapes", "rocks")
        },
    }
    report("simulate", results, **vars(options))


if __name__ == "__main__":
    main()
