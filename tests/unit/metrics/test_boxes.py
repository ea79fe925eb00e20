"""HOTA of tracked boxes: known values, the equations of the paper, and TrackEval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.optimize import linear_sum_assignment
from tests.oracles.metrics import hota as oracle

from evcrisp import EventDataError
from evcrisp.metrics import box_overlap, hota
from evcrisp.metrics.assignment import best_pairs


def random_tracks(seed, n_frames=20, n_tracks=6):
    """Return the arguments of `hota`: boxes are missed, moved, invented, and change names."""
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(0, 100, (n_tracks, 2)), rng.uniform(10, 40, (n_tracks, 2))
    velocity = rng.normal(0, 2, (n_tracks, 2))
    name = np.arange(n_tracks) + 50
    case = {"true_boxes": [], "true_ids": [], "found_boxes": [], "found_ids": []}
    for frame in range(n_frames):
        corner = corner + velocity
        boxes = np.hstack((corner, corner + size))
        present, seen = rng.random((2, n_tracks)) < [[0.8], [0.85]]
        if rng.random() < 0.3:
            name = name.copy()
            name[rng.integers(n_tracks)] = 100 + frame
        moved = boxes + rng.normal(0, 0.08, boxes.shape) * np.tile(size, 2)
        invented = rng.uniform(0, 100, (rng.integers(0, 2), 2))
        case["true_boxes"].append(boxes[present])
        case["true_ids"].append(np.arange(n_tracks)[present])
        found = present & seen
        case["found_boxes"].append(np.vstack((moved[found], np.hstack((invented, invented + 20)))))
        case["found_ids"].append(np.append(name[found], 1000 + frame * np.ones(len(invented), int)))
    return case


def parts(score):
    return score.hota, score.deta, score.assa, score.loca


@pytest.mark.parametrize(
    ("seed", "n_frames", "n_tracks", "expected"),
    [  # HOTA, DetA, AssA, LocA of TrackEval 1.3.0, which is not installed with the tests
        (0, 20, 6, (0.4954744288, 0.5655414109, 0.4348819851, 0.8135449409)),
        (1, 20, 6, (0.5606592270, 0.6043091172, 0.5216812975, 0.8132245676)),
        (2, 20, 6, (0.5317377366, 0.6065008962, 0.4677048116, 0.8007707229)),
        (0, 200, 40, (0.5148946084, 0.6469200448, 0.4099983663, 0.8099479469)),
    ],
)
def test_values_of_trackeval(seed, n_frames, n_tracks, expected):
    score = hota(**random_tracks(seed, n_frames, n_tracks))
    assert parts(score) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(10, 16))
def test_hota_equals_the_equations(seed):
    case = random_tracks(seed, n_frames=8, n_tracks=4)
    assert parts(hota(**case)) == pytest.approx(oracle.hota(**case), abs=1e-12)


def test_perfect_tracks_have_one():
    case = random_tracks(3)
    perfect = {name: case[name.replace("found", "true")] for name in case}
    assert parts(hota(**perfect)) == pytest.approx((1, 1, 1, 1))


def test_fragments_miss_and_false_boxes_by_hand():
    # Four true boxes of one track. Found: two as track 1, one as track 2, one missed, one false.
    box, elsewhere = [0, 0, 10, 10], [50, 50, 60, 60]
    score = hota(
        true_boxes=[[box]] * 4,
        true_ids=[[0]] * 4,
        found_boxes=[[box], [box], [box, elsewhere], []],
        found_ids=[["a"], ["a"], ["b", "c"], []],
    )
    assert score.deta == pytest.approx(3 / (3 + 1 + 1))
    # Track a: 2 / (4 + 2 - 2) for two matches; track b: 1 / (4 + 1 - 1) for one.
    assert score.assa == pytest.approx((2 / 4 + 2 / 4 + 1 / 4) / 3)
    assert score.hota == pytest.approx(math.sqrt(score.deta * score.assa))
    assert (score.loca, score.n_true, score.n_found) == (1.0, 4, 4)


def test_matches_end_at_their_overlap():
    # An overlap of 0.6 counts up to alpha = 0.6, which is 12 of 19 values.
    score = hota(
        true_boxes=[[[0, 0, 10, 10]]],
        true_ids=[[1]],
        found_boxes=[[[0, 0, 10, 6]]],
        found_ids=[[1]],
    )
    assert score.hota_by_alpha.tolist() == [1.0] * 12 + [0.0] * 7
    assert score.hota == pytest.approx(12 / 19)
    np.testing.assert_allclose(score.loca_by_alpha, [0.6] * 12 + [1.0] * 7)


def test_a_box_belongs_to_the_track_that_fits_over_the_recording():
    # In the last frame the box of another track overlaps more, but has not followed this one.
    true, near, nearer = [0, 0, 10, 10], [0, 0, 10, 8], [0, 0, 10, 9]
    score = hota(
        true_boxes=[[true]] * 3,
        true_ids=[[0]] * 3,
        found_boxes=[[near], [near], [near, nearer]],
        found_ids=[[1], [1], [1, 2]],
    )
    assert score.assa_by_alpha[0] == 1.0
    np.testing.assert_allclose(score.loca_by_alpha[:16], 0.8)


@pytest.mark.parametrize("seed", range(4))
def test_truth_and_result_can_be_exchanged(seed):
    case = random_tracks(seed)
    swapped = {
        "true_boxes": case["found_boxes"],
        "true_ids": case["found_ids"],
        "found_boxes": case["true_boxes"],
        "found_ids": case["true_ids"],
    }
    assert parts(hota(**case)) == pytest.approx(parts(hota(**swapped)), abs=1e-12)


def test_frames_and_names_can_be_permuted():
    case = random_tracks(7)
    order = np.random.default_rng(0).permutation(20)
    moved = {name: [frames[i] for i in order] for name, frames in case.items()}
    moved["found_ids"] = [[f"track {number}" for number in ids] for ids in moved["found_ids"]]
    assert parts(hota(**moved)) == pytest.approx(parts(hota(**case)), abs=1e-12)


def test_nothing_found_is_zero_and_no_boxes_are_nan():
    case = random_tracks(1)
    none = [[]] * 20
    missed = hota(**{**case, "found_boxes": none, "found_ids": none})
    assert (missed.hota, missed.deta, missed.assa) == (0.0, 0.0, 0.0)
    false = hota(**{**case, "true_boxes": none, "true_ids": none})
    assert (false.hota, false.n_true) == (0.0, 0)
    empty = hota(true_boxes=none, true_ids=none, found_boxes=none, found_ids=none)
    nothing = hota(true_boxes=[], true_ids=[], found_boxes=[], found_ids=[])
    assert all(map(math.isnan, (missed.loca, false.loca, *parts(empty), *parts(nothing))))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"true_ids": [[1, 1]]}, r"^`true_ids` must have one name per box, each once; got .1, 1."),
        ({"found_ids": [[1, 2]]}, "for 1 boxes in frame 0"),
        ({"found_ids": [[1]] * 2}, "must have the same frames; got 1 and 2"),
        ({"found_ids": [], "found_boxes": []}, "got 1 true and 0 found frames. Give empty lists"),
        ({"found_boxes": [[[0, 0, 5]]]}, r"`found_boxes` must have shape \(n, 4\)"),
        ({"found_boxes": [[[5, 5, 4, 9]]]}, "x_min <= x_max.*x_max = x [+] width"),
        ({"found_boxes": [[[5, 5, np.nan, 9]]]}, "must be finite"),
    ],
)
def test_wrong_boxes_raise(changes, message):
    case = {
        "true_boxes": [[[0, 0, 4, 4], [9, 9, 12, 12]]],
        "true_ids": [[1, 2]],
        "found_boxes": [[[0, 0, 4, 4]]],
        "found_ids": [[1]],
    }
    with pytest.raises(EventDataError, match=message):
        hota(**{**case, **changes})


@given(npst.arrays(np.float64, (2, 3, 4), elements=st.integers(-400, 400).map(lambda n: n / 8)))
def test_overlap_equals_the_definition(corners):
    boxes = np.concatenate((corners[..., :2], corners[..., :2] + np.abs(corners[..., 2:])), axis=2)
    found = box_overlap(*boxes)
    expected = [[oracle.overlap(a, b) for b in boxes[1]] for a in boxes[0]]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


def test_box_without_area_overlaps_nothing():
    assert box_overlap([[1, 1, 1, 5]], [[1, 1, 1, 5], [0, 0, 9, 9]]).tolist() == [[0.0, 0.0]]
    assert box_overlap([], [[0, 0, 1, 1]]).shape == (0, 1)


@given(npst.arrays(
    np.float64, npst.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=7),
    elements=st.one_of(st.floats(-5, 5), st.integers(0, 2).map(float)),
))  # fmt: skip
def test_assignment_has_the_sum_of_scipy(weight):
    rows, columns = best_pairs(weight)
    assert len(rows) == len(columns) == min(weight.shape)
    assert len(set(rows.tolist())) == len(set(columns.tolist())) == len(rows)
    assert (np.diff(rows) > 0).all()
    expected = weight[linear_sum_assignment(weight, maximize=True)].sum()
    assert weight[rows, columns].sum() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", [(60, 60), (40, 90), (90, 40)])
def test_assignment_equals_scipy(shape):
    weight = np.random.default_rng(4).random(shape)
    rows, columns = best_pairs(weight)
    expected = linear_sum_assignment(weight, maximize=True)
    np.testing.assert_array_equal((rows, columns), expected)
