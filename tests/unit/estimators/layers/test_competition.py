"""Competition of motions for the cells of a window."""

import numpy as np
import pytest

from evcrisp import Events, Window
from evcrisp.estimators.layers.competition import compete, padding_of, support_under
from evcrisp.estimators.layers.fitting import constant_motion
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
        assert (support_under(halves, motion((bad, 0.0))) <= 0.0).mean() > 0.99
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
