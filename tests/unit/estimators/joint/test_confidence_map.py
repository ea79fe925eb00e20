"""The best confidence map: regimes, limits and errors."""

import dataclasses

import numpy as np
import pytest
from tests.oracles.joint.confidence_map import joint_value

from evcrisp import ConfigError
from evcrisp.estimators.joint.confidence_map import JointTerms, solve_confidence


def terms(alpha=0.01, beta=0.02, baseline_ea=9.0, baseline_ed=1.0):
    return JointTerms(alpha=alpha, beta=beta, baseline_ea=baseline_ea, baseline_ed=baseline_ed)


def random_map(seed=0, shape=(12, 9)):
    return np.random.default_rng(seed).gamma(0.5, 0.6, shape)


def paper_value(iwe, w, constants):
    return joint_value(iwe, w, *dataclasses.astuple(constants))


def test_confidence_is_a_soft_threshold_at_zero_multiplier():
    iwe = random_map()
    best = solve_confidence(iwe, terms())
    assert best.lam == 0.0
    np.testing.assert_allclose(best.w_map(), np.maximum(1.0 - 0.25 / iwe**2, 0.0), atol=1e-14)


def test_regime_changes_where_regrets_are_equal():
    iwe = random_map()
    at_zero = solve_confidence(iwe, terms(), lam=0.0)
    at_one = solve_confidence(iwe, terms(), lam=1.0)
    # b_EA at which r_EA = r_ED, for lam = 0 and for lam = 1
    upper = at_zero.f_ed - 1.0 + at_zero.f_ea
    lower = at_one.f_ed - 1.0 + at_one.f_ea
    assert lower < upper
    assert solve_confidence(iwe, terms(baseline_ea=upper + 1e-9)).lam == 0.0
    assert 0.0 < solve_confidence(iwe, terms(baseline_ea=upper - 1e-6)).lam < 0.01
    assert 0.99 < solve_confidence(iwe, terms(baseline_ea=lower + 1e-6)).lam < 1.0
    assert solve_confidence(iwe, terms(baseline_ea=lower - 1e-9)).lam == 1.0


def test_regrets_are_equal_between_the_regimes():
    iwe = random_map()
    upper = solve_confidence(iwe, terms(), lam=0.0)
    lower = solve_confidence(iwe, terms(), lam=1.0)
    middle = 0.5 * (upper.f_ed + lower.f_ed) - 1.0 + upper.f_ea
    regret = solve_confidence(iwe, terms(baseline_ea=middle)).regret()
    assert 0.0 < regret.lam < 1.0
    assert regret.regret_ea == pytest.approx(regret.regret_ed, abs=1e-12)


@pytest.mark.parametrize("baseline_ea", [9.0, 0.4, 0.0])
def test_random_changes_do_not_improve_the_solution(baseline_ea):
    iwe, rng = random_map(), np.random.default_rng(1)
    constants = terms(baseline_ea=baseline_ea, baseline_ed=0.1)
    best = solve_confidence(iwe, constants)
    w = best.w_map()
    assert paper_value(iwe, w, constants) == pytest.approx(best.value, rel=1e-12)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            other = np.clip(w + size * rng.standard_normal(w.shape), 0.0, 1.0)
            assert paper_value(iwe, other, constants) >= best.value - 1e-13


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("baseline_ea", [9.0, 0.4, 0.2, 0.0])
def test_slope_equals_numerical_derivative(alpha, baseline_ea):
    iwe = random_map(shape=(5, 4)) + 0.05
    constants = terms(alpha=alpha, baseline_ea=baseline_ea, baseline_ed=0.1)
    slope = solve_confidence(iwe, constants).slope()
    step = 1e-6
    for index in np.ndindex(iwe.shape):
        ahead, behind = iwe.copy(), iwe.copy()
        ahead[index] += step
        behind[index] -= step
        rise = solve_confidence(ahead, constants).value - solve_confidence(behind, constants).value
        assert slope[index] == pytest.approx(rise / (2 * step), abs=2e-8)


@pytest.mark.parametrize("baseline_ea", [9.0, 0.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 1e300])
@pytest.mark.parametrize(
    "iwe",
    [
        np.zeros((4, 4)),
        np.ones((4, 4)),
        np.full((1, 1), 0.3),
        np.eye(5),
        1e-170 * np.eye(3),
        1e100 * np.eye(3),
        np.array([[5e-324, 1.0]]),
        np.pad(np.full((2, 2), 7.0), 20),
    ],
    ids=["empty", "constant", "one pixel", "sparse", "tiny", "huge", "denormal", "padded"],
)
def test_extreme_maps_give_finite_results(iwe, alpha, baseline_ea):
    best = solve_confidence(iwe, terms(alpha=alpha, baseline_ea=baseline_ea))
    w = best.w_map()
    assert ((w >= 0.0) & (w <= 1.0)).all()
    assert (w[iwe == 0.0] == 0.0).all()
    assert np.isfinite(best.slope()).all()
    assert np.isfinite([best.value, best.mu, best.f_ed]).all()
    assert 0.0 <= best.lam <= 1.0
    assert abs(best.gap) <= 1e-12 * max(1.0, abs(best.value))


def test_large_alpha_gives_zero_confidence():
    best = solve_confidence(random_map(), terms(alpha=1e9))
    assert not best.w_map().any()
    assert best.f_ed == 0.0


def test_zero_alpha_gives_full_confidence_at_events():
    iwe = np.array([[0.0, 0.5], [1.0, 2.0]])
    best = solve_confidence(iwe, terms(alpha=0.0))
    np.testing.assert_array_equal(best.w_map(), [[0.0, 1.0], [1.0, 1.0]])


def test_fixed_multiplier_is_used():
    best = solve_confidence(random_map(), terms(), lam=0.3)
    assert best.lam == 0.3
    assert best.mixture(0.3) <= solve_confidence(random_map(), terms(), lam=0.0).mixture(0.3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"beta": 0.0}, "`beta` must be a positive number; got 0.0. With `beta=0`"),
        ({"alpha": -1.0}, "`alpha` must be a number, 0 or more; got -1.0."),
        ({"baseline_ea": float("nan")}, "`baseline_ea` must be a finite number; got nan."),
        ({"baseline_ed": float("inf")}, "`baseline_ed` must be a finite number; got inf."),
    ],
)
def test_invalid_constants_raise(params, message):
    with pytest.raises(ConfigError, match=message):
        terms(**params)
