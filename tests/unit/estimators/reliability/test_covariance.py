"""Terms of the covariance that no simulation of a constant motion shows."""

import numpy as np
import pytest

from evcrisp.estimators.reliability.covariance import _faster_part


@pytest.mark.parametrize("change", [0.1, 0.4, 0.8])
def test_more_events_come_where_a_motion_is_faster(change):
    """Edges make events as fast as they move: the mean speed over events is not that over time."""
    displacement = np.array([6.0, -3.0])
    share = np.linspace(-0.5, 0.5, 20_001)
    speed = 1.0 + 2.0 * change * share  # over its mean
    over_events = (speed * speed).mean() / speed.mean()
    # The path, fitted by the first three Legendre polynomials of time; the last one is the bend.
    path = np.cumsum(speed) * (share[1] - share[0]) * np.linalg.norm(displacement)
    bend_px = abs(np.polynomial.legendre.legfit(2.0 * share, path, 2)[2])
    np.testing.assert_allclose(
        _faster_part(displacement, bend_px), displacement * (over_events - 1.0), rtol=2e-2
    )


def test_a_constant_motion_has_no_faster_part():
    np.testing.assert_array_equal(_faster_part(np.array([6.0, -3.0]), 0.0), 0.0)
    np.testing.assert_array_equal(_faster_part(np.zeros(2), 0.5), 0.0)


def test_no_speed_changes_by_more_than_its_mean():
    np.testing.assert_allclose(_faster_part(np.array([3.0, 0.0]), 10.0), (1.0, 0.0))
