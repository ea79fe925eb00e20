"""The compiled support of events against its plain twin."""

import numpy as np
import pytest
from scipy.interpolate import interpn
from tests.oracles.auto import event_evidence as oracle

from evcrisp.kernels.auto import event_evidence as weighing
from evcrisp.kernels.auto import exposure as exposing
from evcrisp.kernels.auto import self_support as linking
from evcrisp.kernels.auto import self_support as sharing
from evcrisp.kernels.auto import support as fast
from evcrisp.kernels.contrast import spline
from evcrisp.kernels.search import array_ops as converting
from evcrisp.kernels.search.array_ops import stable_order

WIDTH, HEIGHT = 23, 17
PADDING = 9
SHAPE = (HEIGHT + 2 * PADDING, WIDTH + 2 * PADDING)

#: What is left of a sum of a few hundred products in single precision.
SINGLE = {"rtol": 2e-5, "atol": 2e-6}
DOUBLE = {"rtol": 1e-9, "atol": 1e-12}
PRECISIONS = {np.float32: SINGLE, np.float64: DOUBLE}


def columns(n, seed):
    """Return x, y, t, p of points on few pixels, so that many share one; sorted by time."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, WIDTH, n).astype(np.uint16),
        rng.integers(0, HEIGHT, n).astype(np.uint16),
        np.sort(rng.uniform(-0.5, 0.5, n)),
        rng.integers(0, 2, n).astype(np.uint8),
    )


def moved(points, vx=9.3, vy=-4.1):
    """Return aligned positions for a motion of that many px within the window."""
    return points[0] - vx * points[2], points[1] - vy * points[2]


def source_of(points):
    x, y, _, p = points
    return ((p.astype(int) * HEIGHT + y) * WIDTH + x).astype(np.int32)


def linked(x, y, p):
    """Return the links of events."""
    n = x.size
    rows = [np.full(n + 1, -7, np.int32) for _ in range(3)]
    links = linking.Links(*rows, np.empty(2 * HEIGHT * WIDTH, np.int32))
    linking.link_events(x, y, p, HEIGHT, WIDTH, links)
    return links


def placed(x, y, t, p, dtype, padding=PADDING):
    """Return points at aligned positions on a map with a border."""
    n = len(x)
    cell, a, b = np.empty(n, np.int32), np.empty(n, dtype), np.empty(n, dtype)
    points = fast.MapPoints(
        np.array(x, dtype), np.array(y, dtype), a, b, cell, t.astype(dtype), np.asarray(p, np.uint8)
    )
    fast.place_points(padding, np.array([HEIGHT, WIDTH]) + 2 * padding, points)
    return points


def with_place_for_none(t):
    return np.append(t, 99.0)


def random_paths(seed, width=WIDTH, height=HEIGHT):
    """Return smooth paths over the map of a sensor: a shift, a growth and a turn."""
    rng = np.random.default_rng(seed)
    rows, columns = height + 2 * PADDING, width + 2 * PADDING
    y, x = np.mgrid[0 : rows + 8 : 8, 0 : columns + 8 : 8] - PADDING - 10.0
    moved = np.empty((5, *x.shape))
    for first, most in ((0, 0.1), (2, 0.008)):
        vx, vy, turn, growth = rng.uniform(-1.0, 1.0, 4) * (6.0, 6.0, most, most)
        moved[first] = vx + growth * x - turn * y
        moved[first + 1] = vy + growth * y + turn * x
    sides = np.array([-0.5, -0.5, width - 0.5, height - 0.5]) + PADDING
    paths = exposing.Paths(moved, 0.125, 2.0, sides, np.empty(4))
    partly = np.empty(x.shape, bool)
    exposing.fill_node_areas(paths, 8, partly)
    exposing.fully_exposed_rectangle(partly, 8, paths.whole)
    return paths


class Case:
    """Events and samples, their links, positions and maps, in one precision."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.events, self.samples = columns(1500, 1), columns(400, 2)
        self.links = linked(self.events[0], self.events[1], self.events[3])
        self.points = placed(
            *moved(self.events), with_place_for_none(self.events[2]), self.events[3], dtype
        )
        self.probe_marks = placed(*moved(self.samples), self.samples[2], self.samples[3], dtype)
        self.before, self.after = np.empty((2, 400), np.int32)
        linking.link_samples(
            source_of(self.samples), self.probe_marks.t, self.points.t, self.links, self.before,
            self.after,
        )  # fmt: skip
        self.images = self.voted(np.ones(1500, bool))
        self.paths = random_paths(3)

    def voted(self, keep):
        cell = np.empty(keep.size, np.int32)
        fast.cells_of_supporting(self.points.cell, keep, cell)
        images = np.empty((2, *SHAPE), self.dtype)
        spline.accumulate(cell, self.points.a, self.points.b, images.reshape(-1, SHAPE[1]))
        return images


@pytest.fixture(scope="module", params=PRECISIONS, ids=["single", "double"])
def case(request):
    return Case(request.param)


def own_of(x, y, t, dtype=np.float64, padding=PADDING):
    """Return what the events of one pixel put at each other's positions."""
    n = len(t)
    pixel = np.full(n, 3, np.uint16)
    links = linked(pixel, pixel, np.ones(n, np.uint8))
    own = np.empty(n, dtype)
    sharing.self_support_of_events(placed(x, y, t, np.ones(n), dtype, padding), links, own)
    return own


def test_events_are_linked_to_those_of_their_source(case):
    source = source_of(case.events)
    n = source.size
    before, after, rank = np.full(n, n), np.full(n, n), np.empty(n, int)
    for k in range(n):
        same = np.flatnonzero(source == source[k])
        place = int(np.searchsorted(same, k))
        rank[k] = place + 1
        before[k] = same[place - 1] if place else n
        after[k] = same[place + 1] if place + 1 < same.size else n
    np.testing.assert_array_equal(case.links.before, [*before, n])
    np.testing.assert_array_equal(case.links.after, [*after, n])
    np.testing.assert_array_equal(case.links.rank, [*rank, 0])
    last = np.full(2 * HEIGHT * WIDTH, n)
    last[source] = np.arange(n)  # the last one stays
    np.testing.assert_array_equal(case.links.last, last)


def test_samples_are_linked_between_the_events_of_their_source(case):
    source, n = source_of(case.events), case.events[2].size
    for k, mine in enumerate(source_of(case.samples)):
        same = np.flatnonzero(source == mine)
        place = int(np.searchsorted(case.points.t[same], case.probe_marks.t[k], side="right"))
        assert case.before[k] == (same[place - 1] if place else n)
        assert case.after[k] == (same[place] if place < same.size else n)


def test_excluded_events_are_not_on_the_map(case):
    keep = np.arange(case.points.cell.size) % 7 > 0
    images = case.voted(keep)
    x, y = moved(case.events)
    for q in (0, 1):
        chosen = keep & (case.events[3] == q)
        across = oracle.spline(np.arange(images.shape[2])[:, None] - PADDING - x[chosen])
        down = oracle.spline(np.arange(images.shape[1])[:, None] - PADDING - y[chosen])
        np.testing.assert_allclose(images[q], down @ across.T, **PRECISIONS[case.dtype])


def exposures(paths, x, y):
    """Return the share of many moments in which positions, px of the map, are on the sensor."""
    t = (np.arange(2000)[:, None] + 0.5) / 2000 - 0.5
    axes = tuple(8.0 * np.arange(n) for n in paths.moved.shape[1:])
    along_x, along_y, to_x, to_y, area = (interpn(axes, field, (y, x)) for field in paths.moved)
    seen = np.ones((t.size, x.size), bool)
    for place, along, to, side in ((x, along_x, to_x, WIDTH), (y, along_y, to_y, HEIGHT)):
        at = place - PADDING + to + np.where(np.abs(along) > paths.soft_px, along, 2.0) * t
        seen &= (at >= -0.5) & (at <= side - 0.5)
    return seen.mean(axis=0) * area


def expected_support(case, points):
    positions = moved(points)
    support = oracle.support(points, positions, case.events, moved(case.events))
    x, y = positions[0] + PADDING, positions[1] + PADDING
    at = [exposing.exposure_at(case.paths, *place) for place in zip(x, y, strict=True)]
    return oracle.divide_by_exposure(support, np.array(at))


def test_support_of_events_comes_from_other_pixels(case):
    support, own = np.empty((2, case.points.cell.size), case.dtype)
    fast.read_maps(case.images, case.points, support)
    sharing.self_support_of_events(case.points, case.links, own)
    fast.subtract_self_support(support, own, case.points)
    exposing.divide_by_paths(support, case.points, case.paths)
    tolerance = {"rtol": 2e-4, "atol": 2e-4} if case.dtype is np.float32 else DOUBLE
    np.testing.assert_allclose(support, expected_support(case, case.events), **tolerance)


def test_support_of_samples_comes_from_other_pixels(case):
    support, own = np.empty((2, case.before.size), case.dtype)
    fast.read_maps(case.images, case.probe_marks, support)
    sharing.self_support_of_samples(
        case.probe_marks, case.before, case.after, case.points, case.links, own
    )
    fast.subtract_self_support(support, own, case.probe_marks)
    exposing.divide_by_paths(support, case.probe_marks, case.paths)
    tolerance = {"rtol": 2e-4, "atol": 2e-4} if case.dtype is np.float32 else DOUBLE
    np.testing.assert_allclose(support, expected_support(case, case.samples), **tolerance)


@pytest.mark.parametrize(
    ("speed", "dtype"),
    [*((speed, dtype) for speed in (0.0, 3.3, 40.0) for dtype in PRECISIONS), (2000.0, np.float64)],
)
@pytest.mark.parametrize("n", [sharing.LONG_BURST, sharing.LONG_BURST + 1, 300])
def test_bursts_of_any_length_do_not_support_themselves(n, speed, dtype):
    t = np.sort(np.random.default_rng(n).uniform(-0.5, 0.5, n))
    x, y = 7.0 - speed * t, 4.0 + 0.4 * speed * t
    given = np.array([oracle.self_support(x[k], y[k], x, y) for k in range(n)])
    # Shares below the limit are left out, unless a map is made of a long burst.
    fits = n > sharing.LONG_BURST and speed < 100.0
    kept = given if fits else given * (given >= sharing.LEAST_SHARE)
    own = own_of(x, y, t, dtype, PADDING + round(speed))
    np.testing.assert_allclose(own, kept.sum(axis=1), **PRECISIONS[dtype])


def test_bursts_too_long_for_a_map_are_compared_with_the_nearest_in_time():
    n = 2000
    t = np.linspace(-0.5, 0.5, n)
    x, y = 300.0 * t, 300.0 * t
    own = own_of(x, y, t, padding=400)
    middle = np.arange(n // 2 - sharing.LONG_BURST, n // 2 + sharing.LONG_BURST + 1)
    given = oracle.self_support(x[n // 2], y[n // 2], x[middle], y[middle])
    np.testing.assert_allclose(own[n // 2], given[given >= sharing.LEAST_SHARE].sum(), rtol=1e-9)


@pytest.mark.parametrize("n", [3, sharing.LONG_BURST + 5])
def test_points_off_the_map_get_a_far_finite_position(n):
    x = np.full(n, 7.0)
    x[1] = np.nan
    own = own_of(x, np.full(n, 4.0), np.zeros(n))
    assert np.isfinite(own).all()
    # None of the others is at its place, wherever that is.
    assert own[1] == own_of([7.0], [4.0], np.zeros(1))[0]


def test_points_off_the_map_have_cell_minus_one(case):
    x = np.array([-PADDING - 1.0, 1e9, np.nan, np.inf, 3.0])
    points = placed(x, np.full(5, 4.0), np.zeros(5), np.zeros(5), case.dtype)
    support = np.empty(5, case.dtype)
    fast.read_maps(case.images, points, support)
    fast.subtract_self_support(support, np.zeros(5, case.dtype), points)
    exposing.divide_by_paths(support, points, case.paths)
    exposing.divide_by_sweep(support, points, sweep_of(9.3, -4.1))
    assert (support[:4] == -1.0).all()
    assert support[4] >= 0.0


def test_readiness_equals_oracle_forward_and_backward(case):
    rng = np.random.default_rng(4)
    n, n_samples = case.points.cell.size, case.before.size
    support = rng.exponential(2.0, n).astype(case.dtype)
    sample_support = rng.exponential(2.0, n_samples).astype(case.dtype)
    rates = np.array([0.3, 0.6], case.dtype)
    excess, chance = np.empty(n + 1, case.dtype), np.empty((2, n + 1), case.dtype)
    ready, sample_ready = np.empty(n, case.dtype), np.empty(n_samples, case.dtype)
    weighing.forward_backward_readiness(
        case.points.t, case.points.p, case.links, support, rates, excess, chance, ready
    )
    weighing.readiness_of_samples(
        case.probe_marks, case.before, case.after, sample_support, case.points.t, rates, excess,
        chance, sample_ready,
    )  # fmt: skip
    tolerance = SINGLE if case.dtype is np.float32 else {"rtol": 1e-12}
    expected_excess = np.maximum(support - rates[case.events[3]], 0.0)
    probe_excess = np.maximum(sample_support - rates[case.samples[3]], 0.0)
    np.testing.assert_allclose(excess[:n], expected_excess, **tolerance)
    expected, probe_expected = np.ones(n), np.ones(n_samples)
    for way, direction in enumerate((-1, 1)):
        factor, expected_chance = oracle.forward_backward_readiness(
            case.events, expected_excess, rates, direction
        )
        np.testing.assert_allclose(chance[way, :n], expected_chance, **tolerance)
        expected *= factor
        probe_expected *= [
            oracle.readiness_of_samples(
                case.samples,
                k,
                probe_excess,
                case.events,
                expected_excess,
                expected_chance,
                direction,
            )
            for k in range(n_samples)
        ]
    np.testing.assert_allclose(ready, expected, **tolerance)
    np.testing.assert_allclose(sample_ready, probe_expected, **tolerance)


def test_evidence_is_support_above_background_times_readiness():
    support, ready = np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.5, 0.5])
    weighing.evidence_from_support(
        support, np.array([0, 0, 1], np.uint8), np.array([0.5, 1.0]), ready
    )
    np.testing.assert_allclose(support, [-0.5, 0.25, 0.5])


def test_quiet_events_are_counted_by_polarity():
    counts = np.full(2, 99, np.int64)
    p = np.array([0, 0, 1, 1], np.uint8)
    weighing.count_quiet(np.array([0.0, 2.0, 1.0, 3.0]), p, np.array([2.0, 2.0]), counts)
    assert counts.tolist() == [2, 1]


def test_score_confidence_and_label_of_evidence():
    score, confidence, signal = np.empty(4), np.empty(4), np.empty(4, bool)
    weighing.score_and_label(np.array([2.0, 0.5, -1.0, 4.0]), 2.0, score, confidence, signal)
    np.testing.assert_allclose(score, [1.0, 0.25, -0.5, 2.0])
    np.testing.assert_allclose(confidence, [0.5, 0.0, 0.0, 0.875])
    assert signal.tolist() == [False, False, False, True]


def test_weighted_maps_and_sums_equal_oracle(case):
    rng = np.random.default_rng(7)
    confidence, keep = np.maximum(rng.uniform(-0.5, 1.0, 1500), 0.0), rng.random(1500) < 0.8
    images, kept_map = case.voted(keep), np.empty(SHAPE, case.dtype)
    points = case.points
    weighing.accumulate_confidence(points.cell, points.a, points.b, confidence, keep, kept_map)
    w_map, sums = np.empty(SHAPE), np.empty(6)
    weighing.weight_maps(images, kept_map, w_map, sums)
    w, kept, total = oracle.weight_maps(points, confidence, keep, SHAPE)
    tolerance = 1e-4 if case.dtype is np.float32 else 1e-12
    # Where there is almost nothing, rounding decides the ratio.
    np.testing.assert_allclose(w_map[total > 1e-3], w[total > 1e-3], atol=tolerance)
    expected = [total, total**2, kept, kept**2, w, (kept - total) ** 2]
    np.testing.assert_allclose(
        sums, [image.sum() for image in expected], rtol=PRECISIONS[case.dtype]["rtol"]
    )


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_unaligned_map_sums_equal_a_map_built_from_events(dtype):
    x, y, _, _ = columns(1500, 1)
    counts, sums = np.zeros((HEIGHT, WIDTH), dtype), np.full(2, np.nan)
    np.add.at(counts, (y, x), 1.0)
    weighing.unaligned_map_sums(counts, sums)
    across = oracle.spline(np.arange(-1, WIDTH + 1)[:, None] - x.astype(float))
    down = oracle.spline(np.arange(-1, HEIGHT + 1)[:, None] - y.astype(float))
    image = down @ across.T
    np.testing.assert_allclose(
        sums, [image.sum(), (image**2).sum()], rtol=1e-6 if dtype is np.float32 else 1e-12
    )


def sweep_of(vx, vy):
    """Return the view that a motion of that many px within the window sweeps over the map."""
    low = PADDING - 0.5
    return exposing.Sweep(low, low, WIDTH + low, HEIGHT + low, -1.0 / vx, -1.0 / vy)


@pytest.mark.parametrize(("vx", "vy"), [(9.3, -4.1), (-0.3, 0.2), (30.0, 16.0), (-2.0, 40.0)])
def test_sweep_exposure_lasts_from_entering_to_leaving_the_view(case, vx, vy):
    rng = np.random.default_rng(6)
    x, y = rng.uniform(-PADDING, WIDTH + PADDING, 200), rng.uniform(-PADDING, HEIGHT + PADDING, 200)
    points = placed(x, y, np.zeros(200), np.zeros(200), case.dtype)
    value = np.where(points.cell >= 0, rng.exponential(2.0, 200), -1.0).astype(case.dtype)
    expected = value.copy()
    exposing.divide_by_sweep(value, points, sweep_of(vx, vy))
    t = (np.arange(20_000)[:, None] + 0.5) / 20_000 - 0.5
    at_x, at_y = x + vx * t, y + vy * t
    seen = (at_x >= -0.5) & (at_x <= WIDTH - 0.5) & (at_y >= -0.5) & (at_y <= HEIGHT - 0.5)
    share = np.maximum(seen.mean(axis=0), exposing.LEAST_EXPOSURE)
    np.testing.assert_allclose(value, np.where(expected > 0.0, expected / share, -1.0), rtol=2e-3)


def test_path_exposure_is_interpolated_between_nodes(case):
    rng = np.random.default_rng(6)
    x, y = rng.uniform(0.0, SHAPE[1] - 1.0, 60), rng.uniform(0.0, SHAPE[0] - 1.0, 60)
    expected = exposures(case.paths, x, y)
    found = [exposing.exposure_at(case.paths, *place) for place in zip(x, y, strict=True)]
    np.testing.assert_allclose(found, np.maximum(expected, 0.1), atol=2e-3)


def test_node_area_is_the_growth_of_the_map():
    paths = random_paths(4)
    x, y = paths.moved[2], paths.moved[3]
    growth = (x[1, 2] - x[1, 1]) / 8.0
    turn = (y[1, 2] - y[1, 1]) / 8.0
    np.testing.assert_allclose(paths.moved[4], (1.0 + growth) ** 2 + turn**2)


@pytest.mark.parametrize("seed", range(5))
def test_fully_exposed_rectangle_has_only_exposed_nodes(seed):
    paths = random_paths(seed, 90, 70)
    left, top, right, bottom = paths.whole
    assert right > left
    assert bottom > top
    for y in np.arange(top, bottom + 0.1, 2.0):
        for x in np.arange(left, right + 0.1, 2.0):
            assert abs(exposing.exposure_at(paths, x, y) - 1.0) <= 0.02


def test_rectangle_is_empty_if_no_node_is_fully_exposed():
    whole = np.empty(4)
    exposing.fully_exposed_rectangle(np.ones((6, 5), bool), 4, whole)
    assert whole[2] < whole[0] or whole[3] < whole[1]


def test_event_columns_are_converted_to_floats():
    x, y = np.array([0, 65535], np.uint16), np.array([7, 1], np.uint16)
    t = np.array([10**15 + 1, 10**15 + 3], np.int64)
    out = np.empty((3, 2))
    converting.to_floats(x, y, t, 10**15 + 2, *out)
    np.testing.assert_array_equal(out, [[0.0, 65535.0], [7.0, 1.0], [-1e-6, 1e-6]])
    windows = np.empty(2, np.float32)
    converting.in_windows(out[2], 4e-6, windows)
    np.testing.assert_allclose(windows, [-0.25, 0.25], rtol=1e-6)


@pytest.mark.parametrize("wrong", [None, np.nan, np.inf, -np.inf])
def test_limits_ignore_nan(wrong):
    values = np.random.default_rng(7).normal(size=36)
    expected = values.min(), values.max()
    if wrong is not None:
        values[5] = wrong
        expected = np.nan, np.nan
    np.testing.assert_array_equal(converting.limits_of(values), expected)


@pytest.mark.parametrize("n", [0, 1, 5000])
def test_events_are_ordered_by_row_and_then_by_time(n):
    y = np.random.default_rng(2).integers(0, 60, n).astype(np.uint16)
    order = np.empty(n, np.int32)
    stable_order(y, 60, order)
    np.testing.assert_array_equal(order, np.argsort(y, kind="stable"))
