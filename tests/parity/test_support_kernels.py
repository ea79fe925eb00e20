"""The compiled support of events against its plain twin."""

import numpy as np
import pytest

from evcrisp.kernels import reference_support as reference
from evcrisp.kernels import support as fast

RESOLUTION = (23, 17)
PADDING = 9


def pixels(n, seed):
    """Return marks on few pixels, so that many share one."""
    rng = np.random.default_rng(seed)
    return fast.Pixels(
        rng.integers(0, RESOLUTION[0], n).astype(np.uint16),
        rng.integers(0, RESOLUTION[1], n).astype(np.uint16),
        np.sort(rng.uniform(-0.5, 0.5, n)),
        rng.integers(0, 2, n).astype(np.uint8),
    )


def table():
    return np.empty((2, RESOLUTION[1], RESOLUTION[0]), np.int32)


def linked(events):
    links = fast.Links(*np.empty((2, events.t.size), np.int32))
    fast.link_events(events, table(), *links)
    return links


def linked_probes(probes, events):
    links = fast.Links(*np.empty((2, probes.t.size), np.int32))
    for backward, link in zip((False, True), links, strict=True):
        fast.link_probes(probes, events, backward, table(), link)
    return links


def moved(marks, vx=9.3, vy=-4.1):
    """Return aligned places for a motion of that many px within the window."""
    return marks.x - vx * marks.t, marks.y - vy * marks.t


@pytest.fixture(scope="module")
def events():
    return pixels(1500, 1)


@pytest.fixture(scope="module")
def probes():
    return pixels(400, 2)


def voted(events, voting):
    images = np.empty((2, RESOLUTION[1] + 2 * PADDING, RESOLUTION[0] + 2 * PADDING))
    fast.vote_by_polarity(*moved(events), events.p, voting, float(PADDING), images)
    return images


@pytest.fixture(scope="module")
def maps(events):
    """Return maps of all events, with uneven exposure."""
    images = voted(events, np.ones(events.t.size, bool))
    tiles = images.shape[1] // 4 + 2, images.shape[2] // 4 + 2
    exposure = np.random.default_rng(3).uniform(0.0, 1.5, tiles)
    return fast.Maps(images, exposure, float(PADDING), 4.0)


def test_events_are_linked_with_their_pixel(events):
    before, after = reference.neighbors(events, events)
    links = linked(events)
    np.testing.assert_array_equal(links.before, before)
    np.testing.assert_array_equal(links.after, after)


def test_probes_are_linked_with_their_pixel(events, probes):
    before, after = reference.neighbors(probes, events)
    links = linked_probes(probes, events)
    np.testing.assert_array_equal(links.before, before)
    np.testing.assert_array_equal(links.after, after)


def test_events_before_the_first_probe_and_after_the_last_one_are_found():
    one = fast.Pixels(
        *(np.array([v], t) for v, t in ((3, "u2"), (4, "u2"), (0.0, "f8"), (1, "u1")))
    )
    two = fast.Pixels(*(np.repeat(c, 2) for c in one))
    two.t[:] = (-0.4, 0.4)
    assert [link.tolist() for link in linked_probes(one, two)] == [[0], [1]]
    assert [link.tolist() for link in linked_probes(two, one)] == [[-1, 0], [0, -1]]


def exposure_at(maps, x, y):
    """Interpolate bilinearly, one coordinate at a time."""
    u, v = ((np.asarray(c) + PADDING + 0.5) / maps.tile - 0.5 for c in (x, y))
    columns = np.array(
        [np.interp(u, np.arange(row.size), row) for row in maps.exposure]
    )  # (rows, n)
    return np.array(
        [np.interp(v[k], np.arange(len(columns)), columns[:, k]) for k in range(u.size)]
    )


def test_support_of_events_comes_from_other_pixels(events, maps):
    x, y = moved(events)
    support = np.empty(x.size)
    fast.own_of_events(x, y, linked(events).before, maps.padding, support)
    fast.read_support(maps, x, y, events.p, support)
    expected = reference.support(events, (x, y), events, (x, y))
    expected = reference.exposed(expected, exposure_at(maps, x, y))
    np.testing.assert_allclose(support, expected, rtol=1e-9, atol=1e-12)


def test_support_of_probes_comes_from_other_pixels(events, probes, maps):
    x, y = moved(probes)
    support = np.empty(x.size)
    links, event_links = linked_probes(probes, events), linked(events)
    fast.own_of_probes(x, y, links, *moved(events), event_links, maps.padding, support)
    fast.read_support(maps, x, y, probes.p, support)
    expected = reference.support(probes, (x, y), events, moved(events))
    expected = reference.exposed(expected, exposure_at(maps, x, y))
    np.testing.assert_allclose(support, expected, rtol=1e-9, atol=1e-12)


def test_events_that_do_not_vote_are_not_on_the_map(events):
    voting = np.arange(events.t.size) % 7 > 0
    images = voted(events, voting)
    x, y = moved(events)
    for q in (0, 1):
        chosen = voting & (events.p == q)
        columns = reference.spline(np.arange(images.shape[2])[:, None] - PADDING - x[chosen])
        rows = reference.spline(np.arange(images.shape[1])[:, None] - PADDING - y[chosen])
        np.testing.assert_allclose(images[q], rows @ columns.T, atol=1e-12)


def test_places_off_the_map_are_marked(maps):
    x = np.array([-PADDING - 1.0, 1e9, np.nan, np.inf, 3.0])
    support = np.zeros(5)
    fast.read_support(maps, x, np.full(5, 4.0), np.zeros(5, np.uint8), support)
    assert (support[:4] == -1.0).all()
    assert support[4] >= 0.0


@pytest.mark.parametrize("backward", [False, True])
def test_readiness_weighs_all_earlier_events(events, probes, backward):
    rng = np.random.default_rng(4)
    n = events.t.size
    support, background = rng.exponential(2.0, n), np.array([0.3, 0.6])
    links = linked(events)
    link = links[1] if backward else links[0]
    chance, ready = np.empty(n), np.ones(n)
    fast.follow_pixels(events.t, events.p, support, link, backward, background, chance, ready)

    excess = np.maximum(support - background[events.p], 0.0)
    expected_chance = np.empty(n)
    for k in range(n - 1, -1, -1) if backward else range(n):
        factor = reference.readiness(
            events.t[k], excess[k], chain(link, link[k]), events.t, excess, expected_chance
        )
        rate = excess[k] * factor
        expected_chance[k] = rate / (rate + background[events.p[k]])
        assert ready[k] == pytest.approx(factor, rel=1e-12)
    np.testing.assert_allclose(chance, expected_chance, rtol=1e-12)

    probe_support, probe_ready = rng.exponential(2.0, probes.t.size), np.full(probes.t.size, 0.5)
    start = linked_probes(probes, events)[int(backward)]
    fast.look_at_pixels(
        probes, probe_support, start, events, support, link, background, chance, probe_ready
    )
    for k in range(probes.t.size):
        above = max(probe_support[k] - background[probes.p[k]], 0.0)
        factor = reference.readiness(
            probes.t[k], above, chain(link, start[k]), events.t, excess, chance
        )
        assert probe_ready[k] == pytest.approx(0.5 * factor, rel=1e-12)


def chain(link, j):
    found = []
    while j >= 0:
        found.append(j)
        j = link[j]
    return found


def test_evidence_is_what_is_above_the_background():
    support, ready = np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.5, 0.5])
    fast.weigh(support, np.array([0, 0, 1], np.uint8), np.array([0.5, 1.0]), ready)
    np.testing.assert_allclose(support, [-0.5, 0.25, 0.5])


def test_masked_maps_and_their_sums(maps):
    images, background = maps.images, np.array([0.4, 0.7])
    w_map, sums = np.empty(images.shape[1:]), np.empty(6)
    fast.mask_maps(images, background, 1.3, w_map, sums)
    w, kept = reference.masked(images, background, 1.3)
    np.testing.assert_allclose(w_map, w, atol=1e-12)
    total = images.sum(axis=0)
    expected = [total, total**2, kept, kept**2, w, (kept - total) ** 2]
    np.testing.assert_allclose(sums, [image.sum() for image in expected], rtol=1e-9)


def test_quiet_marks_are_counted_by_polarity():
    counts = np.zeros(2, np.int64)
    support, p = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1], np.uint8)
    fast.count_quiet(support, p, np.array([2.0, 2.0]), counts)
    assert counts.tolist() == [2, 1]
