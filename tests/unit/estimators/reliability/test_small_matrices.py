"""Closed forms for two parameters equal those of any number."""

import numpy as np
import pytest

from evcrisp.estimators.reliability.small_matrices import inverse_product, symmetric_axes


@pytest.mark.parametrize("m", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(5))
def test_axes_and_products_equal_linear_algebra(m, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, m)) * 10.0 ** rng.uniform(-3, 3)
    matrix, vector = root @ root.T, rng.normal(size=m)
    values, axes = symmetric_axes(matrix)
    wanted, _ = np.linalg.eigh(matrix)
    np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-12 * wanted[-1])
    np.testing.assert_allclose(axes.T @ axes, np.eye(m), atol=1e-12)
    np.testing.assert_allclose((axes * values) @ axes.T, matrix, atol=1e-12 * wanted[-1])
    expected = vector @ np.linalg.solve(matrix, vector)
    assert inverse_product(matrix, vector) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "matrix",
    [np.zeros((2, 2)), np.eye(2), np.diag((3.0, 1.0)), np.diag((1.0, 3.0)), -np.ones((2, 2))],
)
def test_axes_of_special_matrices(matrix):
    values, axes = symmetric_axes(matrix)
    assert values[0] <= values[1]
    np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-15)
    np.testing.assert_allclose((axes * values) @ axes.T, matrix, atol=1e-14)


def test_nothing_has_no_product():
    assert inverse_product(np.empty((0, 0)), np.empty(0)) == 0.0
