"""Laws of all objectives in the registry."""

import numpy as np
import pytest

from evcrisp.core.errors import ConfigError
from evcrisp.objectives import (
    OBJECTIVES,
    Entropy,
    GradientMagnitude,
    MeanSquare,
    Normalized,
    Poisson,
    SumOfExponentials,
    Variance,
)

SHAPES = [(1, 1), (2, 3), (4, 4), (13, 9)]


def random_map(shape, seed=0):
    """Return a map like that of events: many empty pixels, few high ones."""
    rng = np.random.default_rng(seed)
    return rng.gamma(0.4, 2.0, shape) * (rng.uniform(size=shape) < 0.6)


@pytest.fixture(params=[*OBJECTIVES, "normalized"])
def objective(request):
    if request.param == "normalized":
        return Normalized(GradientMagnitude(), 0.3)
    return OBJECTIVES[request.param]()


def central_differences(objective, iwe, step):
    gradient = np.empty(iwe.shape)
    for index in np.ndindex(*iwe.shape):
        ahead, behind = iwe.copy(), iwe.copy()
        ahead[index] += step
        behind[index] -= step
        gradient[index] = (objective.value(ahead) - objective.value(behind)) / (2.0 * step)
    return gradient


@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_matches_central_differences(objective, shape):
    # Above 0, where every objective is smooth.
    iwe = 0.05 + random_map(shape, seed=1)
    # The likelihood has the largest error: 1e-5^2 / 6 times f''' of about 2 / r^3.
    np.testing.assert_allclose(
        objective.gradient(iwe), central_differences(objective, iwe, 1e-5), rtol=2e-6, atol=1e-9
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_value_and_gradient_are_consistent(objective, shape):
    iwe = random_map(shape, seed=2)
    value, gradient = objective.value_and_gradient(iwe)
    np.testing.assert_allclose(value, objective.value(iwe), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(gradient, objective.gradient(iwe))
    assert isinstance(value, float)
    assert isinstance(objective.value(iwe), float)


def test_gradient_can_replace_the_map(objective):
    iwe = random_map((7, 6), seed=3)
    value, gradient = objective.value_and_gradient(iwe.copy())
    other = np.empty((7, 6))
    assert objective.value_and_gradient(iwe, out=other)[1] is other
    np.testing.assert_array_equal(other, gradient)
    value_in_place, in_place = objective.value_and_gradient(iwe, out=iwe)
    assert in_place is iwe
    assert value_in_place == value
    np.testing.assert_array_equal(iwe, gradient)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros((7, 12))[:, ::2],
        lambda: np.zeros((6, 7)).T,
        lambda: np.zeros((14, 6))[::-2],
        lambda: np.zeros((7, 6), np.float32),
        lambda: np.zeros((1, 7, 6)),
    ],
)
def test_unsuitable_out_is_refused_and_unchanged(objective, make):
    iwe, out = random_map((7, 6), seed=3), make()
    with pytest.raises(ConfigError, match=r"`out` must be a C-contiguous float64.*\(7, 6\); got"):
        objective.value_and_gradient(iwe, out=out)
    assert not out.any()
    mirrored = np.asfortranarray(iwe)
    with pytest.raises(ConfigError, match="with gaps or in another order. Leave it out and copy"):
        objective.value_and_gradient(mirrored, out=mirrored)
    np.testing.assert_array_equal(mirrored, iwe)


def test_out_can_be_a_contiguous_part_of_an_array(objective):
    iwe, larger = random_map((7, 6), seed=3), np.zeros((3, 7, 6))
    objective.value_and_gradient(iwe, out=larger[1])
    np.testing.assert_array_equal(larger[1], objective.gradient(iwe))
    assert not larger[::2].any()


def test_map_is_not_modified(objective):
    iwe = random_map((7, 6), seed=4)
    before = iwe.copy()
    objective.value(iwe)
    objective.gradient(iwe)
    np.testing.assert_array_equal(iwe, before)


def test_strided_map_gives_the_same_result(objective):
    large = random_map((14, 12), seed=5)
    part = large[3:10, 2::2]
    assert objective.value(part) == objective.value(part.copy())
    np.testing.assert_array_equal(objective.gradient(part), objective.gradient(part.copy()))


@pytest.mark.parametrize("shape", [*SHAPES, (308, 394)])
@pytest.mark.parametrize("fill", [0.0, 1e-300, 1.0, 1e6, -2.0])
def test_constant_maps_have_finite_values(objective, shape, fill):
    value, gradient = objective.value_and_gradient(np.full(shape, fill))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert gradient.shape == shape


def test_concentrated_map_is_sharper(objective):
    flat_spot, sharp = np.zeros((16, 16)), np.zeros((16, 16))
    flat_spot[6:10, 6:10] = 1.0
    sharp[7:9, 7:9] = 4.0
    assert objective.value(sharp) > objective.value(flat_spot)


def test_mirrored_map_has_the_same_value(objective):
    iwe = random_map((9, 11), seed=6)
    for mirrored in (iwe[::-1], iwe[:, ::-1], iwe.T):
        np.testing.assert_allclose(objective.value(mirrored), objective.value(iwe), rtol=1e-12)


@pytest.mark.parametrize("kind", [Variance, GradientMagnitude])
def test_added_constant_changes_nothing(kind):
    objective, iwe = kind(), random_map((12, 10), seed=7)
    np.testing.assert_allclose(objective.value(iwe + 3.5), objective.value(iwe), rtol=1e-12)
    np.testing.assert_allclose(objective.gradient(iwe + 3.5), objective.gradient(iwe), atol=1e-14)
    flat = np.full((12, 10), 7.25)
    assert objective.value(flat) == 0.0
    np.testing.assert_allclose(objective.gradient(flat), 0.0, atol=1e-15)


@pytest.mark.parametrize("kind", [Variance, MeanSquare, Entropy, SumOfExponentials, Poisson])
def test_shifted_map_has_the_same_value(kind):
    iwe = random_map((12, 10), seed=8)
    moved = np.roll(iwe, (3, -2), axis=(0, 1))
    np.testing.assert_allclose(kind().value(moved), kind().value(iwe), rtol=1e-12)


def test_variance_is_precise_on_a_high_background():
    iwe = random_map((40, 50), seed=9)
    np.testing.assert_allclose(Variance().value(iwe + 1e6), np.var(iwe), rtol=1e-9)
    np.testing.assert_allclose(Variance().value(iwe), np.var(iwe), rtol=1e-13)
    np.testing.assert_allclose(MeanSquare().value(iwe), np.mean(iwe**2), rtol=1e-13)


def test_entropy_matches_its_definition_and_range():
    iwe = random_map((12, 10), seed=10)
    q = iwe[iwe > 0] / iwe.sum()
    np.testing.assert_allclose(Entropy().value(iwe), np.sum(q * np.log(q)), rtol=1e-4)
    np.testing.assert_allclose(Entropy(floor=1e-12).value(iwe), np.sum(q * np.log(q)), rtol=1e-9)
    one = np.zeros((12, 10))
    assert Entropy().value(one) == pytest.approx(-np.log(120))
    assert not Entropy().gradient(one).any()
    one[4, 4] = 1e3
    assert Entropy().value(one) == pytest.approx(0.0, abs=1e-8)
    # Pixels below 0 count as 0, in the value and in the gradient.
    below = iwe.copy()
    below[0, 0] = -3.0
    above = iwe.copy()
    above[0, 0] = 0.0
    assert Entropy().value(below) == Entropy().value(above)
    assert Entropy().gradient(below)[0, 0] == 0.0


def test_entropy_is_invariant_to_a_factor():
    iwe = random_map((12, 10), seed=11)
    exact = Entropy(floor=1e-12)
    np.testing.assert_allclose(exact.value(50.0 * iwe), exact.value(iwe), rtol=1e-8)


def test_exponential_is_linear_above_limit():
    soe = SumOfExponentials(limit=3.0)
    limit = np.full((1, 1), 3.0)
    np.testing.assert_allclose(soe.value(limit), np.exp(3.0), rtol=1e-14)
    np.testing.assert_allclose(soe.value(limit + 2.0), 3.0 * np.exp(3.0), rtol=1e-14)
    np.testing.assert_allclose(soe.gradient(limit + 2.0), np.exp(3.0), rtol=1e-14)
    np.testing.assert_allclose(soe.value(limit - 4.0), np.exp(-1.0), rtol=1e-14)
    huge = SumOfExponentials().value_and_gradient(np.full((2, 2), 1e12))
    assert np.isfinite(huge[0])


def test_likelihood_of_integer_counts_is_negative_binomial():
    stats = pytest.importorskip("scipy.stats", reason="reference implementation")
    counts = np.random.default_rng(12).poisson(0.8, (9, 8))
    r, beta = 0.1, 1.59
    expected = stats.nbinom(r, beta / (1.0 + beta)).logpmf(counts).mean()
    np.testing.assert_allclose(Poisson().value(counts.astype(float)), expected, rtol=1e-13)
    other = stats.nbinom(2.5, 0.25).logpmf(counts).mean()
    np.testing.assert_allclose(
        Poisson(r=2.5, beta=1.0 / 3.0).value(counts.astype(float)), other, rtol=1e-13
    )


def test_normalized_divides_by_magnitude_of_reference():
    blurred, sharp = random_map((9, 9), 13), 2.0 * random_map((9, 9), 14)
    normal = Normalized.of(Variance(), blurred)
    assert normal.value(blurred) == pytest.approx(1.0)
    assert normal.value(sharp) == pytest.approx(np.var(sharp) / np.var(blurred))
    # Larger is sharper also for negative objectives.
    below = Normalized.of(Entropy(), blurred)
    assert below.value(blurred) == pytest.approx(-1.0)
    assert (below.value(sharp) > -1.0) == (Entropy().value(sharp) > Entropy().value(blurred))
    # Without contrast the reference is 1.
    assert Normalized.of(Variance(), np.ones((3, 3))).reference == 1.0
    assert Normalized.of(Variance(), np.full((3, 3), np.nan)).reference == 1.0
    assert normal.accepts_signed
    assert not below.accepts_signed


def test_invalid_parameters_are_refused():
    with pytest.raises(ConfigError, match="`floor` must be between 0 and 1 event per px; got 0"):
        Entropy(floor=0.0)
    with pytest.raises(ConfigError, match="`limit` must be a number in 1..100; got 1000"):
        SumOfExponentials(limit=1000.0)
    with pytest.raises(ConfigError, match="`r` must be a number in 0.001..1000; got 0"):
        Poisson(r=0.0)
    with pytest.raises(ConfigError, match="`beta` must be a number in 0.001..1000; got nan"):
        Poisson(beta=float("nan"))
    with pytest.raises(ConfigError, match="`reference` must be a positive number; got 0"):
        Normalized(Variance(), 0.0)


def test_objectives_compare_by_value():
    for name, kind in OBJECTIVES.items():
        assert kind.name == name
        assert kind() == kind()
        assert hash(kind()) == hash(kind())
