"""Agreement per axis: known lines, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp.core.errors import EventDataError
from evcrisp.metrics import axis_agreement


def test_known_lines_per_axis():
    truth = np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 5.0], [2.0, 0.0, 5.0], [3.0, 4.0, 5.0]])
    estimate = np.stack((2.0 * truth[:, 0] + 1.0, -truth[:, 1], [5.1, 4.9, 5.1, 4.9]), axis=1)
    found = axis_agreement(estimate, truth)
    np.testing.assert_allclose(found.correlation, [1.0, -1.0, np.nan])
    np.testing.assert_allclose(found.scale, [2.0, -1.0, np.nan])
    np.testing.assert_allclose(found.offset, [1.0, 0.0, np.nan], atol=1e-12)
    np.testing.assert_allclose(found.rms[2], 0.1)
    np.testing.assert_allclose(found.truth_std, truth.std(axis=0))
    assert found.n == 4
    assert found.as_dict()["scale"][:2] == pytest.approx([2.0, -1.0])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=3, max_size=30),
    st.floats(0.1, 3.0),
    st.floats(-2.0, 2.0),
)
def test_scale_and_offset_of_the_estimate_show(rows, factor, shift):
    """A scaled and shifted estimate changes scale and offset, not the correlation."""
    values = np.array(rows)
    estimate, truth = values[:, :1], values[:, 1:]
    if min(estimate.std(), truth.std()) < 0.1:
        return
    before, after = (
        axis_agreement(estimate, truth),
        axis_agreement(factor * estimate + shift, truth),
    )
    np.testing.assert_allclose(after.correlation, before.correlation, atol=1e-9)
    np.testing.assert_allclose(after.scale, factor * before.scale, atol=1e-9)
    np.testing.assert_allclose(after.offset, factor * before.offset + shift, atol=1e-9)
    np.testing.assert_allclose(before.correlation, np.corrcoef(values.T)[0, 1], atol=1e-9)


def test_few_windows_have_no_correlation():
    assert np.isnan(axis_agreement(np.empty((0, 3)), np.empty((0, 3))).rms).all()
    one = axis_agreement([[1.0]], [[2.0]])
    assert (one.n, one.rms[0]) == (1, 1.0)
    assert np.isnan(one.scale[0])
    assert np.isnan(axis_agreement([[1.0], [2.0]], [[1.0], [3.0]]).correlation[0])


@pytest.mark.parametrize("estimate", [[[1.0, 2.0]], [1.0], [[np.nan]]])
def test_wrong_arrays_raise(estimate):
    with pytest.raises(EventDataError, match="must be finite and have one shape"):
        axis_agreement(estimate, [[1.0]])
