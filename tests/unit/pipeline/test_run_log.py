"""Counts of a run: ranges of motions, models, layers."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import evcrisp
from evcrisp.core.doubt import Doubt
from evcrisp.core.status import Status
from evcrisp.motion import Translation
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.pipeline.run_log import RunLog

RECORDING = SimpleNamespace(damage=None)


@pytest.fixture(scope="module")
def result():
    scene = evcrisp.simulate(
        theta=(300.0, -120.0), resolution=(120, 90), duration_us=30_000, noise_hz=5.0, seed=1
    )
    return evcrisp.estimate(scene.events, "auto", "translation")


def facts_of(model, *results):
    log = RunLog(model)
    for result in results:
        log.add_window(result)
    facts = log.counts(RECORDING)
    json.dumps(facts, allow_nan=False)
    return facts


def test_range_holds_the_parameters_of_all_windows(result):
    other = replace(result, theta=np.array([-5.0, 40.0]))
    facts = facts_of(Translation(), result, other)
    vx, vy = result.theta
    assert facts["motion_range"] == {"vx [px/s]": [-5.0, vx], "vy [px/s]": [vy, 40.0]}
    assert facts["models"] == {"translation": 2}
    assert facts["layers"] == {"1": 2}


def test_windows_without_motion_do_not_count(result):
    lost = replace(result, theta=np.array([9e9, 9e9]), status=Status.TOO_FEW_EVENTS)
    facts = facts_of(Translation(), result, lost)
    assert facts["motion_range"]["vx [px/s]"] == [result.theta[0]] * 2
    assert facts["models"] == {"translation": 1}
    assert facts_of(Translation(), lost)["motion_range"] == {}
    assert facts_of(Translation())["window_length_us"] is None


def test_doubtful_windows_do_not_widen_the_reliable_range(result):
    doubtful = replace(result, theta=np.array([-9e3, 7e3]), doubts=(Doubt.CHANCE,))
    ends = [result.theta[0]] * 2
    for model in (Translation(), OpenMotion()):
        facts = facts_of(model, result, doubtful)
        np.testing.assert_allclose(facts["reliable_motion_range"]["vx [px/s]"], ends)
        assert facts["motion_range"]["vx [px/s]"][0] == pytest.approx(-9e3)
        first, second, joined = RunLog(model), RunLog(model), RunLog(model)
        first.add_window(result)
        second.add_window(doubtful)
        for part in (first, second):
            joined.merge(json.loads(json.dumps(part.state())))
        for name in ("motion_range", "reliable_motion_range"):
            assert joined.counts(RECORDING)[name] == facts[name]
    assert facts_of(Translation(), doubtful)["reliable_motion_range"] == {}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_do_not_count(result, value):
    facts = facts_of(Translation(), replace(result, theta=np.array([value, 1.0])))
    assert facts["motion_range"] == {"vy [px/s]": [1.0, 1.0]}


def test_open_motion_has_velocities_of_layers_with_events(result):
    facts = facts_of(OpenMotion(), result)
    np.testing.assert_allclose(facts["motion_range"]["vx [px/s]"], result.theta[0])
    empty = replace(result, signal=np.zeros(len(result), bool))
    assert facts_of(OpenMotion(), empty)["motion_range"] == {}
