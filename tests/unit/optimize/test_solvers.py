"""Every solver on functions with and without a known maximum."""

import math

import numpy as np
import pytest
from scipy import optimize

from evcrisp.core.errors import ConfigError
from evcrisp.core.status import Status
from evcrisp.optimize import SOLVERS, Adam, AdamState, Bfgs, Grid, Newton, QuasiRandom, halton
from evcrisp.optimize.bfgs import line_search
from evcrisp.optimize.protocol import CountedFunction


def quadratic(maximum, curvature):
    """Return a quadratic function with value 3 at its maximum ``maximum``."""
    maximum, matrix = np.asarray(maximum), np.asarray(curvature)

    def fun(theta):
        away = theta - maximum
        return 3.0 - 0.5 * float(away @ matrix @ away), -matrix @ away

    return fun


def random_quadratic(m, seed=0, condition=10.0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(m, m)))[0]
    matrix = axes @ np.diag(np.geomspace(0.2, 0.2 * condition, m)) @ axes.T
    maximum = rng.uniform(-3.0, 3.0, m)
    return quadratic(maximum, matrix), maximum


def gaussian(theta):
    """Return a Gaussian with maximum 1 at (2, -1)."""
    away = theta - np.array([2.0, -1.0])
    value = math.exp(-0.1 * float(away @ away))
    return value, -0.2 * value * away


def rosenbrock(theta):
    """Return minus the Rosenbrock function, with maximum at (1, 1)."""
    x, y = theta
    bend = y - x * x
    return -100.0 * bend**2 - (1.0 - x) ** 2, np.array(
        [400.0 * bend * x + 2.0 * (1.0 - x), -200.0 * bend]
    )


def constant(theta):
    return 1.5, np.zeros(theta.size)


def always_nan(theta):
    return math.nan, np.full(theta.size, math.nan)


def quadratic_with_nan(theta):
    """Return a quadratic with maximum at 1, and NaN above 2."""
    if theta[0] > 2.0:
        return math.nan, np.full(theta.size, math.nan)
    return -float(np.sum((theta - 1.0) ** 2)), -2.0 * (theta - 1.0)


@pytest.fixture(params=sorted(SOLVERS))
def solver(request):
    return SOLVERS[request.param]()


#: Largest distance of a result from the maximum, in units of the first step.
NEAR = {"adam": 0.02, "bfgs": 1e-4, "grid": 0.05, "nelder-mead": 1e-2, "newton": 1e-4}


def near(solver, m):
    # In more dimensions, a few hundred points per round are farther apart.
    return {"quasi-random": 0.02 * 2.0**m, "grid": 0.02 * 2.0**m}.get(
        solver.name, NEAR.get(solver.name, 0.0)
    )


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6, 8])
def test_quadratic_is_maximized_in_any_number_of_dimensions(solver, m):
    fun, maximum = random_quadratic(m, seed=m)
    result = solver.maximize(fun, np.zeros(m))
    assert np.abs(result.theta - maximum).max() < near(solver, m)
    assert result.status is Status.CONVERGED


def test_gaussian_is_maximized_from_its_slope(solver):
    result = solver.maximize(gaussian, np.array([0.0, 0.5]))
    np.testing.assert_allclose(result.theta, [2.0, -1.0], atol=0.05)
    assert result.value == pytest.approx(1.0, abs=1e-3)


def test_value_is_that_of_the_result(solver):
    result = solver.maximize(gaussian, np.array([0.0, 0.5]))
    assert result.value == gaussian(result.theta)[0]


def test_result_is_at_least_as_good_as_the_start(solver):
    for start in ([5.0, 5.0], [2.0, -1.0], [-4.0, 0.0]):
        result = solver.maximize(gaussian, np.array(start))
        assert result.value >= gaussian(np.array(start))[0]


def test_start_at_the_maximum_is_returned(solver):
    result = solver.maximize(gaussian, np.array([2.0, -1.0]))
    np.testing.assert_array_equal(result.theta, [2.0, -1.0])
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("m", [1, 2, 8])
def test_constant_function_is_flat_and_start_is_returned(solver, m):
    start = np.linspace(-1.0, 1.0, m)
    result = solver.maximize(constant, start)
    assert result.status is Status.FLAT
    np.testing.assert_array_equal(result.theta, start)


def test_function_that_is_always_nan_has_status_not_finite(solver):
    result = solver.maximize(always_nan, np.zeros(3))
    assert result.status is Status.NOT_FINITE
    np.testing.assert_array_equal(result.theta, np.zeros(3))


def test_region_of_nan_is_avoided(solver):
    result = solver.maximize(quadratic_with_nan, np.array([-1.0, 0.0]))
    np.testing.assert_allclose(result.theta, [1.0, 1.0], atol=0.05)
    assert math.isfinite(result.value)


def test_evaluations_are_counted(solver):
    calls = []

    def fun(theta):
        calls.append(theta.copy())
        return gaussian(theta)

    result = solver.maximize(fun, np.zeros(2))
    assert result.n_eval == len(calls) > 0


def test_start_is_unchanged_and_runs_are_repeatable(solver):
    start = np.array([0.5, 0.5])
    first, second = solver.maximize(gaussian, start), solver.maximize(gaussian, start)
    np.testing.assert_array_equal(start, [0.5, 0.5])
    np.testing.assert_array_equal(first.theta, second.theta)
    assert first.n_eval == second.n_eval


def test_missing_gradient_is_refused_by_solvers_that_need_it(solver):
    def fun(theta):
        return -float(theta @ theta), None

    if solver.needs_gradient:
        with pytest.raises(ConfigError, match="needs a gradient"):
            solver.maximize(fun, np.ones(2))
    else:
        np.testing.assert_allclose(solver.maximize(fun, np.ones(2)).theta, 0.0, atol=0.05)


def test_start_must_be_a_vector(solver):
    with pytest.raises(ConfigError, match="`theta0` must be a vector"):
        solver.maximize(gaussian, np.zeros((2, 2)))


@pytest.mark.parametrize("solver", [Bfgs(), Newton(max_iter=200)])
def test_rosenbrock_function_is_solved(solver):
    result = solver.maximize(rosenbrock, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(result.theta, [1.0, 1.0], atol=1e-5)


@pytest.mark.parametrize("name", ["grid", "quasi-random"])
@pytest.mark.parametrize("fun", [rosenbrock, quadratic([40.0, -25.0], np.diag([1.0, 0.3]))])
def test_maximum_beyond_all_boxes_is_not_converged(name, fun):
    result = SOLVERS[name]().maximize(fun, np.array([-1.2, 1.0]))
    assert np.linalg.norm(fun(result.theta)[1]) > 0.1  # not at a maximum
    assert result.status is Status.MAX_ITER


@pytest.mark.parametrize("solver", [Grid(rounds=1), QuasiRandom(rounds=2)])
def test_large_last_box_is_not_converged(solver):
    assert solver.maximize(gaussian, np.array([0.3, 0.5])).status is Status.MAX_ITER


@pytest.mark.parametrize("name", ["grid", "quasi-random"])
@pytest.mark.parametrize("m", [1, 2, 4, 6])
def test_boxes_that_contain_the_maximum_converge(name, m):
    for seed in range(5):
        fun, _ = random_quadratic(m, seed=100 + seed)
        assert SOLVERS[name]().maximize(fun, np.zeros(m)).status is Status.CONVERGED


def test_bfgs_agrees_with_scipy():
    fun, _ = random_quadratic(8, seed=3, condition=100.0)
    ours = Bfgs().maximize(fun, np.zeros(8))
    theirs = optimize.minimize(
        lambda theta: tuple(-part for part in fun(theta)), np.zeros(8), jac=True, method="BFGS"
    )
    assert ours.value >= -theirs.fun - 1e-9
    assert ours.n_eval <= 2 * theirs.nfev


def test_bfgs_with_true_curvature_needs_one_step():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    end = Bfgs().ascend(quadratic([1.0, 2.0], matrix), np.zeros(2), np.linalg.inv(matrix))
    assert end.n_eval == 2
    np.testing.assert_allclose(end.theta, [1.0, 2.0])


def test_bfgs_accepts_curvature_after_first_evaluation():
    matrix, calls = np.array([[2.0, 0.5], [0.5, 1.0]]), []
    slope = quadratic([1.0, 2.0], matrix)

    def fun(theta):
        calls.append(theta)
        return slope(theta)

    def inverse():
        assert len(calls) == 1
        return np.linalg.inv(matrix)

    end = Bfgs().ascend(fun, np.zeros(2), inverse)
    assert end.n_eval == len(calls) == 2
    np.testing.assert_allclose(end.theta, [1.0, 2.0])


def test_bfgs_estimates_the_curvature():
    fun, _ = random_quadratic(3, seed=5)
    matrix = -np.array([fun(axis)[1] - fun(np.zeros(3))[1] for axis in np.eye(3)])
    end = Bfgs(tol=0.0, tol_step=1e-9).ascend(fun, np.zeros(3))
    np.testing.assert_allclose(end.inverse_hessian, np.linalg.inv(matrix), rtol=0.2, atol=0.05)


def test_bfgs_stops_at_max_iter():
    assert Bfgs(max_iter=2).maximize(rosenbrock, np.array([-1.2, 1.0])).status is Status.MAX_ITER


def test_steps_are_at_most_max_step():
    seen = []

    def fun(theta):
        seen.append(theta.copy())
        return quadratic([100.0, 0.0], np.eye(2))(theta)

    Bfgs(max_step=0.5, max_iter=20).maximize(fun, np.zeros(2))
    steps = np.linalg.norm(np.diff(np.array(seen), axis=0), axis=1)
    assert steps.max() <= 0.5 + 1e-9


def test_first_step_of_bfgs_is_short_without_curvature():
    seen = []

    def fun(theta):
        seen.append(theta.copy())
        return quadratic([100.0, 0.0], 50.0 * np.eye(2))(theta)

    Bfgs(max_iter=1).maximize(fun, np.zeros(2))
    assert np.linalg.norm(seen[1] - seen[0]) <= 1.0
    seen.clear()
    Bfgs(max_iter=1, max_step=500.0).ascend(fun, np.zeros(2), np.eye(2) / 50.0)
    np.testing.assert_allclose(seen[1], [100.0, 0.0])


@pytest.mark.parametrize("start", [[6.0, -1.0], [2.0, 5.0], [8.0, 4.0], [-4.0, 0.0]])
def test_newton_maximizes_gaussian_from_positive_curvature(start):
    result = Newton().maximize(gaussian, np.array(start))
    np.testing.assert_allclose(result.theta, [2.0, -1.0], atol=1e-4)


def test_new_simplex_continues_after_degenerate_one():
    """On McKinnon's function, the simplex shrinks to a point with a gradient, (0, 0).

    K. McKinnon, "Convergence of the Nelder-Mead simplex method to a nonstationary point", SIAM
    Journal on Optimization 9, 1998, with tau = 2, theta = 6, phi = 60; the minimum is -1/4 at
    (0, -1/2).
    """
    root = math.sqrt(33.0)
    first = np.array([(1.0 + root) / 8.0, (1.0 - root) / 8.0])
    # Map the first simplex of the solver to that of the paper.
    matrix = (np.array([[0.0, 0.0], [1.0, 1.0]]) - first).T

    def fun(theta):
        x, y = first + matrix @ theta
        return -(6.0 * (60.0 if x < 0.0 else 1.0) * x * x + y + y * y), None

    degenerate, restarted = (
        SOLVERS["nelder-mead"](restarts=restarts).maximize(fun, np.zeros(2)) for restarts in (0, 1)
    )
    assert degenerate.value == pytest.approx(0.0, abs=1e-6)
    assert restarted.value == pytest.approx(0.25, abs=1e-6)
    assert SOLVERS["nelder-mead"]().maximize(fun, np.zeros(2)).value == restarted.value


def test_line_search_satisfies_wolfe_conditions():
    fun = CountedFunction(
        lambda theta: (-((theta[0] - 5.0) ** 2), np.array([-2.0 * (theta[0] - 5.0)]))
    )
    found = line_search(fun, np.zeros(1), -25.0, 1.0, np.array([0.1]), 1000.0)
    assert found is not None
    assert abs(2.0 * (0.1 * found.t - 5.0)) * 0.1 <= 0.9


def test_line_search_without_gain_returns_none():
    fun = CountedFunction(lambda theta: (-abs(theta[0]), -np.sign(theta)))
    assert line_search(fun, np.zeros(1), 0.0, 1.0, np.ones(1), 1.0) is None


def test_halton_points_are_evenly_distributed():
    points = halton(256, 3)
    assert points.min() > 0.0
    assert points.max() < 1.0
    counts = np.histogramdd(points, bins=4, range=[(0, 1)] * 3)[0]
    assert counts.min() >= 2  # random points would leave some of the 64 cells empty
    with pytest.raises(ConfigError, match="up to 12"):
        halton(10, 13)


def test_first_step_of_adam_has_length_rate():
    step = AdamState.zeros(3).step(np.array([1e-3, -5.0, 0.0]), 0.1)
    np.testing.assert_allclose(step, [0.1, -0.1, 0.0], rtol=1e-4)


@pytest.mark.parametrize("max_iter", [1, 5, 10, 50])
def test_adam_with_few_steps_is_not_converged(max_iter):
    end = Adam(max_iter=max_iter).maximize(
        lambda theta: (-float((theta[0] - 100.0) ** 2), -2.0 * (theta - 100.0)), np.zeros(1)
    )
    assert end.status is Status.MAX_ITER
    assert end.theta[0] > 0.0


def test_equal_values_across_a_maximum_are_not_flat():
    # A step of 1 leads to the same value on the other side.
    end = SOLVERS["nelder-mead"]().maximize(
        lambda theta: (-float((theta[0] - 0.5) ** 2), None), np.zeros(1)
    )
    assert end.status is Status.CONVERGED
    assert end.theta[0] == pytest.approx(0.5, abs=1e-3)


def test_adam_without_decay_finds_the_maximum():
    fun, maximum = random_quadratic(4, seed=4)
    result = Adam(decay=False, rate=0.05, max_iter=2000).maximize(fun, np.zeros(4))
    np.testing.assert_allclose(result.theta, maximum, atol=0.05)


def test_seed_changes_quasi_random_points():
    one, two = (QuasiRandom(seed=seed, rounds=1).maximize(gaussian, np.zeros(2)) for seed in (0, 1))
    assert not np.array_equal(one.theta, two.theta)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Adam(rate=0.0), "`rate`"),
        (lambda: Adam(max_iter=0), "`max_iter`"),
        (lambda: Bfgs(max_step=0.0), "`max_step`"),
        (lambda: Bfgs(tol=-1.0), "`tol`"),
        (lambda: Bfgs(max_iter=0), "`max_iter`"),
        (lambda: Grid(half_width=-1.0), "`half_width`"),
        (lambda: Grid(points=2), "`points`"),
        (lambda: Grid(tol_step=-1.0), "`tol_step`"),
        (lambda: QuasiRandom(tol=math.nan), "`tol`"),
        (lambda: Newton(difference=0.0), "`difference`"),
        (lambda: SOLVERS["nelder-mead"](step=0.0), "`step`"),
        (lambda: SOLVERS["nelder-mead"](restarts=-1), "`restarts`"),
        (lambda: QuasiRandom(shrink=0.0), "`shrink`"),
        (lambda: QuasiRandom(seed=-1), "`seed`"),
        (lambda: QuasiRandom(points=0), "`points`"),
    ],
)
def test_invalid_parameters_are_refused(make, match):
    with pytest.raises(ConfigError, match=match):
        make()
