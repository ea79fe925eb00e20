"""Kernels of the simulator against their oracles, bit by bit."""

import numpy as np
import pytest
from tests.oracles.simulation import sensor as oracle

from evcrisp.kernels.search.array_ops import stable_order
from evcrisp.kernels.simulation import sensor as kernel
from evcrisp.simulation import generate
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
    "swinging": {"trajectory": "sine", "period_us": 40_000, "texture": "stripes"},
}


def slabs_of(settings):
    from evcrisp.simulation import ObjectConfig

    settings = dict(settings)
    if "objects" in settings:
        settings["objects"] = tuple(ObjectConfig(**item) for item in settings["objects"])
    config = build_config(None, {"resolution": (57, 43), "duration_us": 60_000, **settings})
    model, paths = generate.build_paths(config)
    view = sensor_slabs.build_view(config.scene, config.resolution, model, config.seed)
    last = None
    for number, (t_start, t_end) in enumerate(sensor_slabs._slab_times(config, paths)):
        times = sensor_slabs._step_times(config, paths, t_start, t_end)
        matrices = sensor_slabs.texture_matrices(paths, times)
        if last is not None:
            matrices[0] = last
        last = matrices[-1]
        yield config, view, sensor_slabs.Slab(number, t_start, t_end, matrices), times


@pytest.mark.parametrize("name", CASES)
def test_kernel_gives_the_events_of_the_oracle(name):
    mine = theirs = None
    n_total = 0
    for config, view, slab, times in slabs_of(CASES[name]):
        if mine is None:
            mine = sensor_slabs._initial_pixels(config, view, slab.matrices)
            theirs = kernel.Pixels(*(column.copy() for column in mine))
        refractory = float(config.sensor.refractory_us)
        buffer, n = sensor_slabs._emit(
            view, slab, times, mine, refractory, sensor_slabs._empty_buffer(100)
        )
        order = np.empty(n, np.int64)
        stable_order(buffer.t[:n], slab.t_end - slab.t_start, order)
        t, pixel, kind = oracle.emit_signal(
            view.base, slab.matrices, times, view.scene, theirs, refractory
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


def test_log_intensity_of_single_pixels_is_that_of_all():
    _, view, slab, _ = next(slabs_of(CASES["two objects"]))
    index = np.arange(len(view.base))
    out = np.empty(index.size)
    step = np.full(index.size, 1)
    kernel.log_intensity_at(index, step, view.base, slab.matrices, view.scene, out)
    expected, _ = oracle.sample_scene(slab.matrices[1], view.base, view.scene)
    np.testing.assert_array_equal(out, expected)
