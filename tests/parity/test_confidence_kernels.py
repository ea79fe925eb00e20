"""Kernels of the joint problem compared with their oracles."""

import numpy as np
import pytest
from tests.oracles.joint import adam as adam_oracle
from tests.oracles.joint import confidence_map as oracle

from evcrisp.estimators.joint.confidence_map import JointTerms, solve_confidence
from evcrisp.kernels.joint import adam
from evcrisp.kernels.joint import confidence_map as kernels


def random_map(seed, shape=(23, 31), empty=0.2):
    rng = np.random.default_rng(seed)
    iwe = rng.gamma(0.5, 0.6, shape)
    iwe[rng.random(shape) < empty] = 0.0
    return iwe


#: alpha_hat, beta_hat and b_hat that reach lam = 0, lam = 1 and values between.
HATS = [
    (alpha, beta, b_ea)
    for alpha in (0.0, 0.1, 1.0, 50.0)
    for beta in (0.05, 0.5, 5.0)
    for b_ea in (10.0, 1.2, 0.5, 0.0)
]


def terms_of(iwe, alpha_hat, beta_hat, b_hat):
    unit = 0.7 * float(np.var(iwe))
    return JointTerms(
        alpha=alpha_hat * unit / iwe.size,
        beta=beta_hat / iwe.size,
        baseline_ea=b_hat * unit,
        baseline_ed=unit,
    )


@pytest.mark.parametrize(("alpha_hat", "beta_hat", "b_hat"), HATS)
def test_solution_equals_oracle(alpha_hat, beta_hat, b_hat):
    iwe = random_map(1)
    terms = terms_of(iwe, alpha_hat, beta_hat, b_hat)
    numbers = (terms.alpha, terms.beta, terms.baseline_ea, terms.baseline_ed)
    best = solve_confidence(iwe, terms)
    w, lam = oracle.solve_confidence(iwe, *numbers)
    np.testing.assert_allclose(best.lam, lam, atol=1e-10)
    np.testing.assert_allclose(best.w_map(), w, atol=1e-10)
    np.testing.assert_allclose(best.value, oracle.joint_value(iwe, w, *numbers), rtol=1e-11)
    np.testing.assert_allclose(best.at(iwe), w, atol=1e-10)
    slope = oracle.fill_slope(iwe, w, lam, terms.beta)
    np.testing.assert_allclose(best.slope(), slope, atol=1e-10 * np.abs(slope).max())


def test_cases_reach_all_three_regimes():
    iwe = random_map(1)
    lams = [solve_confidence(iwe, terms_of(iwe, *hats)).lam for hats in HATS]
    assert 0.0 in lams
    assert 1.0 in lams
    assert sum(0.0 < lam < 1.0 for lam in lams) > 5


def test_sums_equal_oracle():
    iwe = random_map(2).ravel()
    excess = np.empty_like(iwe)
    sums = kernels.fill_excess(iwe, 0.1, 0.3, excess)
    expected_excess, expected = oracle.fill_excess(iwe, 0.1)
    np.testing.assert_allclose(excess, expected_excess, rtol=1e-12)
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
    sums = kernels.weighted_sums(iwe, excess, 0.02, 0.8, 0.3)
    expected = oracle.weighted_sums(iwe, excess, 0.02, 0.8, 0.3)
    np.testing.assert_allclose(sums, expected, rtol=1e-12)


@pytest.mark.parametrize("kappa", [0.0, 0.3, 5.0])
def test_mean_and_value_sums_equal_oracle(kappa):
    iwe = random_map(6).ravel()
    excess = np.empty_like(iwe)
    mean, _, start, _ = kernels.fill_excess(iwe, 0.1, 0.3, excess)
    mu = kernels.solve_mean(iwe, excess, kappa, start, mean)[0]
    np.testing.assert_allclose(mu, oracle.solve_mean(iwe, 0.1, kappa), rtol=1e-10)
    sums = kernels.value_sums(iwe, excess, kappa * mu, 1.0 / (1.0 + kappa), mu)
    expected = oracle.value_sums(iwe, oracle.fill_confidence(iwe, 0.1, kappa, mu))
    np.testing.assert_allclose(sums, expected, rtol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_slope_and_sums_at_any_confidence_equal_oracle(lam):
    iwe = random_map(3)
    w = np.random.default_rng(4).random(iwe.shape)
    out = np.empty(iwe.size)
    means = (float(iwe.mean()), float((w * iwe).mean()))
    adam.fill_joint_slope(iwe.ravel(), w.ravel(), means, lam, 0.01, out)
    expected = adam_oracle.fill_joint_slope(iwe, w, lam, 0.01)
    np.testing.assert_allclose(out, expected.ravel(), atol=1e-15)
    sums = adam.joint_sums(iwe.ravel(), w.ravel(), 0.2)
    np.testing.assert_allclose(sums, adam_oracle.joint_sums(iwe, w), rtol=1e-12)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_adam_steps_equal_oracle(lam):
    iwe = random_map(5, shape=(6, 7)).ravel()
    alpha, beta, rate = 0.02, 0.05, 0.03
    w, first, second = np.ones(iwe.size), np.zeros(iwe.size), np.zeros(iwe.size)
    expected = w, first, second
    for t in range(1, 41):
        slope = adam_oracle.joint_slope_w(iwe, expected[0], alpha, beta, lam)
        expected = adam_oracle.adam_step(*expected, slope, t, rate)
        rates = (rate / (1 - 0.9**t), 1 / np.sqrt(1 - 0.999**t), 0.9, 0.999, 1e-16)
        mu = float((w * iwe).mean())
        adam.adam_step(iwe, w, first, second, (alpha, beta, lam, mu), rates)
    np.testing.assert_allclose(w, expected[0], atol=1e-12)
