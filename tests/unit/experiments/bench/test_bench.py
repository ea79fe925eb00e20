"""`evcrisp bench` from the shell and from Python."""

import csv
import html
import json
import math
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, UnknownNameError
from evcrisp.experiments.bench.measures import added_noise
from evcrisp.experiments.bench.options import DEFAULT_METHODS, BenchOptions, bench_methods
from evcrisp.experiments.bootstrap import mean_interval
from evcrisp.experiments.datasets import Clip, Layout
from evcrisp.experiments.datasets.sample import Sample
from evcrisp.filters.neighborhood.baf import Baf
from evcrisp.filters.protocol import Labels
from evcrisp.metrics import rank_auc

pytestmark = pytest.mark.slow


def rows_of(out):
    with (out / "bench.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def own(layouts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    layouts.write_own(folder)
    return folder


def test_page_tables_and_csv_from_the_shell(run, own, tmp_path):
    out = tmp_path / "out"
    words = ("bench", own, "-o", out, "--methods", "baf,auto", "--workers", 0)
    text = run(*words, "--slice-events", 2000).output
    assert "6 tasks, 6 run now, 0 taken from" in text
    assert {path.name for path in out.glob("bench.*")} == {
        "bench.html", "bench.csv", "bench.json", "bench.md", "bench.tex",
    }  # fmt: skip
    rows = {(row["recording"], row["method"]): row for row in rows_of(out)}
    assert len(rows) == 6
    for recording in ("scene.npz", "lab/take.aedat4"):
        auc = {method: float(rows[recording, method]["auc"]) for method in ("raw", "baf", "auto")}
        assert auc["raw"] == 0.5
        assert auc["auto"] > auc["baf"] > 0.7
        assert float(rows[recording, "auto"]["fwl"]) > 1.0
        assert rows[recording, "baf"]["fwl"] == ""
        assert float(rows[recording, "auto"]["esr_gain"]) > 0.0
    page = (out / "bench.html").read_text()
    assert "Made by:" in page
    assert f"evcrisp {evcrisp.__version__}, 20" in page
    assert "&quot;noise_hz&quot;: 5.0" in page
    assert "http" not in re.sub(r'src="data:[^"]*"', "", page)
    assert page.count("<img") == 3  # AUC, ESR gain, speed
    (table, *_) = json.loads((out / "bench.json").read_text())
    cells = {row["method"]: row["cells"] for row in table["rows"]}
    pair = [float(rows[name, "auto"]["auc"]) for name in ("scene.npz", "lab/take.aedat4")]
    assert cells["auto"]["auc"]["ours"] == pytest.approx(np.mean(pair))
    assert cells["auto"]["auc"]["low"] == pytest.approx(min(pair))
    again = run(*words, "--slice-events", 2000).output
    assert "6 tasks, 0 run now, 6 taken from" in again
    more = run(*words[:-3], "baf,auto,stcf", "--workers", 0, "--slice-events", 2000).output
    assert "8 tasks, 2 run now, 6 taken from" in more


def test_labels_of_a_recording_are_the_truth(own, tmp_path):
    result = evcrisp.bench(own, tmp_path, methods=["baf"])
    (row,) = [
        row for row in result.rows() if (row["recording"], row["method"]) == ("scene.npz", "baf")
    ]
    events = evcrisp.read(own / "scene.npz")
    labels = evcrisp.denoise(events.with_signal(None), "baf")
    assert row["auc"] == rank_auc(labels.score, events.signal)
    assert row["n_noise"] == int((~events.signal).sum())
    assert row["sensitivity"] == pytest.approx(labels.signal[events.signal].mean())
    kept = events[labels.signal]
    assert row["entropy_bits"] == pytest.approx(evcrisp.metrics.block_entropy(kept))


def test_added_noise_is_bounded_by_the_events():
    events = evcrisp.simulate(resolution=(40, 30), duration_us=50_000, seed=1).events
    noisy = added_noise(events, 2.0, 0)
    assert len(noisy) - len(events) == pytest.approx(
        2.0 * 40 * 30 * events.duration_us / 1e6, abs=1
    )
    assert len(added_noise(events, 10_000.0, 0)) == 2 * len(events)


#: Data set -> columns that its truth allows.
TRUTH = {
    "ed24": {"auc"},
    "led": {"auc"},
    "dvsclean": {"auc"},
    "remot": {"auc", "hota"},
    "dvsflow16": {"auc", "aee_px", "direction_deg", "outliers"},
    "mvsec": {"auc", "aee_px", "direction_deg", "outliers"},
    "dsec": {"auc", "aee_px", "direction_deg", "outliers"},
}


@pytest.mark.parametrize("name", TRUTH)
def test_metrics_fit_the_truth_of_each_layout(run, layouts, tmp_path, name):
    layouts.WRITERS[name](tmp_path / "data")
    out = tmp_path / "out"
    words = ("bench", tmp_path / "data", "-o", out, "--methods", "auto,ebf", "--workers", 0)
    run(*words, "--no-aocc", "--max-events", 20_000, "--motion", "translation")
    rows = rows_of(out)
    for column in ("auc", "hota", "aee_px", "direction_deg", "outliers"):
        values = [row.get(column, "") for row in rows if row["method"] == "auto"]
        assert any(values) == (column in TRUTH[name]), column
    auto = [row for row in rows if row["method"] == "auto"]
    assert all(float(row["auc"]) > 0.75 for row in auto)
    if "aee_px" in TRUTH[name]:
        row = next(row for row in auto if row["aee_px"])
        assert float(row["aee_px"]) < 1.0
        assert float(row["direction_deg"]) < 5.0
        assert not any(row["aee_px"] for row in rows if row["method"] == "ebf")
    if name == "remot":
        assert float(auto[0]["hota"]) > 0.2


def test_published_layouts_of_the_paper_are_found(run, emlb, dnd21, ecd, tmp_path):
    for name, root in {"emlb": emlb, "dnd21": dnd21, "ecd": ecd}.items():
        out = tmp_path / name
        run("bench", root, "-o", out, "--methods", "baf,auto", "--workers", 0, "--no-aocc",
            "--max-events", 4000)  # fmt: skip
        rows = rows_of(out)
        assert {row["dataset"] for row in rows} == {evcrisp_title(name)}
        flows = [row["recording"] for row in rows if row.get("aee_px")]
        assert set(flows) == ({"dynamic_rotation", "boxes_rotation"} if name == "ecd" else set())


def evcrisp_title(name):
    from evcrisp.experiments.datasets import dataset_for

    return dataset_for(name).title


def test_names_on_the_page_are_escaped(tmp_path):
    folder = tmp_path / "a<b>&'c'"
    folder.mkdir()
    scene = evcrisp.simulate(resolution=(48, 36), duration_us=30_000, noise_hz=5.0, seed=1)
    evcrisp.write(folder / "x<script>alert(1)</script>.npz".replace("/", "_"), scene.events)
    result = evcrisp.bench(
        folder, tmp_path / "out", methods=[Evil()], command="evcrisp <img src=x onerror=alert(2)>"
    )
    page = result.files[0].read_text()
    body = re.sub(r'<img alt="[^"<>]*" src="data:[^"]*">', "", page)
    assert "<script" not in body
    assert "<img" not in body
    assert "<i>" not in body
    assert html.escape("<i>evil</i>") in body


@dataclass(frozen=True)
class Evil:
    name: ClassVar[str] = "<i>evil</i>"

    def start(self, resolution):
        return self

    def label(self, events):
        return Labels(events.p.copy(), events.p.astype(float))

    def finish(self):
        return Labels.empty(0)


def test_failures_are_listed_and_do_not_stop_others(run, own, tmp_path, monkeypatch):
    empty = evcrisp.Events.empty((32, 24))
    folder = tmp_path / "data"
    folder.mkdir()
    evcrisp.write(folder / "empty.npz", empty)
    (folder / "scene.npz").write_bytes((own / "scene.npz").read_bytes())
    result = run(
        "bench", folder, "-o", tmp_path / "out", "--methods", "baf", "--workers", 0, code=1
    )
    assert "2 tasks failed" in result.output
    page = (tmp_path / "out" / "bench.html").read_text()
    assert "Failed: empty.npz with baf: EventDataError: empty.npz has no events" in page
    assert [row["recording"] for row in rows_of(tmp_path / "out")] == ["scene.npz", "scene.npz"]


def test_wrong_options_are_refused(run, own, tmp_path):
    out = ("-o", tmp_path / "out")
    assert "Unknown method 'bafx'" in run("bench", own, *out, "--methods", "bafx", code=2).stderr
    assert "Unknown data set" in run("bench", own, *out, "--dataset", "nope", code=2).stderr
    assert "Unknown motion" in run("bench", own, *out, "--motion", "nope", code=2).stderr
    message = run("bench", own, *out, "--dataset", "led", code=2).stderr
    assert "the folder denoise_events is missing" in " ".join(message.split())
    (tmp_path / "empty").mkdir()
    assert "it is empty" in run("bench", tmp_path / "empty", *out, code=2).stderr
    assert not (tmp_path / "out").exists()


def test_rows_by_name_object_and_word():
    rows, notes = bench_methods(["auto", Baf(tau_us=7), Baf(tau_us=8), "raw", "auto"])
    assert [row.key for row in rows] == ["raw", "auto", "baf", "baf-2"]
    assert [row.config()["tau_us"] for row in rows[2:]] == [7, 8]
    assert notes == ()
    every, _ = bench_methods(["all"])
    assert {"paper", "entropy", "edncnn", "dbscan", "sequential"} <= {row.key for row in every}
    default, left_out = bench_methods(None)
    assert {row.key for row in default} <= set(DEFAULT_METHODS)
    assert len(default) + len(left_out) == len(DEFAULT_METHODS)
    with pytest.raises(UnknownNameError, match="edformer:PATH"):
        bench_methods(["nope"])


def test_own_registered_filter_is_a_row(own, tmp_path):
    evcrisp.register("filter", Evil, "on_only")
    try:
        result = evcrisp.bench(
            own, tmp_path, methods=["on_only"], options=BenchOptions(max_events=2000)
        )
    finally:
        evcrisp.plugins.registry_of("filter").unregister("on_only")
    assert {row["method"] for row in result.rows()} == {"raw", "on_only"}


def read_mine(clip, limits):
    """Read every event as signal but the first ten."""
    events = limits.of(evcrisp.read(clip.path))
    return Sample(events=events.with_signal(np.arange(len(events)) >= 10))


@dataclass(frozen=True)
class Mine:
    """Recordings of a folder with a truth that their reader knows."""

    name: str = "mine"
    title: str = "Mine"
    source: str = "here"

    def layout(self, root):
        paths = sorted(root.glob("*.npz"))
        return Layout(
            clips=tuple(
                Clip(name=path.stem, path=path, group=("mine",), files=(path,), reader=read_mine)
                for path in paths
            )
        )


def test_own_data_set_with_its_own_truth(own, tmp_path):
    result = evcrisp.bench(own, tmp_path, methods=["baf"], dataset=Mine())
    assert {(row["recording"], row["n_noise"]) for row in result.rows()} == {("scene", 10)}
    assert evcrisp.bench(own, tmp_path, methods=["baf"], dataset=Mine).outcome.n_new == 0


def test_tasks_run_in_processes(run, layouts, tmp_path):
    layouts.write_dvsclean(tmp_path / "data")
    words = ("bench", tmp_path / "data", "-o", tmp_path / "out", "--no-aocc", "--max-events", 2000)
    text = run(*words, "--methods", "baf,cmax,eventcv-baf", "--workers", 2).output
    # Two of the files have the same bytes, and share their results.
    assert "12 tasks, 8 run now, 4 taken from" in text
    assert "Warning" not in text
    assert "12 tasks, 0 run now" in run(*words, "--methods", "baf,cmax,eventcv-baf").output


def test_options_are_checked():
    with pytest.raises(ConfigError, match="`noise_hz` must be a number above 0"):
        BenchOptions(noise_hz=0.0)
    with pytest.raises(ConfigError, match="`max_events` must be a positive whole number"):
        BenchOptions(max_events=0)


def test_interval_of_means_covers_the_truth():
    """Of 95 % intervals of normal means, about 95 % hold the true mean; few recordings hold less."""
    rng = np.random.default_rng(0)
    hits = 0
    for k in range(200):
        interval = mean_interval(rng.normal(0.3, 1.0, 40).tolist(), n_resamples=400, seed=k)
        hits += interval.low <= 0.3 <= interval.high
    assert 0.88 <= hits / 200 <= 0.98
    assert mean_interval([]) is None
    one = mean_interval([0.7])
    assert one.low == one.value == one.high
    assert math.isclose(one.value, 0.7)
