"""Registered metrics."""

import json
import math
from dataclasses import dataclass
from typing import ClassVar

import pytest

import evcrisp
from evcrisp import ConfigError, Events, UnknownNameError
from evcrisp.metrics import METRICS, QualityMeter, aocc, block_entropy, esr, measure


class OnShareMeter:
    def __init__(self):
        self.n_on = self.n_events = 0

    def add(self, events):
        self.n_on += int(events.p.sum())
        self.n_events += len(events)

    def value(self):
        return self.n_on / self.n_events if self.n_events else math.nan


@dataclass(frozen=True)
class OnShare:
    name: ClassVar[str] = "on_share"
    title: ClassVar[str] = "ON share"

    def start(self, resolution):
        return OnShareMeter()


@pytest.fixture
def registered():
    METRICS.register(OnShare)
    yield
    METRICS.unregister("on_share")


def test_built_in_metrics_equal_functions(make_events):
    events = make_events(3000, (60, 40))
    expected = {
        "esr": esr(events, slice_events=500).esr,
        "esr_v2": esr(events, slice_events=500).esr_v2,
        "aocc": aocc(events).aocc,
        "entropy_bits": block_entropy(events),
    }
    assert list(METRICS) == list(expected)
    for name, value in expected.items():
        options = {"slice_events": 500} if name.startswith("esr") else {}
        assert measure([events[:999], events[999:]], name, **options) == pytest.approx(value)
        assert METRICS[name].name == name


def test_measure_accepts_name_class_and_object(make_events, registered):
    events = make_events(100)
    for metric in ("on_share", OnShare, OnShare()):
        assert measure(events, metric) == events.p.mean()
    assert math.isnan(measure([], OnShare))
    assert math.isnan(measure(Events.empty((4, 4)), "esr"))


def test_quality_includes_registered_metrics(make_events, registered):
    events = make_events(100)
    for metrics, names in ((None, ["on_share"]), ([], [])):
        meter = QualityMeter(events.resolution, measures_aocc=False, metrics=metrics)
        meter.add(events)
        quality = meter.quality()
        assert list(quality.extra) == names
        assert list(quality.as_dict())[11:] == names
    assert QualityMeter((4, 4)).quality().titles == {"on_share": "ON share"}


def test_unknown_metric_and_option_raise(make_events):
    with pytest.raises(UnknownNameError, match="Unknown metric 'esrr'. Did you mean 'esr'"):
        measure(make_events(3), "esrr")
    with pytest.raises(ConfigError, match="The metric 'aocc' has no option 'slice_us'"):
        measure(make_events(3), "aocc", slice_us=3)


def test_evaluate_shows_registered_metrics(make_events, registered, run, tmp_path):
    events = make_events(100)
    evcrisp.write(tmp_path / "a.npz", events)
    words = ("evaluate", tmp_path / "a.npz", "--no-aocc")
    facts = json.loads(run(*words, "--json").stdout)
    assert facts["quality"]["recording"]["on_share"] == events.p.mean()
    assert f"ON share{events.p.mean():>28.6g}" in run(*words).stdout
