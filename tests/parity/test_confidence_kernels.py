"""The best confidence map and Adam's steps against their plain twins."""

import numpy as np
import pytest
from tests.oracles.joint import adam as reference_adam_joint
from tests.oracles.joint import confidence_map as reference_confidence

from evcrisp.estimators.joint.confidence_map import JointTerms, solve_confidence
from evcrisp.kernels.joint import adam as adam_joint
from evcrisp.kernels.joint import confidence_map as kernels


def some_map(seed, shape=(23, 31), empty=0.2):
    rng = np.random.default_rng(seed)
    iwe = rng.gamma(0.5, 0.6, shape)
    iwe[rng.random(shape) < empty] = 0.0
    return iwe


#: alpha_hat, beta_hat and b_hat that lead to every regime.
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
def test_the_best_confidence_is_that_of_the_reference(alpha_hat, beta_hat, b_hat):
    iwe = some_map(1)
    terms = terms_of(iwe, alpha_hat, beta_hat, b_hat)
    numbers = (terms.alpha, terms.beta, terms.baseline_ea, terms.baseline_ed)
    best = solve_confidence(iwe, terms)
    w, lam = reference_confidence.best_confidence(iwe, *numbers)
    np.testing.assert_allclose(best.lam, lam, atol=1e-10)
    np.testing.assert_allclose(best.w_map(), w, atol=1e-10)
    np.testing.assert_allclose(
        best.value, reference_confidence.joint_value(iwe, w, *numbers), rtol=1e-11
    )
    np.testing.assert_allclose(best.at(iwe), w, atol=1e-10)


def test_the_cases_reach_all_three_regimes():
    iwe = some_map(1)
    lams = [solve_confidence(iwe, terms_of(iwe, *hats)).lam for hats in HATS]
    assert 0.0 in lams
    assert 1.0 in lams
    assert sum(0.0 < lam < 1.0 for lam in lams) > 5


def test_sums_of_the_weighted_map_are_those_of_numpy():
    iwe = some_map(2).ravel()
    excess = np.empty_like(iwe)
    mean, variance, mean_y, variance_y = kernels.fill_excess(iwe, 0.1, 0.3, excess)
    lowest = np.maximum(excess, 0.0)
    expected = (iwe.mean(), iwe.var(), lowest.mean(), lowest.var())
    np.testing.assert_allclose((mean, variance, mean_y, variance_y), expected, rtol=1e-12)
    raw = (excess + 0.02) * 0.8
    y = np.clip(raw, 0.0, iwe)
    free = (raw > 0.0) & (raw < iwe)
    expected = ((y - 0.3).sum(), ((y - 0.3) ** 2).sum(), free.sum(), y[free].sum())
    sums = kernels.weighted_sums(iwe, excess, 0.02, 0.8, 0.3)
    np.testing.assert_allclose(sums[:4], expected, rtol=1e-12)
    np.testing.assert_allclose(sums[4], (y[free] ** 2).sum(), rtol=1e-12)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_slopes_at_any_confidence_are_those_of_the_reference(lam):
    iwe = some_map(3)
    w = np.random.default_rng(4).random(iwe.shape)
    out = np.empty(iwe.size)
    around = (float(iwe.mean()), float((w * iwe).mean()))
    adam_joint.fill_joint_slope(iwe.ravel(), w.ravel(), around, lam, 0.01, out)
    slope_m, _ = reference_adam_joint.joint_slopes(iwe, w, 0.02, 0.01, lam)
    np.testing.assert_allclose(out, slope_m.ravel(), atol=1e-15)
    sums = adam_joint.joint_sums(iwe.ravel(), w.ravel(), 0.2)
    y = w * iwe
    expected = (iwe.mean(), iwe.var(), y.mean(), y.var(), w.sum(), ((y - iwe) ** 2).sum())
    np.testing.assert_allclose(sums, expected, rtol=1e-12)


@pytest.mark.parametrize("lam", [0.0, 1.0])
def test_steps_of_adam_are_those_of_the_reference(lam):
    iwe = some_map(5, shape=(6, 7))
    alpha, beta, rate = 0.02, 0.05, 0.03
    expected = reference_adam_joint.adam_steps(
        lambda w: reference_adam_joint.joint_slopes(iwe, w, alpha, beta, lam)[1],
        np.ones(iwe.shape),
        40,
        rate,
    )
    w, first, second = np.ones(iwe.size), np.zeros(iwe.size), np.zeros(iwe.size)
    for t in range(1, 41):
        mu = float((w * iwe.ravel()).mean())
        rates = (rate / (1 - 0.9**t), 1 / np.sqrt(1 - 0.999**t), 0.9, 0.999, 1e-16)
        adam_joint.adam_step(iwe.ravel(), w, first, second, (alpha, beta, lam, mu), rates)
    np.testing.assert_allclose(w, expected.ravel(), atol=1e-12)
