"""Odd values for every parameter of every registered part: our errors, or a part that works."""

import inspect
import logging
import warnings

import numpy as np
import pytest

import evcrisp
from evcrisp import EvError
from evcrisp.core.registry import build
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.filters import FILTERS
from evcrisp.io.registry import WRITERS
from evcrisp.metrics.registry import METRICS
from evcrisp.motion import MOTION_MODELS
from evcrisp.objectives.registry import OBJECTIVES
from evcrisp.optimize.registry import SOLVERS

ODD_VALUES = [
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1e-300, 1e300),
    *(float("nan"), float("inf"), -float("inf"), 2**31, 2**63, -(2**63), 10**30),
    *("", "x", "1", "auto", "\0", b"x", [], [1], (1, 2), {}, {"a": 1}),
    *(np.float64(2.5), np.int8(3), np.array([1.0, 2.0]), 1j, object(), int),
]

REGISTRIES = {
    "filter": FILTERS,
    "estimator": ESTIMATORS,
    "motion": MOTION_MODELS,
    "objective": OBJECTIVES,
    "solver": SOLVERS,
    "metric": METRICS,
    "output format": WRITERS,
}
PARTS = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]


def odd_parts(kind, name):
    """Yield (parameter, value, part) for values that are accepted."""
    registry = REGISTRIES[kind]
    for parameter in inspect.signature(registry[name]).parameters:
        for value in ODD_VALUES:
            try:
                yield parameter, value, build(registry, name, kind, **{parameter: value})
            except EvError:
                continue


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_odd_values_are_accepted_or_refused_with_our_errors(kind, name):
    for _ in odd_parts(kind, name):
        pass


@pytest.mark.parametrize("name", FILTERS)
def test_accepted_odd_values_label_all_events(name, make_events, caplog):
    caplog.set_level(logging.CRITICAL, "evcrisp")
    events = make_events(100, resolution=(16, 12), duration_us=5000)
    for _, _, part in odd_parts("filter", name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                labels = evcrisp.denoise(events, part)
            except EvError:  # such as a missing file of weights
                continue
        assert len(labels.signal) == len(events)
