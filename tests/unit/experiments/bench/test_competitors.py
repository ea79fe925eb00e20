"""Adapters of other programs: labels equal those of the program, or of its rule in evcrisp."""

import sys
import types
from datetime import timedelta

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, EventDataError, Events, MissingExtraError
from evcrisp.experiments.bench.competitors import COMPETITORS
from evcrisp.experiments.bench.competitors.live import kept_of
from evcrisp.experiments.bench.competitors.networks import Edformer, public_mlpf
from evcrisp.experiments.bench.options import bench_methods


@pytest.fixture
def events(make_events):
    return make_events(5000, resolution=(40, 30), duration_us=50_000, t_start=1_000_000)


@pytest.mark.parametrize(
    ("name", "program", "arguments"),
    [
        ("dv-baf", "BackgroundActivityNoiseFilter", (timedelta(microseconds=2000),)),
        ("dv-fastdecay", "FastDecayNoiseFilter", (timedelta(microseconds=10_000), 4, 6.0)),
        ("dv-knoise", "KNoiseFilter", (timedelta(microseconds=1000),)),
    ],
)
def test_dv_filters_keep_what_dv_processing_keeps(events, name, program, arguments):
    dv = pytest.importorskip("dv_processing", reason="dv-processing is the competitor")
    config = COMPETITORS[name]()
    labels = evcrisp.denoise(events, config)
    other = getattr(dv.noise, program)(events.resolution, *arguments)
    other.accept(events.to_dv())
    kept = Events.from_dv(other.generateEvents(), events.resolution)
    assert 0 < len(kept) < len(events)
    assert events[labels.signal].equals(kept)
    assert config.package.startswith("dv-processing ")


def test_eventcv_filter_equals_its_rule(events):
    pytest.importorskip("eventcv", reason="eventcv is the competitor")
    labels = evcrisp.denoise(events, COMPETITORS["eventcv-baf"](tau_us=500))
    ours = evcrisp.denoise(events, "baf", tau_us=500)
    np.testing.assert_array_equal(labels.signal, ours.signal)


def test_eventcv_motion_is_that_of_the_scene():
    pytest.importorskip("eventcv", reason="eventcv is the competitor")
    scene = evcrisp.simulate(
        resolution=(160, 120), theta=(200.0, -80.0), duration_us=30_000, seed=1
    )
    result = evcrisp.estimate(scene.events, COMPETITORS["eventcv-cmax"](), "translation")
    assert scene.warp_error_px(result.theta, 0, 30_000) < 1.0
    nothing = evcrisp.estimate(scene.events[:1], COMPETITORS["eventcv-cmax"](), "translation")
    assert nothing.theta.tolist() == [0.0, 0.0]


def test_tonic_adapter_passes_its_array_and_reads_its_result(events, monkeypatch):
    """A stand-in with the interface of tonic 1.7; it keeps every third event."""

    class Denoise:
        def __init__(self, filter_time):
            self.filter_time = filter_time

        def __call__(self, table):
            assert table.dtype.names == ("x", "y", "t", "p")
            assert self.filter_time == 10_000.0
            return table[::3]

    package, module = types.ModuleType("tonic"), types.ModuleType("tonic.transforms")
    module.Denoise = Denoise
    monkeypatch.setitem(sys.modules, "tonic", package)
    monkeypatch.setitem(sys.modules, "tonic.transforms", module)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.7.0")
    config = COMPETITORS["tonic-denoise"]()
    assert config.package == "tonic 1.7.0"
    labels = evcrisp.denoise(events, config)
    np.testing.assert_array_equal(np.flatnonzero(labels.signal), np.arange(0, len(events), 3))


def test_missing_program_is_left_out_or_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "dv_processing", None)
    rows, notes = bench_methods(None)
    assert not any(row.key.startswith("dv-") for row in rows)
    assert sum("need the package 'dv_processing'" in note for note in notes) == 3
    with pytest.raises(MissingExtraError):
        bench_methods(["dv-baf"])


def test_kept_events_must_be_a_part_of_the_recording(events):
    signal = np.arange(len(events)) % 7 > 2
    found = kept_of(events, events[signal])
    assert events[found].equals(events[signal])
    with pytest.raises(EventDataError, match="not in the recording"):
        kept_of(events[:10], events[20:30])


def test_mlpf_with_weights_by_path():
    from importlib import resources

    path = str(resources.files("evcrisp").joinpath("weights", "mlpf.npz"))
    (_, row), _ = bench_methods([f"mlpf:{path}"])
    assert row.config()["encoding"] == "kugamas"
    assert row.family == "competitors"
    assert public_mlpf(path).weights == path


EDFORMER = """
import torch

class EDformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.zeros(1))

    def forward(self, events):
        assert events.shape[0] == 1 and events.shape[2] == 4
        assert events.shape[1] <= 4096
        noise = torch.where(events[..., 3:] > 0, -20.0, 20.0)
        return noise + self.shift
"""


def test_edformer_reads_code_and_weights_of_a_folder(events, tmp_path):
    torch = pytest.importorskip("torch", reason="EDformer needs torch")
    with pytest.raises(ConfigError, match=r"no model.py and no pretrained_model.pth"):
        Edformer(str(tmp_path))
    (tmp_path / "model.py").write_text(EDFORMER)
    torch.save({"shift": torch.zeros(1)}, tmp_path / "pretrained_model.pth")
    (_, row), _ = bench_methods([f"edformer:{tmp_path}"])
    labels = evcrisp.denoise(events, row.configured())
    # The stand-in calls OFF events noise; the output 1 means noise.
    np.testing.assert_array_equal(labels.signal, events.p)
    assert (labels.score[events.p] > labels.score[~events.p].max()).all()
    few = evcrisp.denoise(events[:50], row.configured())
    np.testing.assert_array_equal(few.signal, events.p[:50])
    (tmp_path / "model.py").write_text("import a_package_that_is_missing\n")
    with pytest.raises(ConfigError, match="needs packages that are missing"):
        evcrisp.denoise(events, Edformer(str(tmp_path)))
