"""Tuning on the training split."""

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, UnknownNameError
from evcrisp.experiments.methods import method_for
from evcrisp.experiments.tuning import SPACES, Training, tune

pytest.importorskip("optuna", reason="needs the extra `tune`")


@pytest.fixture(scope="module")
def training(dnd21):
    return Training.of(dnd21, 0.10, max_events=8000, seed=1)


def test_training_uses_first_part_only(dnd21):
    (events,) = Training.of(dnd21, 0.1, train_share=0.3).events
    whole = evcrisp.read(next((dnd21 / "hotel-bar").glob("*.aedat")))
    signal = events[events.signal]
    assert signal.t[-1] < whole.t[0] + 0.3 * whole.duration_us
    assert np.count_nonzero(~events.signal) == round(0.1 * len(signal))


def test_tuning_is_repeatable_and_not_worse_than_defaults(training):
    found, score = tune("ynoise", training, trials=6, seed=2)
    assert score >= training.score(method_for("ynoise"))
    assert training.score(method_for("ynoise").tuned("", "", found)) == pytest.approx(score)
    assert tune("ynoise", training, trials=6, seed=2) == (found, score)


def test_tuned_eja_drops_events(training):
    found, _ = tune("eja", training, trials=6, seed=0)
    assert 0.5 <= found["tau"] < 0.99


@pytest.mark.parametrize("key", SPACES)
def test_hyper_parameters_exist(key):
    method = method_for(key)
    middle = {
        name: round(0.5 * (where.low + where.high))
        if where.whole
        else 0.5 * (where.low + where.high)
        for name, where in SPACES[key].items()
    }
    assert method.tuned("", key, middle).missing() is None


def test_invalid_settings_raise(dnd21, training):
    with pytest.raises(ConfigError, match="'auto' declares no ranges of hyper-parameters"):
        tune("auto", training)
    with pytest.raises(UnknownNameError, match="Unknown method .* 'nope'"):
        tune("nope", training)
    with pytest.raises(ConfigError, match="`trials` must be a number, 1 or more"):
        tune("baf", training, trials=0)
    with pytest.raises(ConfigError, match="`train_share` must lie between 0 and 1"):
        Training.of(dnd21, 0.1, train_share=1.0)


@pytest.mark.parametrize(("share", "max_events"), [(0.0, None), (1e-6, 500)])
def test_training_without_noise_raises(dnd21, share, max_events):
    with pytest.raises(EventDataError, match="and 0 noise events; tuning needs both"):
        Training.of(dnd21, share, max_events=max_events)
