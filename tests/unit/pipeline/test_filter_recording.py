"""Library functions behind the commands filter, convert and evaluate."""

import numpy as np
import pytest

import evcrisp
from evcrisp.filters import FILTERS
from evcrisp.pipeline.convert import convert_recording


@pytest.fixture
def sample(make_events, tmp_path):
    evcrisp.write(tmp_path / "a.npz", make_events(3000, resolution=(40, 30), duration_us=50_000))
    return tmp_path / "a.npz"


def test_path_recording_and_filter_object_give_the_same_result(sample, tmp_path):
    first = evcrisp.filter_recording(sample, tmp_path / "b.npz", "stcf", tau_us=900)
    with evcrisp.open(sample) as recording:
        filter_ = FILTERS["stcf"](tau_us=900)
        second = evcrisp.filter_recording(recording, tmp_path / "c.npz", filter_)
        assert len(recording.read()) == 3000  # still open
    assert (tmp_path / "b.npz").read_bytes() == (tmp_path / "c.npz").read_bytes()
    signal = evcrisp.denoise(evcrisp.read(sample), "stcf", tau_us=900).signal
    assert (first.n_events, first.n_kept) == (second.n_events, second.n_kept)
    assert (first.n_events, first.n_kept) == (3000, int(signal.sum()))


def test_labels_of_filter_are_input_of_evaluate(sample, tmp_path):
    result = evcrisp.filter_recording(sample, tmp_path / "b.npz", labels=tmp_path / "l.npz")
    by_labels = evcrisp.evaluate(sample, labels=result.labels, slice_events=500)
    by_raw = evcrisp.evaluate(result.path, raw=sample, slice_events=500)
    assert by_labels.retention == by_raw.retention == result.n_kept / result.n_events
    for name in ("cleaned", "raw", "random"):
        np.testing.assert_equal(by_labels.quality[name].as_dict(), by_raw.quality[name].as_dict())
    assert np.isnan(evcrisp.evaluate(sample, measures_aocc=False).retention)


def test_existing_output_names_parameter(sample, tmp_path):
    convert_recording(sample, tmp_path / "b.es")
    with pytest.raises(evcrisp.OutputError, match=r"Replace it with `overwrite=True`\.$"):
        convert_recording(sample, tmp_path / "b.es")
    assert convert_recording(sample, tmp_path / "b.es", overwrite=True).n_events == 3000
    with pytest.raises(evcrisp.OutputError, match="is the input itself"):
        convert_recording(sample, sample, overwrite=True)


def test_conflicting_parameters_are_fields_of_the_error(sample, tmp_path):
    with pytest.raises(evcrisp.ConfigError, match="^`raw` and `labels` exclude") as caught:
        evcrisp.evaluate(sample, raw=sample, labels=tmp_path / "l.npz")
    assert caught.value.parameter == ("raw", "labels")
    with pytest.raises(evcrisp.ConfigError) as caught:
        evcrisp.filter_recording(sample, tmp_path / "b.npz", labels=tmp_path / "b.npz")
    assert caught.value.parameter == "labels"
    assert not (tmp_path / "b.npz").exists()
