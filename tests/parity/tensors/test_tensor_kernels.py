"""Operations on tensors give the numbers of the compiled kernels."""

import numpy as np
import pytest

from evcrisp.core.camera import Camera
from evcrisp.kernels.contrast import spline as compiled
from evcrisp.kernels.search.array_ops import rank_by_place
from evcrisp.motion import Rotation, prepare
from evcrisp.motion.registry import MOTION_MODELS
from evcrisp.optimize.bfgs import Bfgs
from evcrisp.search.on_device.model_operations import MODELS, ModelOperations
from evcrisp.tensors import spline
from evcrisp.tensors.ascent import ascend, statuses
from evcrisp.tensors.hashing import ranks
from evcrisp.tensors.lazy import torch
from evcrisp.tensors.maps import MapLayout
from evcrisp.tensors.rows import Rows, row_keys, sorted_rows
from evcrisp.tensors.scatter import Scatter

SIZES = ((23, 17), (31, 12))  # of two maps, (width, height)
COUNTS = (200, 130)
RESOLUTION = (40, 30)
DISTORTED = Camera(fx=45.0, fy=44.0, cx=20.0, cy=15.5, distortion=(-0.3, 0.1, 0.002, -0.001, 0.01))
FISHEYE = Camera(
    fx=35.0, fy=36.0, cx=19.0, cy=14.0, distortion=(0.03, -0.01, 0.004, 0.001), lens="equidistant"
)
CAMERAS = {"ideal": None, "distorted": DISTORTED, "fisheye": FISHEYE}

#: Models with a lens; only a rotation has another one than an ideal one.
WARPS = [*((name, "ideal") for name in MODELS), ("rotation", "distorted"), ("rotation", "fisheye")]


def tensor(values):
    return torch.from_numpy(np.ascontiguousarray(values))


def points_on_maps(seed=0):
    """Return positions on the two maps, some of them outside or no numbers."""
    rng = np.random.default_rng(seed)
    x, y = (
        np.concatenate(
            [rng.uniform(-4, size[axis] + 4, n) for size, n in zip(SIZES, COUNTS, strict=True)]
        )
        for axis in (0, 1)
    )
    x[5], y[9] = np.nan, np.inf
    return x, y


def located(x, y, dtype):
    rows = Rows.of_lengths(COUNTS, "cpu")
    width, height = tensor(np.array(SIZES)).unbind(1)
    layout = MapLayout.of(width, height)
    sides = (rows.spread(side) for side in (layout.width, layout.height, layout.starts))
    return rows, layout, spline.locate(tensor(x), tensor(y), *sides, dtype)


@pytest.mark.parametrize("deterministic", [False, True])
def test_votes_and_slopes_equal_the_compiled_ones(deterministic):
    x, y = points_on_maps()
    _, layout, places = located(x, y, torch.float64)
    image = spline.accumulate(places, layout.size, Scatter(deterministic))
    slopes = spline.slopes(image, places)
    sampled = torch.where(places.inside, spline.sample(image, places), 0.0)
    first, pixel = 0, 0
    for (width, height), n in zip(SIZES, COUNTS, strict=True):
        part = slice(first, first + n)
        cell, a, b = np.empty(n, np.int64), np.empty(n), np.empty(n)
        expected, along = np.empty((height, width)), np.empty((2, n))
        compiled.locate_and_accumulate(x[part], y[part], 1.0, 0.0, 0.0, cell, a, b, expected)
        found = image[pixel : pixel + width * height].reshape(height, width).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        compiled.slopes(cell, a, b, expected, *along)
        for one, other in zip(slopes, along, strict=True):
            np.testing.assert_allclose(one[part].numpy(), other, rtol=1e-9, atol=1e-10)
        values = [
            compiled.sample_at(expected.reshape(-1), np.uint64(c), np.uint64(width), *offsets) if c >= 0 else 0.0
            for c, *offsets in zip(cell, a, b, strict=True)
        ]  # fmt: skip
        np.testing.assert_allclose(sampled[part].numpy(), values, rtol=1e-9, atol=1e-10)
        first, pixel = first + n, pixel + width * height
    assert int(places.inside.sum()) < sum(COUNTS)


def test_votes_in_fixed_point_do_not_depend_on_the_order_of_events():
    x, y = points_on_maps(1)
    images = []
    for order in (np.arange(x.size), np.random.default_rng(2).permutation(x.size)):
        _, layout, places = located(x, y, torch.float32)
        places = spline.Places(*(column[tensor(order)] for column in places))
        images.append(spline.accumulate(places, layout.size, Scatter(deterministic=True)))
    assert torch.equal(*images)


def test_sums_in_fixed_point_do_not_depend_on_the_order():
    rng = np.random.default_rng(3)
    values, index = tensor(rng.normal(0, 1e5, 5000)), tensor(rng.integers(0, 7, 5000))
    order = tensor(rng.permutation(5000))
    scatter = Scatter(deterministic=True)
    first = scatter.sums(index, values, 7)
    assert torch.equal(first, scatter.sums(index[order], values[order], 7))
    torch.testing.assert_close(first, Scatter().sums(index, values, 7), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(("name", "camera"), WARPS)
@pytest.mark.parametrize("strength", [0.3, 40.0])
def test_warps_and_their_adjoints_equal_the_compiled_ones(name, camera, strength):
    rng, models, thetas, columns = np.random.default_rng(4), [], [], []
    kind = MOTION_MODELS[name]
    model = Rotation(CAMERAS[camera]) if CAMERAS[camera] else kind.for_sensor(RESOLUTION)
    m = len(model.param_names)
    for left, n in zip((0, 3), COUNTS, strict=True):
        models.append(model.on_region(left, 2 * left))
        scale = 20.0 if name in ("translation", "similarity", "rigid", "affine") else 1.0
        thetas.append(rng.normal(0, strength, m) * ([scale] * 2 + [1.0] * 6)[:m])
        x, y = (
            rng.integers(0, RESOLUTION[0] - 4, n) * 1.0,
            rng.integers(0, RESOLUTION[1] - 7, n) * 1.0,
        )
        columns.append((x, y, np.sort(rng.uniform(-0.03, 0.03, n)), *rng.normal(0, 1, (2, n))))
    warps = [prepare(mo, *c[:3]) for mo, c in zip(models, columns, strict=True)]
    operations = ModelOperations.of(models, "cpu")
    rows, theta = Rows.of_lengths(COUNTS, "cpu"), tensor(np.array(thetas))
    x, y, dt = (
        tensor(np.concatenate([getattr(w, column) for w in warps])) for column in ("x", "y", "dt")
    )
    gx, gy = (tensor(np.concatenate([c[k] for c in columns])) for k in (3, 4))
    found = [part.numpy() for part in operations.warp(theta, x, y, dt, rows)]
    pulled = operations.pull_back(theta, x, y, dt, rows, gx, gy).numpy()
    ends = np.cumsum((0, *COUNTS))
    for k, (warp, one) in enumerate(zip(warps, thetas, strict=True)):
        part = slice(ends[k], ends[k + 1])
        for mine, expected in zip(found, warp.warp(one), strict=True):
            np.testing.assert_allclose(mine[part], expected, rtol=1e-10, atol=1e-9)
        expected = warp.pull_back(one, *(c.copy() for c in columns[k][3:]))
        np.testing.assert_allclose(pulled[k], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("name", "camera"), WARPS)
def test_inverse_warps_equal_those_of_the_models(name, camera):
    model = (
        Rotation(CAMERAS[camera]) if CAMERAS[camera] else MOTION_MODELS[name].for_sensor(RESOLUTION)
    )
    rng = np.random.default_rng(5)
    theta = rng.normal(0, 2.0, len(model.param_names))
    x, y = rng.uniform(0, RESOLUTION[0], 50), rng.uniform(0, RESOLUTION[1], 50)
    dt = rng.uniform(-0.05, 0.05, 50)
    operations = ModelOperations.of([model], "cpu")
    rows = Rows.of_lengths([50], "cpu")
    found = operations.inverse(tensor(theta[None]), tensor(x), tensor(y), tensor(dt), rows)
    for mine, expected in zip(found, model.inverse(theta, x, y, dt), strict=True):
        np.testing.assert_allclose(mine.numpy(), expected, rtol=1e-9, atol=1e-8)


def test_numbers_by_place_equal_the_compiled_ones():
    rng = np.random.default_rng(6)
    n = 500
    x, y = rng.integers(0, 1280, n) * 1.0, rng.integers(0, 720, n) * 1.0
    dt = rng.integers(-50_000, 50_000, n) / 1e6
    center, unit = np.array([611.5, 300.0, 1.5e-6]), np.array([2.0, 2.0, 2e6])
    expected = np.empty(n, np.uint32)
    rank_by_place(x, y, dt, center, unit, 0xDEADBEEF, expected)
    middle = tuple(tensor(np.full(n, value)) for value in center)
    salt = tensor(np.full(n, 0xDEADBEEF))
    found = ranks(tensor(x), tensor(y), tensor(dt), middle, tuple(unit.tolist()), salt)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_keys_order_by_row_and_then_by_value():
    rng = np.random.default_rng(7)
    values = rng.normal(0, 1, 400).astype(np.float32)
    values[:4] = 0.0, -0.0, np.inf, -np.inf
    row = rng.integers(0, 5, 400)
    order, _ = sorted_rows(tensor(values), tensor(row))
    expected = np.lexsort((np.arange(400), values + 0.0, row))
    np.testing.assert_array_equal(order.numpy(), expected)
    zeros = row_keys(tensor(values[:2]), tensor(np.zeros(2, np.int64)))
    assert zeros[0] == zeros[1]


class Bowls:
    """Functions with one maximum and curved contours, some flat or no number."""

    def __init__(self, kinds):
        self.kinds = kinds

    def taken(self, chosen):
        return Bowls([self.kinds[k] for k in chosen.tolist()])

    def __call__(self, theta):
        found = [one_bowl(kind, row) for kind, row in zip(self.kinds, theta.numpy(), strict=True)]
        values, gradients = zip(*found, strict=True)
        return tensor(np.array(values)), tensor(np.array(gradients))


def one_bowl(kind, theta):
    """Return value and gradient of a function by its number."""
    if kind == "flat":
        return 3.0, np.zeros(2)
    if kind == "lost":
        return np.nan, np.zeros(2)
    middle, steep = np.array([kind, -0.5 * kind]), np.array([1.0 + kind, 0.3])
    d = theta - middle
    height = np.exp(-0.5 * float(steep @ (d * d))) + 0.02 * np.cos(3.0 * d[0])
    gradient = -steep * d * (height - 0.02 * np.cos(3.0 * d[0]))
    gradient[0] -= 0.06 * np.sin(3.0 * d[0])
    return height, gradient


def test_ascents_side_by_side_take_the_steps_of_each_alone():
    kinds = [0.3, "flat", 1.1, 2.2, "lost", 0.7, 4.0]
    start = np.random.default_rng(8).normal(0, 0.5, (len(kinds), 2))
    inverse, tol, longest = np.diag([0.5, 2.0]), 1e-4, 1.5
    n = len(kinds)
    found = ascend(
        Bowls(kinds), tensor(start), lambda: tensor(np.array([inverse] * n)),
        tol_step=tensor(np.full(n, tol)), max_step=tensor(np.full(n, longest)),
    )  # fmt: skip
    solver = Bfgs(max_iter=20, tol=1e-9, tol_step=tol, max_step=longest)
    states = statuses(found.status)
    for k, kind in enumerate(kinds):
        expected = solver.ascend(lambda theta, kind=kind: one_bowl(kind, theta), start[k], inverse)
        assert states[k] is expected.status, kind
        assert int(found.n_eval[k]) == expected.n_eval, kind
        np.testing.assert_allclose(found.theta[k].numpy(), expected.theta, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            found.inverse_hessian[k].numpy(), expected.inverse_hessian, rtol=1e-9, atol=1e-12
        )


def test_rows_of_different_length_are_reduced_one_by_one():
    lengths = (3, 0, 4)
    rows = Rows.of_lengths(lengths, "cpu")
    values = tensor(np.array([1.0, 5.0, 2.0, 7.0, -1.0, 4.0, 0.5]))
    assert rows.sum(values).tolist() == [8.0, 0.0, 10.5]
    assert rows.max(values).tolist() == [5.0, -np.inf, 7.0]
    assert rows.min(values).tolist() == [1.0, np.inf, -1.0]
    assert rows.position().tolist() == [0, 1, 2, 0, 1, 2, 3]
    kept, index = rows.kept(values > 1.0)
    assert (kept.counts.tolist(), index.tolist()) == ([2, 0, 2], [1, 2, 3, 5])
    taken, index = rows.taken(tensor(np.array([2, 0])))
    assert (taken.counts.tolist(), index.tolist()) == ([4, 3], [3, 4, 5, 6, 0, 1, 2])
