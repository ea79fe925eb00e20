"""Filters that look at the last events of neighboring pixels, on events labeled by hand."""

import numpy as np
import pytest

from evcrisp import Events
from evcrisp.filters import denoise


@pytest.mark.parametrize(
    "name", ["baf", "stcf", "knoise", "density", "padala", "ebf", "pfd", "pfdslices"]
)
def test_hot_pixel_does_not_pass_by_itself(name):
    events = Events(x=[4] * 50, y=[4] * 50, t=range(50), p=[1] * 50, resolution=(9, 9))
    assert denoise(events, name).signal.sum() == 0


def test_stcf_drops_pairs_of_shot_noise():
    events = Events(
        x=[4, 5, 4, 4], y=[4, 4, 4, 4], t=[0, 10, 500, 900], p=[1, 0, 0, 0], resolution=(9, 9)
    )
    plain = {"tau_us": 5000, "k": 1}
    assert denoise(events, "stcf", **plain).signal.tolist() == [0, 0, 1, 1]
    assert denoise(events, "stcf", **plain, pair_us=600).signal.tolist() == [0, 0, 0, 1]


def test_score_decreases_with_age_of_neighbor():
    events = Events(x=[4, 5, 4, 5], y=[4] * 4, t=[0, 100, 2100, 7100], p=[1] * 4, resolution=(9, 9))
    labels = denoise(events, "baf", tau_us=2000)
    np.testing.assert_allclose(labels.score, [0, 2000 / 2100, 0.5, 2000 / 7000])


def test_activity_counts_neighbor_of_age_tau():
    events = Events(x=[2, 3], y=[1, 1], t=[0, 10_000], p=[1, 0], resolution=(5, 4))
    assert denoise(events, "activity").signal.tolist() == [0, 1]
    assert denoise(events, "activity", tau_us=9_999).signal.tolist() == [0, 0]


def test_ebf_adds_weights_of_last_events_of_same_polarity():
    events = Events(
        x=[4, 6, 5, 5, 4, 5, 1], y=[4, 4, 2, 4, 4, 4, 4], t=[0, 250, 500, 500, 600, 750, 750],
        p=[1, 1, 1, 1, 0, 1, 1], resolution=(9, 9),
    )  # fmt: skip
    score = denoise(events, "ebf", tau_us=1000, threshold=1.0)
    # The fifth event has no neighbor of its polarity, and replaces the first one at its pixel.
    wanted = [0, 0.75, 0.5 + 0.75, 0.5 + 0.75 + 1, 0, 0.5 + 0.75, 0]
    np.testing.assert_array_equal(score.score, wanted)
    assert score.signal.tolist() == [0, 0, 1, 1, 0, 1, 0]


def test_ebf_counts_no_event_of_age_tau():
    events = Events(x=[4, 5, 6], y=[4] * 3, t=[0, 999, 1000], p=[1] * 3, resolution=(9, 9))
    score = denoise(events, "ebf", tau_us=1000).score
    np.testing.assert_array_equal(score, [0, 0.001, 0.999])


CENTER = 4  # place of the pixel with eight neighbors in a turn of nine events


def square_of_pixels(polarities):
    """Return events of 3x3 pixels that fire one after the other, in turns of one polarity."""
    x, y = np.meshgrid([3, 4, 5], [3, 4, 5])
    n = len(polarities)
    return Events(
        x=np.tile(x.ravel(), n), y=np.tile(y.ravel(), n), t=np.arange(9 * n) * 100,
        p=np.repeat(polarities, 9), resolution=(9, 9),
    )  # fmt: skip


def test_pfd_keeps_common_changes_and_drops_flicker():
    events = square_of_pixels([1, 0, 1, 0, 1])
    assert denoise(events, "pfd").signal[CENTER::9].tolist() == [1, 1, 1, 1, 1]
    # Half of the neighbors have changed in the second turn, one and a half times in the third.
    by_b = denoise(events, "pfd", flicker=True)
    assert by_b.signal[CENTER::9].tolist() == [1, 1, 0, 0, 0]
    np.testing.assert_allclose(
        by_b.score[CENTER + 9], 0.5 + (2 * 250 / 251 + 1 / 1.5) / 6, rtol=0.01
    )


def test_pfd_drops_pixel_that_changes_alone():
    edge = square_of_pixels([1])
    t, p = edge.t[-1] + 100 * np.arange(1, 6), [0, 1, 0, 1, 0]
    alone = Events(x=[4] * 5, y=[4] * 5, t=t, p=p, resolution=(9, 9))
    events = Events.concatenate([edge, alone])
    # The first change is allowed, but no neighbor is OFF.
    assert denoise(events, "pfd").signal[-5:].tolist() == [0, 0, 0, 0, 0]
    assert denoise(events, "pfd", max_changes=4.0).signal[-5:].tolist() == [0, 1, 0, 1, 0]


def test_pfd_compares_with_last_polarity_unless_told():
    events = square_of_pixels([0, 1, 1, 1])
    assert denoise(events, "pfd", flicker=True).signal[CENTER::9].tolist() == [1, 1, 1, 1]
    by_first = denoise(events, "pfd", flicker=True, first_polarity=True)
    assert by_first.signal[CENTER::9].tolist() == [1, 1, 0, 0]


def test_pfd_forgets_changes_beyond_its_memory():
    events = square_of_pixels([1, 0, 1, 0, 1])
    assert denoise(events, "pfd", flicker=True, memory=1).signal[CENTER::9].all()


def test_pfd_needs_active_neighbors():
    events = square_of_pixels([1])
    for k in range(1, 9):
        # The center is the fifth event, so that four neighbors are active.
        assert denoise(events, "pfd", min_active=k).signal[CENTER] == (k <= 4)
        assert denoise(events, "pfd", k=k).signal[CENTER] == (k <= 4)


def test_pfd_in_slices_counts_later_events():
    events = square_of_pixels([1])
    assert denoise(events, "pfd", min_active=8).signal[CENTER] == 0
    assert denoise(events, "pfdslices", min_active=8).signal[CENTER] == 1
    assert denoise(events, "pfdslices", min_active=8, published=True).signal.sum() == 0


def test_pfd_in_slices_forgets_changes_of_the_last_slice():
    events = square_of_pixels([1, 0, 1, 0, 1])
    one_slice = denoise(events, "pfdslices", flicker=True)
    assert one_slice.signal[CENTER::9].tolist() == [0, 0, 0, 0, 0]
    # Slices of ten events: one change per pixel at most.
    short = denoise(events, "pfdslices", flicker=True, window_us=900)
    assert short.signal[CENTER::9].tolist() == [1, 1, 1, 1, 1]
