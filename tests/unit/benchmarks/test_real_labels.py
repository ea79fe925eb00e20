"""Benchmarks of labels: windows with a history, and the busiest windows of recordings."""

import numpy as np
import pytest
from benchmarks.quality import auto, real_labels, scenes

import evcrisp
from evcrisp.metrics import rank_auc


@pytest.fixture(scope="module")
def recording():
    """Return 300 ms of a scene that stands still except from 180 to 210 ms."""
    knots = [(0, 5.0, 0.0), (180_000, 5.0, 0.0), (180_001, 300.0, 100.0), (210_000, 300.0, 100.0)]
    knots += [(210_001, 5.0, 0.0), (300_000, 5.0, 0.0)]
    return evcrisp.simulate(
        resolution=(120, 90), trajectory=np.array(knots), duration_us=300_000, noise_hz=0.5, seed=1
    ).events


@pytest.mark.parametrize(("place", "end_us"), [("busiest", 210_000), ("start", 150_000)])
def test_span_ends_with_its_window(recording, tmp_path, place, end_us):
    evcrisp.write(tmp_path / "a.npz", recording)
    span = real_labels.read_span(tmp_path / "a.npz", place)
    first = int(recording.t[0])  # windows are counted from the first event
    assert span.t[-1] < first + end_us <= span.t[-1] + 5_000
    assert span.t[0] - (first + end_us - 150_000) < 5_000
    assert span.signal is None


def test_quality_tells_signal_from_added_noise(recording):
    span = recording.between(60_000, 210_000).with_signal(None)
    found = real_labels.quality(span, noise_hz=5.0)
    assert set(found) == {"auto", "exact", *real_labels.FILTERS}
    assert found["auto"] > 0.95
    assert min(found.values()) > 0.8


def test_history_warms_filters_and_is_not_counted():
    cold, warm = (scenes.simulated(3, 5.0, history_us) for history_us in (0, 60_000))
    assert warm.window.t_end - warm.window.t_start == scenes.DURATION_US
    assert len(warm.signal) == len(warm.window.events) < len(warm.recording)
    auc = {}
    for name, case in {"cold": cold, "warm": warm}.items():
        signal, score, _ = auto.labels_of("stcf", case)
        assert len(signal) == len(case.signal)
        auc[name] = rank_auc(score, case.signal)
    assert auc["warm"] > auc["cold"]
