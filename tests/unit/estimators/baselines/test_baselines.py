"""Parts and parameters of the baseline estimators."""

import math

import numpy as np
import pytest
from tests.unit.search.windows import data_of

from evcrisp import Events, Window
from evcrisp.core.errors import ConfigError, UnknownNameError
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.baselines.eja import Eja, largest
from evcrisp.estimators.baselines.entropy import Entropy, PointCloud
from evcrisp.estimators.baselines.sequential import Sequential
from evcrisp.motion import motion_model
from evcrisp.search.window_data import WindowData


def test_largest_values_are_selected_and_ties_keep_their_order():
    values = np.array([2.0, 5.0, 2.0, 2.0, 1.0])
    assert largest(values, 3)[0].tolist() == [True, True, True, False, False]
    assert largest(values, 0)[0].sum() == 0
    assert largest(values, 99)[0].all()
    assert largest(np.empty(0), 3)[0].size == 0


@pytest.mark.parametrize("polarity", [True, False])
@pytest.mark.parametrize("dispersion", ["shannon", "renyi"])
@pytest.mark.parametrize("motion", ["translation", "rotation"])
def test_point_cloud_gradient_matches_differences(motion, dispersion, polarity):
    scene, data = data_of(motion)
    cloud = PointCloud.from_data(data, 1.5, polarity)
    theta = 0.8 * scene.theta(0, 20_000)
    _, gradient = cloud.negated_dispersion(theta, dispersion)
    numeric = []
    for step in np.diag(1e-5 * np.maximum(1.0, np.abs(theta))):
        ahead, behind = (
            cloud.negated_dispersion(theta + sign * step, dispersion)[0] for sign in (1.0, -1.0)
        )
        numeric.append((ahead - behind) / (2.0 * step.sum()))
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5)


def test_density_on_grid_matches_sum_over_pairs():
    rng = np.random.default_rng(8)
    n, sigma = 300, 2.0
    x, y = rng.integers(10, 50, n), rng.integers(10, 40, n)
    t, p = np.sort(rng.integers(0, 10_000, n)), rng.random(n) < 0.5
    events = Events(x=x, y=y, t=t, p=p, resolution=(64, 48))
    data = WindowData.of(Window(events, 0, 10_000), motion_model("translation", (64, 48)))
    theta = np.array([400.0, -250.0])
    u, v = data.warp.warp(theta)
    square = (u[:, None] - u) ** 2 + (v[:, None] - v) ** 2
    pairs = np.exp(-0.5 * square / sigma**2) / (2.0 * np.pi * sigma**2)
    pairs[p[:, None] != p] = 0.0
    np.fill_diagonal(pairs, 0.0)
    density = PointCloud.from_data(data, sigma, polarity=True).density_of_others(theta)
    np.testing.assert_allclose(density, pairs.sum(axis=1), atol=0.01 * pairs.sum(axis=1).max())


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Eja(tol_px=math.nan), "`tol_px` must be a number, 0 or more; got nan"),
        (lambda: Eja(tol_px=-0.1), "`tol_px`.*got -0.1"),
        (lambda: Eja(rate=math.inf), "`rate` must be a positive number; got inf"),
        (lambda: Cmax(polarity="signed", objective="poisson"), "'poisson' needs counts"),
        (lambda: Cmax(multi_reference=True, objective="entropy"), "'entropy' is below"),
        (lambda: Cmax(start="random"), "`start` must be one of 'search', 'zero'"),
        (lambda: Eja(tau=0.0), "`tau`"),
        (lambda: Eja(inner="lbfgs"), "`inner` must be one of 'adam-1', 'bfgs'"),
        (lambda: Eja(score_from="noise"), "`score_from`"),
        (lambda: Eja(rate=-1.0), "`rate`"),
        (lambda: Eja(max_rounds=0), "`max_rounds`"),
        (lambda: Eja(seed=-1), "`seed`"),
        (lambda: Entropy(dispersion="tsallis"), "`dispersion` must be one of"),
        (lambda: Entropy(sigma_px=0.5), "`sigma_px`"),
        (lambda: Entropy(max_iter=0), "`max_iter`"),
        (lambda: Sequential(filter_options={"tau": 5}), "has no option 'tau'"),
    ],
)
def test_invalid_parameters_are_refused(make, match):
    with pytest.raises(ConfigError, match=match):
        make()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Cmax(objective="varience"), "Did you mean 'variance'"),
        (lambda: Cmax(solver="newto"), "Did you mean 'newton'"),
        (lambda: Cmax(polarity="unsiged"), "Did you mean 'unsigned'"),
        (lambda: Eja(objective="sharp"), "Unknown objective"),
        (lambda: Sequential(filter="bat"), "Did you mean"),
    ],
)
def test_unknown_names_list_the_known_ones(make, match):
    with pytest.raises(UnknownNameError, match=match):
        make()
