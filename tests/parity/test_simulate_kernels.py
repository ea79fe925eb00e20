"""Kernels of the simulator against their oracles, bit by bit."""

import numpy as np
import pytest
from tests.oracles.simulation import sensor as oracle

from evcrisp.kernels.search.array_ops import stable_order
from evcrisp.kernels.simulation import sensor as kernel
from evcrisp.simulation import Vortex, generate
from evcrisp.simulation import slabs as sensor_slabs
from evcrisp.simulation.settings import build_config

CASES = {
    "translation over shapes": {"texture": "shapes"},
    "translation over rocks": {"texture": "rocks", "c_on": 0.05, "c_off": 0.08},
    "no refractory time": {"texture": "checkerboard", "refractory_us": 0},
    "long refractory time": {"texture": "rocks", "refractory_us": 9000},
    "similarity": {"motion": "similarity", "texture": "star"},
    "affine": {"motion": "affine", "texture": "dots"},
    "homography": {"motion": "homography", "texture": "dots", "feature_px": 9},
    "rotation": {"motion": "rotation", "texture": "shapes", "feature_px": 9},
    "long refractory time over flat areas": {
        "texture": "shapes",
        "refractory_us": 15_000,
        "feature_px": 12,
        "theta": (900.0, 100.0),
    },
    "rotation far around": {"motion": "rotation", "theta": (9.0, 30.0, 4.0), "step_px": 2.0},
    "two objects": {
        "texture": "shapes",
        "objects": (
            {"theta": (-150.0, 90.0), "texture": "shapes"},
            {"theta": (0.0, 200.0), "outline": "rectangle", "center": (0.3, 0.4)},
        ),
    },
    "turning objects": {
        "texture": "shapes",
        "theta": (0.0, 0.0),
        "objects": (
            {"theta": (90.0, 0.0, 9.0, -3.0), "motion": "similarity", "size": (0.3, 0.3)},
            {"theta": (-99.0, 40.0), "motion": "translation", "center": (0.9, 0.4)},
        ),
    },
    "object that shrinks a lot": {
        "objects": ({"theta": (0.0, 0.0, 9.0, -40.0), "motion": "similarity"},),
    },
    "object before a turning camera": {
        "motion": "rotation",
        "theta": (1.0, 4.0, -2.0),
        "objects": ({"theta": (90.0, 0.0, 9.0, 3.0), "motion": "similarity"},),
    },
    "forward": {"field": "forward", "texture": "dots", "feature_px": 9},
    "vortex": {"field": Vortex(peak_px_s=200.0), "texture": "shapes"},
    "fields of two layers": {
        "field": "shear",
        "objects": (
            {"theta": (-99.0, 40.0), "motion": "translation", "size": (0.2, 0.4)},
            {"field": Vortex(peak_px_s=-150.0), "outline": "patches", "size": (0.2, 0.2)},
        ),
    },
    "swinging": {"trajectory": "sine", "period_us": 40_000, "texture": "stripes"},
}


def slabs_of(settings):
    from evcrisp.simulation import ObjectConfig

    settings = dict(settings)
    if "objects" in settings:
        settings["objects"] = tuple(ObjectConfig(**item) for item in settings["objects"])
    config = build_config(None, {"resolution": (57, 43), "duration_us": 60_000, **settings})
    model, paths = generate.build_paths(config)
    view = sensor_slabs.build_view(config, model)
    last = None
    for number, (t_start, t_end) in enumerate(sensor_slabs._slab_times(config, paths)):
        times = sensor_slabs._step_times(config, paths, t_start, t_end)
        last = sensor_slabs.slab_motions(paths, times, view.base, last)
        yield config, view, sensor_slabs.Slab(number, t_start, t_end, last), times


@pytest.mark.parametrize("name", CASES)
def test_kernel_gives_the_events_of_the_oracle(name):
    mine = theirs = None
    n_total = 0
    for config, view, slab, times in slabs_of(CASES[name]):
        if mine is None:
            mine = sensor_slabs._initial_pixels(config, view, slab.motions)
            theirs = kernel.Pixels(*(column.copy() for column in mine))
        refractory = float(config.sensor.refractory_us)
        buffer, n = sensor_slabs._emit(
            view, slab, times, mine, refractory, sensor_slabs._empty_buffer(100)
        )
        order = np.empty(n, np.int64)
        stable_order(buffer.t[:n], slab.t_end - slab.t_start, order)
        t, pixel, kind = oracle.emit_signal(
            view.base, slab.motions, times, view.scene, theirs, refractory
        )
        np.testing.assert_array_equal(buffer.t[:n][order], t)
        np.testing.assert_array_equal(buffer.pixel[:n][order], pixel)
        np.testing.assert_array_equal(buffer.kind[:n][order], kind)
        # The reference of a pixel in its refractory time is set later over flat areas.
        awake = mine.blind_until < 0
        np.testing.assert_array_equal(mine.reference[awake], theirs.reference[awake])
        n_total += n
    assert n_total > 500


def test_counting_sort_is_stable():
    rng = np.random.default_rng(1)
    t = rng.integers(0, 50, 2000).astype(np.int32)
    order = np.empty(t.size, np.int64)
    stable_order(t, 50, order)
    np.testing.assert_array_equal(order, np.argsort(t, kind="stable"))


@pytest.mark.parametrize("name", ["two objects", "turning objects", "vortex"])
def test_log_intensity_and_front_layer_are_those_of_the_oracle(name):
    _, view, slab, _ = next(slabs_of(CASES[name]))
    index = np.arange(len(view.base))
    out, front = np.empty(index.size), np.empty(index.size, np.uint8)
    step = np.full(index.size, 1)
    kernel.log_intensity_at(index, step, view.base, slab.motions, view.scene, out)
    kernel.front_layers(view.base, slab.motions, view.scene, front)
    expected, _ = oracle.sample_scene(slab.motions, 1, view.base, view.scene)
    np.testing.assert_array_equal(out, expected)
    _, expected_front = oracle.sample_scene(slab.motions, 0, view.base, view.scene)
    np.testing.assert_array_equal(front, expected_front)
