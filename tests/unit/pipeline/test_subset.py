"""Search for the events of a part in a recording."""

import itertools

import numpy as np
import pytest

import evcrisp
from evcrisp.pipeline.evaluation import Subset


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(120, 90), theta=(250.0, -100.0), duration_us=60_000, noise_hz=20.0, seed=4
    ).events


@pytest.fixture(scope="module")
def labels(scene):
    return evcrisp.denoise(scene, "baf", tau_us=2000)


def test_subset_is_independent_of_chunking(scene, labels):
    rng = np.random.default_rng(3)
    coarse = evcrisp.Events(  # many events of one time, in another order
        x=scene.x, y=scene.y, t=scene.t // 1000, p=scene.p, resolution=scene.resolution
    )
    order = np.lexsort((coarse.x, coarse.t))
    turned = evcrisp.Events(
        x=coarse.x[order], y=coarse.y[order], t=coarse.t[order], p=coarse.p[order],
        resolution=scene.resolution,
    )  # fmt: skip
    part = turned[labels.signal[order]]
    for _ in range(20):
        cuts = [
            np.sort(rng.integers(0, len(events), rng.integers(0, 9))) for events in (coarse, part)
        ]
        assert missing(pieces(coarse, cuts[0]), pieces(part, cuts[1])) is None
        k = int(rng.integers(len(coarse)))
        (gone,) = (coarse[k : k + 1],)
        alike = (coarse.t == gone.t) & (coarse.x == gone.x) & (coarse.y == gone.y)
        rest = coarse[~alike]
        cut = np.sort(rng.integers(0, len(rest), rng.integers(0, 9)))
        found = missing(pieces(rest, cut), pieces(turned, cuts[1]))
        assert found == (int(gone.t[0]), int(gone.x[0]), int(gone.y[0]))


def pieces(events, cuts):
    edges = [0, *cuts.tolist(), len(events)]
    return [events[a:b] for a, b in itertools.pairwise(edges)]


def missing(whole, part):
    subset = Subset(iter(part))
    found = (subset.add(chunk) for chunk in whole)
    return next((stranger for stranger in found if stranger is not None), None) or subset.end()
