"""A separate package that adds a filter, a data set and a metric by entry points."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.slow

PACKAGE = """
    from dataclasses import dataclass
    from typing import ClassVar

    from evcrisp.experiments.datasets import Clip, Layout
    from evcrisp.filters.protocol import Labels


    class Stream:
        def label(self, events):
            return Labels(events.p.copy(), events.p.astype(float))

        def finish(self):
            return Labels.concatenate([])


    @dataclass(frozen=True)
    class KeepOn:
        name: ClassVar[str] = "keep_on"

        def start(self, resolution):
            return Stream()


    @dataclass(frozen=True)
    class Lab:
        name: ClassVar[str] = "lab"
        title: ClassVar[str] = "Recordings of the lab"
        source: ClassVar[str] = "the shared disk"

        def layout(self, root):
            paths = sorted(root.rglob("*.aedat4"))
            return Layout(
                clips=tuple(Clip(name=p.stem, path=p, group=("lab",), files=(p,)) for p in paths)
            )


    class OnShareMeter:
        n_on = n_events = 0

        def add(self, events):
            self.n_on += int(events.p.sum())
            self.n_events += len(events)

        def value(self):
            return self.n_on / self.n_events


    @dataclass(frozen=True)
    class OnShare:
        name: ClassVar[str] = "on_share"
        title: ClassVar[str] = "ON share"

        def start(self, resolution):
            return OnShareMeter()
"""

ENTRY_POINTS = """
    [evcrisp.filters]
    keep_on = labpack:KeepOn
    [evcrisp.datasets]
    lab = labpack:Lab
    [evcrisp.metrics]
    on_share = labpack:OnShare
"""


@pytest.fixture
def evcrisp(tmp_path):
    """Return a function that runs evcrisp in a process where the package is installed."""
    site = tmp_path / "site"
    (site / "labpack").mkdir(parents=True)
    (site / "labpack" / "__init__.py").write_text(textwrap.dedent(PACKAGE))
    info = site / "labpack-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: labpack\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(ENTRY_POINTS))
    paths = os.pathsep.join([str(site), *sys.path])

    def run(*words):
        command = [sys.executable, "-m", "evcrisp", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_installed_package_adds_filter_dataset_and_metric(evcrisp, emlb, tmp_path):
    root, out = emlb / "D-END" / "nd64", tmp_path / "out"
    words = ("--root", root, "--dataset", "lab", "--max-events", 3000, "--slice-events", 500)
    words += ("--methods", "keep_on,raw", "--out", out, "--workers", 1)
    assert "1 recording" in evcrisp("datasets", "check", "lab", root)
    assert "2 tasks, 2 run now" in evcrisp("reproduce", "table1", *words)
    assert "2 tasks, 0 run now" in evcrisp("reproduce", "table1", *words)
    tables = json.loads((out / "table1.json").read_text())
    assert [row["label"] for row in tables[0]["rows"]] == ["Raw", "keep_on"]
    retention = tables[2]["rows"][1]["cells"]["lab"]["ours"]
    recording = next(root.glob("*.aedat4"))
    facts = json.loads(evcrisp("evaluate", recording, "--no-aocc", "--json"))
    assert facts["quality"]["recording"]["on_share"] == pytest.approx(retention, abs=0.1)
