"""``evcrisp filter`` and ``evcrisp filters``."""

import errno
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import evcrisp
from evcrisp.filters import FILTERS, Labels, denoise
from evcrisp.filters.protocol import About


@pytest.fixture
def events(make_events):
    return make_events(3000, resolution=(40, 30), duration_us=50_000)


@pytest.fixture
def sample(events, tmp_path):
    path = tmp_path / "sample.npz"
    evcrisp.write(path, events)
    return path


def test_filter_writes_events_that_denoise_keeps(run, sample, events, tmp_path):
    page = run("filter", sample, tmp_path / "a.aedat4", "-m", "stcf", "--set", "tau_us=900").stdout
    signal = denoise(events, "stcf", tau_us=900).signal
    kept = evcrisp.read(tmp_path / "a.aedat4")
    assert kept.equals(events[signal])
    n_kept, n_dropped = int(signal.sum()), int((~signal).sum())
    assert f"Kept {n_kept:,} ({n_kept / 3000:.1%}) of 3,000 events" in page
    assert f"dropped {n_dropped:,} ({n_dropped / 3000:.1%})" in page


def test_filter_applies_preset_and_writes_labels(run, sample, events, tmp_path):
    run("filter", sample, tmp_path / "a.npz", "-m", "ts", "--preset", "emlb",
        "--labels", tmp_path / "labels.npz")  # fmt: skip
    expected = denoise(events, "ts", "emlb")
    with np.load(tmp_path / "labels.npz") as archive:
        assert set(archive) == {"signal", "score"}
        np.testing.assert_array_equal(archive["signal"], expected.signal)
        np.testing.assert_array_equal(archive["score"], expected.score)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "labels.npz", "sample.npz"]


@dataclass(frozen=True)
class Late:
    """Filter that keeps every other event, and labels it 700 events later."""

    name: ClassVar[str] = "late"
    about: ClassVar[About] = About("a test", "none", "none")
    presets: ClassVar[dict] = {}

    def start(self, resolution):
        return LateStream()


class LateStream:
    def __init__(self):
        self.n_seen = self.n_labeled = 0

    def label(self, events):
        self.n_seen += len(events)
        return self._labels(max(self.n_seen - 700, self.n_labeled))

    def finish(self):
        return self._labels(self.n_seen)

    def _labels(self, end):
        signal = np.arange(self.n_labeled, end) % 2 == 0
        self.n_labeled = end
        return Labels(signal, signal.astype(float))


def test_filter_with_look_ahead_labels_all_events(
    run, sample, events, tmp_path, monkeypatch, request
):
    FILTERS.register(Late)
    request.addfinalizer(lambda: FILTERS.unregister("late"))
    monkeypatch.setattr(
        evcrisp.Recording.chunks, "__defaults__", (256,)
    )  # many chunks of a small file
    run("filter", sample, tmp_path / "a.npz", "-m", "late", "--labels", tmp_path / "labels.npz")
    assert evcrisp.read(tmp_path / "a.npz").equals(events[::2])
    with np.load(tmp_path / "labels.npz") as archive:
        assert archive["signal"].shape == (3000,)


def test_filter_keeps_true_labels(run, events, tmp_path):
    truth = np.arange(3000) % 3 == 0
    evcrisp.write(tmp_path / "in.npz", events.with_signal(truth))
    run("filter", tmp_path / "in.npz", tmp_path / "out.npz")
    kept = denoise(events, "baf").signal
    np.testing.assert_array_equal(evcrisp.read(tmp_path / "out.npz").signal, truth[kept])


def test_filter_accepts_empty_recording(run, tmp_path):
    evcrisp.write(tmp_path / "none.npz", evcrisp.Events.empty((8, 4)))
    labels = tmp_path / "labels.npz"
    page = run("filter", tmp_path / "none.npz", tmp_path / "out.npz", "--labels", labels).stdout
    assert "Kept 0 of 0 events" in page
    assert len(evcrisp.read(tmp_path / "out.npz")) == 0
    with np.load(labels) as archive:
        assert archive["signal"].shape == archive["score"].shape == (0,)


def test_filter_explains_wrong_options(run, sample, tmp_path):
    out = tmp_path / "out.npz"
    assert "Unknown filter 'bav'" in run("filter", sample, out, "-m", "bav", code=2).stderr
    assert "no preset 'x'" in run("filter", sample, out, "--preset", "x", code=2).stderr
    assert "no option 'tau'" in run("filter", sample, out, "--set", "tau=1", code=2).stderr
    assert "1 or more" in run("filter", sample, out, "--set", "tau_us=0", code=2).stderr
    assert (
        "--labels must not be the output file"
        in run("filter", sample, out, "--labels", out, code=2).stderr
    )
    assert not out.exists()


def test_filter_keeps_existing_output_and_removes_partial_files(run, sample, tmp_path):
    out, labels = tmp_path / "out.npz", tmp_path / "labels.npz"
    run("filter", sample, out)
    before = out.read_bytes()
    words = ("filter", sample, out, "-m", "raw", "--labels", labels)
    assert "Replace it with --force." in run(*words, code=1).stderr
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "sample.npz"]
    run(*words, "--force")
    assert out.read_bytes() != before
    sample.write_bytes(sample.read_bytes()[:-40])
    run("filter", sample, tmp_path / "other.npz", code=1)
    assert not (tmp_path / "other.npz").exists()


def test_filter_truncate_uses_events_before_damage(run, sample, events, tmp_path):
    text = tmp_path / "cut.txt"
    run("convert", sample, text)
    text.write_bytes(text.read_bytes()[:-3])
    words = ("filter", text, tmp_path / "out.npz", "--resolution", "40x30")
    assert "after 2999 events" in run(*words, code=1).stderr
    assert "of 2,999 events" in run(*words, "--on-error", "truncate").stdout
    head = events[:2999]
    assert evcrisp.read(tmp_path / "out.npz").equals(head[denoise(head, "baf").signal])


def test_filters_prints_text_and_json(run):
    page = run("filters").stdout
    rows = {row["name"]: row for row in json.loads(run("filters", "--json").stdout)}
    assert set(rows) == set(FILTERS)
    assert rows["baf"]["parameters"]["tau_us"] == 5000
    assert rows["baf"]["presets"]["dv"] == {"tau_us": 1999, "zero_start": True}
    for name, row in rows.items():
        assert name in page
        assert row["source"] in page
    assert "same_polarity=false" in page


def test_labels_option_requires_npz_suffix(run, sample, tmp_path):
    words = ("filter", sample, tmp_path / "out.npz", "--labels")
    message = run(*words, tmp_path / "k.csv", code=2).stderr
    assert "Invalid value for '--labels': expected a name that ends in .npz; got" in message
    assert not (tmp_path / "out.npz").exists()
    printed = run(*words, tmp_path / "k.npz").stdout
    assert printed.endswith(f"Wrote {tmp_path / 'out.npz'} and {tmp_path / 'k.npz'}.\n")


def test_labels_do_not_replace_input(run, sample, tmp_path):
    before = sample.read_bytes()
    words = ("filter", sample, tmp_path / "out.npz", "--labels", sample, "--force")
    assert "is the input itself. Choose another name." in run(*words, code=1).stderr
    assert sample.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["baf", "stcf", "ynoise", "density", "ts", "evflow", "iets", "dbscan"]
)
def test_huge_radius_is_refused(run, sample, tmp_path, name):
    words = ("filter", sample, tmp_path / "out.npz", "-m", name, "--set", "radius=100000")
    assert "..100; got 100000." in run(*words, code=2).stderr


def test_failed_labels_leave_no_output(run, sample, tmp_path, monkeypatch):
    def full(self, constants):
        raise OSError(errno.ENOSPC, "No space left on device", str(self._path))

    # The output itself is complete when writing the labels fails.
    monkeypatch.setattr("evcrisp.io.arrays.npz.NpzPacker.pack", full)
    before = sorted(path.name for path in tmp_path.iterdir())
    words = ("filter", sample, tmp_path / "a.es", "--labels", tmp_path / "labels.npz")
    message = f"Error: {tmp_path / 'labels.npz'} could not be written: No space left on device.\n"
    assert run(*words, code=1).stderr.endswith(message)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
