"""The compiled support of events against its plain twin."""

import numpy as np
import pytest

from evcrisp.kernels import evidence as weighing
from evcrisp.kernels import reference_support as reference
from evcrisp.kernels import spline
from evcrisp.kernels import support as fast

WIDTH, HEIGHT = 23, 17
HALF = WIDTH * HEIGHT
PADDING = 9


def columns(n, seed):
    """Return x, y, t, p of marks on few pixels, so that many share one; sorted by time."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, WIDTH, n).astype(np.uint16),
        rng.integers(0, HEIGHT, n).astype(np.uint16),
        np.sort(rng.uniform(-0.5, 0.5, n)),
        rng.integers(0, 2, n).astype(np.uint8),
    )


def moved(marks, vx=9.3, vy=-4.1):
    """Return aligned places for a motion of that many px within the window."""
    return marks[0] - vx * marks[2], marks[1] - vy * marks[2]


def sorted_marks(marks):
    """Return marks and their order."""
    x, y, t, p = marks
    order, source = np.empty((2, t.size), np.int32)
    fast.sort_by_source(x, y, p, HEIGHT, WIDTH, np.empty(t.size, np.int64), order, source)
    aligned_x, aligned_y = moved(marks)
    return fast.Marks(aligned_x[order], aligned_y[order], t[order], source, HALF), order


class Case:
    """Events and probes in the order of time and in that of the kernels, and maps."""

    def __init__(self):
        self.events, self.probes = columns(1500, 1), columns(400, 2)
        self.marks, self.order = sorted_marks(self.events)
        self.probe_marks, self.probe_order = sorted_marks(self.probes)
        self.place = np.empty(400, np.int32)
        probes, events = self.probe_marks, self.marks
        fast.find_probes(probes.source, probes.t, events.source, events.t, self.place)
        images = self.voted(np.ones(1500, bool))
        tiles = images.shape[1] // 4 + 2, images.shape[2] // 4 + 2
        exposure = np.random.default_rng(3).uniform(0.0, 1.5, tiles)
        self.maps = fast.Maps(images, exposure, float(PADDING), 0.25)

    def voted(self, keep):
        height, width = HEIGHT + 2 * PADDING, WIDTH + 2 * PADDING
        n = keep.size
        cell, a, b = np.empty(n, np.int32), np.empty(n), np.empty(n)
        shape = np.array([height, width])
        spline.locate(*moved(self.events), 1.0, PADDING, PADDING, shape, cell, a, b)
        fast.part_by_polarity(cell, self.events[3], keep, height * width)
        images = np.empty((2, height, width))
        spline.vote(cell, a, b, images.reshape(-1, width))
        return images


def own_of(marks):
    """Return what the events of a source put at each other's places."""
    own = np.empty(marks.t.size)
    fast.own_of_events(marks, own)
    return own


@pytest.fixture(scope="module")
def case():
    return Case()


def test_events_are_sorted_by_source_and_time(case):
    x, y, t, p = case.events
    source = (p.astype(int) * HEIGHT + y) * WIDTH + x
    expected = np.lexsort((np.arange(t.size), source))
    np.testing.assert_array_equal(case.order, expected)
    np.testing.assert_array_equal(case.marks.source, source[expected])


def test_values_are_taken_in_another_order(case):
    out = np.empty(case.order.size)
    fast.take(case.events[2], case.order, 2.0, out)
    np.testing.assert_array_equal(out, 2.0 * case.events[2][case.order])


def test_probes_stand_between_the_events_of_their_source(case):
    before = [
        np.count_nonzero(
            (case.marks.source < source) | ((case.marks.source == source) & (case.marks.t <= t))
        )
        for source, t in zip(case.probe_marks.source, case.probe_marks.t, strict=True)
    ]
    np.testing.assert_array_equal(case.place, before)


def test_events_that_do_not_vote_are_not_on_the_map(case):
    keep = np.arange(case.order.size) % 7 > 0
    images = case.voted(keep)
    x, y = moved(case.events)
    for q in (0, 1):
        chosen = keep & (case.events[3] == q)
        across = reference.spline(np.arange(images.shape[2])[:, None] - PADDING - x[chosen])
        down = reference.spline(np.arange(images.shape[1])[:, None] - PADDING - y[chosen])
        np.testing.assert_allclose(images[q], down @ across.T, atol=1e-12)


def exposure_at(maps, x, y):
    """Interpolate bilinearly, one coordinate after the other."""
    u, v = ((c + PADDING + 0.5) * maps.tiles_per_px - 0.5 for c in (x, y))
    rows = np.array([np.interp(u, np.arange(row.size), row) for row in maps.exposure])
    return np.array([np.interp(v[k], np.arange(len(rows)), rows[:, k]) for k in range(u.size)])


def test_support_of_events_comes_from_other_pixels(case):
    support = own_of(case.marks)
    fast.read_support(case.maps, case.marks, support)
    places = moved(case.events)
    expected = reference.support(case.events, places, case.events, places)
    expected = reference.exposed(expected, exposure_at(case.maps, *places))
    np.testing.assert_allclose(support, expected[case.order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [fast.LONG_BURST, fast.LONG_BURST + 1, 300])
@pytest.mark.parametrize("speed", [0.0, 3.3, 40.0, 2000.0])
def test_bursts_of_any_length_do_not_support_themselves(n, speed):
    t = np.sort(np.random.default_rng(n).uniform(-0.5, 0.5, n))
    x, y = 7.0 - speed * t, 4.0 + 0.4 * speed * t
    own = own_of(fast.Marks(x, y, t, np.full(n, 11, np.int32), HALF))
    given = np.array([reference.shares(x[k], y[k], x, y) for k in range(n)])
    # Shares below the limit are left out, unless a map is made of a long burst.
    fits = n > fast.LONG_BURST and speed < 100.0
    kept = given if fits else given * (given >= fast.LEAST_SHARE)
    np.testing.assert_allclose(own, kept.sum(axis=1), rtol=1e-9, atol=1e-12)


def test_long_bursts_too_long_for_a_map_are_compared_with_some():
    n = 2000
    t = np.linspace(-0.5, 0.5, n)
    x, y = 300.0 * t, 300.0 * t
    own = own_of(fast.Marks(x, y, t, np.full(n, 11, np.int32), HALF))
    middle = np.arange(n // 2 - fast.LONG_BURST, n // 2 + fast.LONG_BURST + 1)
    given = reference.shares(x[n // 2], y[n // 2], x[middle], y[middle])
    np.testing.assert_allclose(own[n // 2], given[given >= fast.LEAST_SHARE].sum(), rtol=1e-9)


def test_bursts_that_are_no_numbers_do_not_spread():
    n = fast.LONG_BURST + 5
    x = np.full(n, 7.0)
    x[3] = np.nan
    own = own_of(fast.Marks(x, np.full(n, 4.0), np.zeros(n), np.full(n, 11, np.int32), HALF))
    assert np.isnan(own[3])
    assert np.isfinite(np.delete(own, 3)).all()


def test_support_of_probes_comes_from_other_pixels(case):
    support = np.empty(case.place.size)
    fast.own_of_probes(case.probe_marks, case.place, case.marks, support)
    fast.read_support(case.maps, case.probe_marks, support)
    places = moved(case.probes)
    expected = reference.support(case.probes, places, case.events, moved(case.events))
    expected = reference.exposed(expected, exposure_at(case.maps, *places))
    np.testing.assert_allclose(support, expected[case.probe_order], rtol=1e-9, atol=1e-12)


def test_places_off_the_map_are_marked(case):
    x = np.array([-PADDING - 1.0, 1e9, np.nan, np.inf, 3.0])
    marks = fast.Marks(x, np.full(5, 4.0), np.zeros(5), np.zeros(5, np.int32), HALF)
    support = np.zeros(5)
    fast.read_support(case.maps, marks, support)
    assert (support[:4] == -1.0).all()
    assert support[4] >= 0.0


def test_readiness_and_chance_go_from_event_to_event(case):
    rng = np.random.default_rng(4)
    n, n_probes = case.order.size, case.place.size
    support, probe_support = rng.exponential(2.0, n), rng.exponential(2.0, n_probes)
    background = np.array([0.3, 0.6])
    chance, ready, probe_ready = np.empty((2, n)), np.empty(n), np.empty(n_probes)
    weighing.follow_pixels(case.marks, support, background, chance, ready)
    weighing.look_at_pixels(
        case.probe_marks, probe_support, case.place, case.marks, support, background, chance,
        probe_ready,
    )  # fmt: skip

    by_time, probe_by_time = np.empty(n), np.empty(n_probes)
    by_time[case.order], probe_by_time[case.probe_order] = support, probe_support
    excess = np.maximum(by_time - background[case.events[3]], 0.0)
    probe_excess = np.maximum(probe_by_time - background[case.probes[3]], 0.0)
    expected, probe_expected = np.ones(n), np.ones(n_probes)
    for way, direction in enumerate((-1, 1)):
        factor, expected_chance = reference.chances(case.events, excess, background, direction)
        np.testing.assert_allclose(chance[way], expected_chance[case.order], rtol=1e-12)
        expected *= factor
        probe_expected *= [
            reference.readiness(
                case.probes, k, probe_excess, case.events, excess, expected_chance, direction
            )
            for k in range(n_probes)
        ]
    np.testing.assert_allclose(ready, expected[case.order], rtol=1e-12)
    np.testing.assert_allclose(probe_ready, probe_expected[case.probe_order], rtol=1e-12)


def marks_of(source):
    empty = np.zeros(len(source))
    return fast.Marks(empty, empty, empty, np.array(source, np.int32), 2)


def test_evidence_is_what_is_above_the_background():
    support, ready = np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.5, 0.5])
    weighing.weigh(support, marks_of([0, 1, 3]), np.array([0.5, 1.0]), ready)
    np.testing.assert_allclose(support, [-0.5, 0.25, 0.5])


def test_quiet_marks_are_counted_by_polarity():
    counts = np.full(2, 99, np.int64)
    weighing.count_quiet(
        np.array([0.0, 2.0, 1.0, 3.0]), marks_of([0, 1, 2, 3]), np.array([2.0, 2.0]), counts
    )
    assert counts.tolist() == [2, 1]


def test_conclusions_are_in_the_order_of_time():
    evidence, order = np.array([-1.0, 2.0, 4.0, 0.5]), np.array([2, 0, 3, 1], np.int32)
    score, confidence, signal = np.empty(4), np.empty(4), np.empty(4, bool)
    weighing.conclude(evidence, order, 2.0, score, confidence, signal)
    np.testing.assert_allclose(score, [1.0, 0.25, -0.5, 2.0])
    np.testing.assert_allclose(confidence, [0.5, 0.0, 0.0, 0.875])
    assert signal.tolist() == [False, False, False, True]


def test_masked_maps_and_their_sums(case):
    images, background = case.maps.images, np.array([0.4, 0.7])
    w_map, sums = np.empty(images.shape[1:]), np.empty(6)
    weighing.mask_maps(images, background, 1.3, w_map, sums)
    w, kept = reference.masked(images, background, 1.3)
    np.testing.assert_allclose(w_map, w, atol=1e-12)
    total = images.sum(axis=0)
    expected = [total, total**2, kept, kept**2, w, (kept - total) ** 2]
    np.testing.assert_allclose(sums, [image.sum() for image in expected], rtol=1e-9)


def test_the_map_of_events_where_they_are_is_summed_up_from_counts(case):
    x, y, _, _ = case.events
    voting = np.arange(x.size) % 5 > 0
    sums = np.full(2, np.nan)
    weighing.add_up_still(x, y, voting, np.full((HEIGHT + 2, WIDTH + 2), np.nan), sums)
    across = reference.spline(np.arange(-1, WIDTH + 1)[:, None] - x[voting].astype(float))
    down = reference.spline(np.arange(-1, HEIGHT + 1)[:, None] - y[voting].astype(float))
    image = down @ across.T
    np.testing.assert_allclose(sums, [image.sum(), (image**2).sum()], rtol=1e-12)
