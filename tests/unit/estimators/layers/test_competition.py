"""Competition of motions for the cells of a window."""

from dataclasses import replace

import numpy as np
import pytest

from evcrisp import Events, Window
from evcrisp.estimators.layers.competition import compete, lost_gains, padding_of
from evcrisp.estimators.layers.fitting import constant_motion, displacements
from evcrisp.estimators.layers.layer_window import N_SLICES, LayerWindow, cells_of
from evcrisp.motion import Translation
from evcrisp.search.window_data import WindowData

SIZE = (160, 96)
LENGTH_US = 30_000
LEFT, RIGHT = (9.0, 3.0), (-7.0, 5.0)


def motion(shift):
    return constant_motion(np.array(shift), (79.5, 47.5))


@pytest.fixture(scope="module")
def halves():
    """Return a window whose left half moves by LEFT and the right one by RIGHT."""
    rng = np.random.default_rng(4)
    parts = []
    for low, high, shift in ((10, 70, LEFT), (90, 150, RIGHT)):
        home = rng.uniform((low, 10), (high, 86), (60, 2)).repeat(25, axis=0)
        t = rng.integers(0, LENGTH_US, len(home))
        at = np.rint(home + (t / LENGTH_US - 0.5)[:, None] * shift)
        parts.append(np.column_stack((at, t, rng.integers(0, 2, 60).repeat(25))))
    rows = np.concatenate(parts).astype(np.int64)
    x, y, t, p = rows[np.argsort(rows[:, 2], kind="stable")].T
    events = Events(x=x, y=y, t=t, p=p > 0, resolution=SIZE)
    data = WindowData.of(Window(events, 0, LENGTH_US), Translation())
    return LayerWindow.of(data, events, np.ones(len(events), bool))


def test_cells_belong_to_the_motion_of_their_events(halves):
    found = compete(halves, np.stack([motion(LEFT), motion(RIGHT)]))
    assert len(found.motions) == 2
    layer = found.of_events(halves)
    assert (layer == (halves.x > 80)).mean() > 0.97
    assert found.label.shape == (N_SLICES, *cells_of(SIZE))


def test_motions_without_gain_are_removed(halves):
    useless = [motion(shift) for shift in ((0.0, 0.0), (20.0, -20.0), (1.0, -9.0))]
    given = np.stack([useless[0], motion(RIGHT), *useless[1:], motion(LEFT)])
    found = compete(halves, given)
    np.testing.assert_array_equal(found.motions[:, :2], [RIGHT, LEFT])


def test_a_high_cost_leaves_one_motion(halves):
    found = compete(halves, np.stack([motion(LEFT), motion(RIGHT)]), cost=1e9)
    assert len(found.motions) == 1
    assert (found.label == 0).all()


def test_one_motion_has_all_cells(halves):
    found = compete(halves, motion(LEFT)[None])
    assert (found.label == 0).all()
    assert found.support.shape == (1, len(halves))


@pytest.mark.parametrize("bad", [1e9, -1e30, np.inf])
def test_impossible_motions_have_no_support_and_lose(halves, bad):
    with np.errstate(invalid="ignore"):
        alone = compete(halves, motion((bad, 0.0))[None])
        assert (alone.support <= 0.0).mean() > 0.99
        found = compete(halves, np.stack([motion((bad, 0.0)), motion(LEFT), motion(RIGHT)]))
    np.testing.assert_array_equal(found.motions[:, :2], [LEFT, RIGHT])


def test_the_order_of_motions_does_not_matter(halves):
    first = compete(halves, np.stack([motion(LEFT), motion(RIGHT)]))
    second = compete(halves, np.stack([motion(RIGHT), motion(LEFT)]))
    different = first.label == second.label  # the numbers are swapped
    assert different.mean() < 0.2
    np.testing.assert_array_equal(first.of_events(halves) == 0, second.of_events(halves) == 1)


@pytest.mark.parametrize(
    ("positions", "padding"),
    [([[0.0], [0.0]], 4), ([[-9.5], [0.0]], 13), ([[170.0], [0.0]], 14), ([[1e9], [0.0]], 163)],
)
def test_padding_holds_all_positions_up_to_the_sensor_size(positions, padding):
    assert padding_of(np.array(positions, np.float32), SIZE) == padding


def support_on_maps(window, row):
    """Return the support of events on the maps of `auto`, all moved by one affine motion."""
    x, y, tau = (column.astype(np.float64) for column in (window.x, window.y, window.tau))
    moved = displacements(row, x, y) * tau[:, None]
    positions = np.stack((x - moved[:, 0], y - moved[:, 1])).astype(np.float32)
    samples = np.full((2, window.indexed.samples.t.size), -1e6, np.float32)
    padding = padding_of(positions, SIZE)
    maps = window.indexed.placed(
        positions, samples, padding, lambda value, points: None, window.supporting
    )
    return np.maximum(maps.support_of_events(), 0.0)


@pytest.mark.parametrize("matrix", [(0, 0, 0, 0), (0.05, -0.1, 0.12, 0.03)])
@pytest.mark.parametrize("shift", [(0.0, 0.0), LEFT, (60.0, -40.0)])
@pytest.mark.parametrize("stride", [0, 5])
def test_support_equals_that_of_the_maps_of_auto(halves, matrix, shift, stride):
    row = np.array([*shift, *matrix, 79.5, 47.5])
    window = halves
    if stride:
        supporting = np.arange(len(halves)) % stride > 0
        window = replace(halves, supporting=supporting)
    # The maps are buffers of the same window: compare copies.
    wanted = support_on_maps(window, row).copy()
    found = compete(window, row[None]).support[0]
    np.testing.assert_allclose(found, wanted, atol=2e-3)
    assert (found > 0.3).sum() > 100 or shift == (60.0, -40.0)


def test_events_of_half_of_the_pixels_have_the_support_of_all(halves):
    motions = np.stack([motion(LEFT), motion(RIGHT)])
    support = compete(halves, motions).support
    half = halves.of_half_of_pixels()
    assert 0.4 < half.share < 0.6
    assert half.density == halves.density
    # Pixels are taken as a whole.
    pixels = set(zip(half.x, half.y, strict=True))
    chosen = np.array([at in pixels for at in zip(halves.x, halves.y, strict=True)])
    assert chosen.sum() == len(half) < len(halves)
    for name in ("x", "y", "tau", "p", "cell", "rank", "supporting"):
        np.testing.assert_array_equal(getattr(half, name), getattr(halves, name)[chosen])
    found = compete(half, motions)
    np.testing.assert_allclose(found.support, support[:, chosen], atol=1e-6)
    layer = found.of_events(half)
    assert (layer == (half.x > 80)).mean() > 0.97


def test_parts_are_the_supported_events_of_each_layer(halves):
    window = replace(halves, supporting=np.arange(len(halves)) % 7 > 0)
    found = compete(window, np.stack([motion(LEFT), motion(RIGHT)]))
    layer, numbers = found.of_events(window), np.arange(len(window))
    own = found.support[layer, numbers]
    for least in (-1.0, 0.3):
        for k, events in enumerate(found.parts(window, least)):
            wanted = (layer == k) & (own > least) & window.supporting
            np.testing.assert_array_equal(events, np.flatnonzero(wanted))
            assert len(events) > 300


def aligned(halves, shift):
    """Return the positions of all events, moved back by one motion."""
    return halves.x - halves.tau * shift[0], halves.y - halves.tau * shift[1]


def test_one_motion_loses_the_gain_of_the_other(halves):
    motions = np.stack([motion(LEFT), motion(RIGHT)])
    label = compete(halves, motions).label
    left, right = lost_gains(halves, motions, label, *aligned(halves, LEFT))
    assert abs(left) < 0.1
    assert right > 1.0
    np.testing.assert_allclose(
        lost_gains(halves, motions[::-1], 1 - label, *aligned(halves, LEFT)), [right, left]
    )


def test_gains_are_lost_where_events_leave_the_view(halves):
    motions = np.stack([motion(LEFT), motion(RIGHT)])
    label = compete(halves, motions).label
    # All events by the same way, far out of the view: they meet as before.
    x, y = aligned(halves, LEFT)
    near, far = (lost_gains(halves, motions, label, x + out, y) for out in (0.0, 300.0))
    assert far[0] > near[0] + 1.0
    slightly = lost_gains(halves, motions, label, x + 40.0, y)
    np.testing.assert_allclose(slightly, near, atol=0.05)
