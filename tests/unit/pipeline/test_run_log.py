"""Counts of a run: ranges of motions, models, layers."""

import json
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import evcrisp
from evcrisp.core.doubt import Doubt
from evcrisp.core.status import Status
from evcrisp.io.arrays.npz import NpzPacker
from evcrisp.motion import Translation
from evcrisp.motion.open_motion import OpenMotion
from evcrisp.pipeline.run_log import LabelsFile, RunLog

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


@pytest.mark.parametrize("n_expected", [None, 0, 6, 9, 10, 11, 2000])
def test_labels_do_not_depend_on_the_number_that_was_expected(tmp_path, n_expected):
    rng = np.random.default_rng(0)
    names = ("signal", "score", "confidence")
    rows = {name: rng.random(10).astype("?" if name == "signal" else "f4") for name in names}
    path = tmp_path / "labels.npz"
    with closing(LabelsFile(path, (8, 4), n_expected)) as labels:
        for part in (slice(6), slice(6, 9), slice(9, 10)):
            labels.write({name: column[part] for name, column in rows.items()})
        labels.finish()
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npz"]
    expected = NpzPacker(tmp_path / "expected.npz")
    expected.append(rows)
    expected.pack({})
    assert path.read_bytes() == (tmp_path / "expected.npz").read_bytes()


@pytest.mark.parametrize("n_expected", [None, 0, 5])
def test_labels_of_no_events_are_empty_columns(tmp_path, n_expected):
    with closing(LabelsFile(tmp_path / "labels.npz", (8, 4), n_expected)) as labels:
        labels.finish()
    with np.load(tmp_path / "labels.npz") as found:
        assert {name: column.shape for name, column in found.items()} == {
            "signal": (0,), "score": (0,), "confidence": (0,),
        }  # fmt: skip
