"""Laws of the best confidence map, for random maps and parameters."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evcrisp.estimators.joint.confidence_map import JointTerms, solve_confidence

seeds = st.integers(0, 2**32 - 1)
hats = st.tuples(
    st.one_of(st.just(0.0), st.floats(1e-3, 1e3)),  # alpha
    st.floats(1e-2, 1e2),  # beta
    st.floats(0.0, 20.0),  # b
)


def random_map(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 25, 2))
    iwe = rng.gamma(rng.uniform(0.2, 3.0), 1.0, shape)
    return np.where(rng.random(shape) < rng.random(), iwe, 0.0)


def terms_of(iwe, values):
    alpha, beta, b = values
    unit = float(np.var(iwe)) or 1.0
    return JointTerms(
        alpha=alpha * unit / iwe.size,
        beta=beta / iwe.size,
        baseline_ea=b * unit,
        baseline_ed=0.5 * unit,
    )


@settings(max_examples=150, deadline=None)
@given(seeds, hats)
def test_duality_gap_is_zero(seed, values):
    iwe = random_map(seed)
    best = solve_confidence(iwe, terms_of(iwe, values))
    scale = abs(best.f_ea) + abs(best.f_ed) + best.penalty + abs(best.value)
    assert abs(best.gap) <= 1e-9 * scale


@settings(max_examples=100, deadline=None)
@given(seeds, hats)
def test_weighted_variance_does_not_rise_with_multiplier(seed, values):
    iwe = random_map(seed)
    terms = terms_of(iwe, values)
    lams = np.linspace(0.0, 1.0, 9)
    variances = [solve_confidence(iwe, terms, lam=lam).f_ed for lam in lams]
    assert (np.diff(variances) <= 1e-11 * (1.0 + max(variances))).all()


@settings(max_examples=100, deadline=None)
@given(seeds, hats, st.floats(1e-3, 1e3))
def test_confidence_does_not_depend_on_number_of_events(seed, values, factor):
    iwe = random_map(seed)
    one = solve_confidence(iwe, terms_of(iwe, values))
    many = solve_confidence(factor * iwe, terms_of(factor * iwe, values))
    np.testing.assert_allclose(many.w_map(), one.w_map(), atol=1e-6)
    # If W = 0 and the regrets are equal, every multiplier is a solution.
    terms = terms_of(iwe, values)
    gap = (terms.baseline_ea - one.f_ea) - (one.f_ed - terms.baseline_ed)
    if one.w_map().any() or abs(gap) > 1e-9 * one.f_ea:
        assert abs(many.lam - one.lam) <= 1e-6


@settings(max_examples=100, deadline=None)
@given(seeds, hats)
def test_confidence_does_not_depend_on_number_of_pixels(seed, values):
    iwe = random_map(seed)
    twice = np.concatenate((iwe, iwe))
    one = solve_confidence(iwe, terms_of(iwe, values)).w_map()
    two = solve_confidence(twice, terms_of(twice, values)).w_map()
    np.testing.assert_allclose(two, np.concatenate((one, one)), atol=1e-6)


@settings(max_examples=100, deadline=None)
@given(seeds, hats)
def test_labels_are_a_threshold_on_the_map_at_zero_multiplier(seed, values):
    iwe = random_map(seed)
    terms = terms_of(iwe, values)
    best = solve_confidence(iwe, terms, lam=0.0)
    threshold = np.sqrt(2.0 * terms.squared_threshold)
    clear = np.abs(iwe - threshold) > 1e-9 * (1.0 + threshold)
    np.testing.assert_array_equal(best.w_map()[clear] > 0.5, iwe[clear] > threshold)


@settings(max_examples=100, deadline=None)
@given(seeds, hats)
def test_value_does_not_depend_on_order_of_pixels(seed, values):
    iwe = random_map(seed)
    terms = terms_of(iwe, values)
    shuffled = np.random.default_rng(1).permutation(iwe.ravel()).reshape(iwe.shape[::-1])
    one, other = solve_confidence(iwe, terms).value, solve_confidence(shuffled, terms).value
    assert abs(one - other) <= 1e-10 * (1.0 + abs(one))
