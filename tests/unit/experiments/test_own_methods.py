"""Methods, data sets and metrics from outside evcrisp in experiments, and reuse of results."""

import importlib
import os
import sys
import textwrap
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from evcrisp import ConfigError, UnknownNameError
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.registry import ESTIMATORS
from evcrisp.experiments.code_digest import code_digest
from evcrisp.experiments.datasets import DATASETS, Clip, Layout, find_clips
from evcrisp.experiments.methods import TABLE1, method_for, select_methods
from evcrisp.experiments.reproduction import reproduce
from evcrisp.experiments.tables import TABLES, Options
from evcrisp.filters import FILTERS
from evcrisp.filters.neighborhood.baf import Baf
from evcrisp.pipeline.many.executors import open_workers

FILTER = """
    from dataclasses import dataclass
    from typing import ClassVar

    import numpy as np

    from evcrisp.filters.protocol import Labels


    def threshold():
        return {threshold}


    class Stream:
        def __init__(self, step):
            self.step = step

        def label(self, events):
            signal = np.arange(len(events)) % self.step >= threshold()
            return Labels(signal, signal.astype(float))

        def finish(self):
            return Labels(np.zeros(0, bool), np.zeros(0))


    @dataclass(frozen=True)
    class Mine:
        name: ClassVar[str] = "mine"
        search_space: ClassVar = {{"step": (2, 6)}}
        {version}
        step: int = 3

        def start(self, resolution):
            return Stream(self.step)
"""


def set_age(path, age_s):
    """Make a file as old as if it was written before this process started."""
    os.utime(path, (time.time() - age_s,) * 2)


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Return a function that writes and imports a module with the filter `Mine`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(threshold=1, version="", age_s=3600):
        text = textwrap.dedent(FILTER.format(threshold=threshold, version=version))
        (tmp_path / "own_filter.py").write_text(text)
        set_age(tmp_path / "own_filter.py", age_s)
        sys.modules.pop("own_filter", None)
        importlib.invalidate_caches()
        return importlib.import_module("own_filter").Mine

    yield load
    sys.modules.pop("own_filter", None)


@pytest.fixture
def table1(emlb, tmp_path):
    """Return a function that reproduces table 1 with some methods."""

    def run(*methods, workers=None):
        options = Options(max_events=3000, slice_events=500)
        return reproduce(
            "table1", tmp_path / "out", workers, root=emlb, methods=methods, options=options
        )

    return run


def test_unchanged_method_is_reused(load, table1):
    assert table1(load()).outcome.n_new == 8
    assert table1(load()).outcome.n_new == 0


def test_edited_helper_function_is_computed_again(load, table1):
    first = table1(load(threshold=1))
    second = table1(load(threshold=2))
    assert second.outcome.n_new == 8
    shares = [part.tables[2].rows[0].cells["day-ND1"].value for part in (first, second)]
    assert shares == pytest.approx([2 / 3, 1 / 3], abs=0.01)


def test_changed_parameter_is_computed_again(load, table1):
    mine = load()
    assert table1(mine(step=3)).outcome.n_new == 8
    assert table1(mine(step=4)).outcome.n_new == 8
    assert table1(mine(step=3)).outcome.n_new == 0


def test_declared_version_identifies_code(load, table1):
    assert table1(load(1, 'version: ClassVar[str] = "1"')).outcome.n_new == 8
    assert table1(load(2, 'version: ClassVar[str] = "1"')).outcome.n_new == 0
    assert table1(load(2, 'version: ClassVar[str] = "2"')).outcome.n_new == 8


def test_method_without_source_is_always_computed_again(load, table1, caplog):
    mine = load()
    text = "class Hidden(Base):\n    name = 'hidden'\n"
    space = {"Base": mine, "__name__": "nowhere"}
    exec(text, space)
    for _ in range(2):
        assert table1(space["Hidden"]()).outcome.n_new == 8
    assert "source of the method 'hidden' is not available" in caplog.text
    versioned = type("Versioned", (space["Hidden"],), {"version": "1", "name": "versioned"})
    assert table1(versioned()).outcome.n_new == 8
    assert table1(versioned()).outcome.n_new == 0


def test_method_edited_during_the_session_is_computed_again(load, table1, caplog):
    table1(load())
    load(threshold=2, age_s=-1)
    for _ in range(2):
        assert table1(sys.modules["own_filter"].Mine).outcome.n_new == 8
    assert "was edited while this process runs" in caplog.text
    assert table1(load()).outcome.n_new == 0


def test_edited_module_of_package_changes_digest(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "method.py").write_text("from own_package.helper import f\nclass M: pass\n")
    digests = []
    for text in ("f = 1", "f = 2"):
        (package / "helper.py").write_text(text)
        for path in package.glob("*.py"):
            set_age(path, 3600)
        for name in ("own_package", "own_package.helper", "own_package.method"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        digests.append(code_digest(importlib.import_module("own_package.method").M()))
    assert None not in digests
    assert digests[0] != digests[1]


def test_digest_of_built_in_method_covers_own_parts(load):
    assert code_digest(Cmax()) == ""
    mine = load()
    FILTERS.register(mine)
    try:
        sequential = ESTIMATORS["sequential"](filter="mine")
        assert code_digest(sequential)
    finally:
        FILTERS.unregister("mine")


def test_registered_filter_is_row_by_name(load, table1):
    FILTERS.register(load())
    try:
        part = table1("mine", "raw")
    finally:
        FILTERS.unregister("mine")
    assert [(row.key, row.label) for row in part.tables[0].rows] == [
        ("raw", "Raw"),
        ("mine", "mine"),
    ]


def test_own_methods_run_in_processes(load, table1):
    mine = load()
    with open_workers(1) as workers:
        part = table1(mine, workers=workers)
    assert part.outcome.failures == []
    assert part.outcome.n_new == 8


def test_local_class_in_processes_raises(load, table1):
    class Local(load()):
        name: ClassVar[str] = "local"

    with (
        open_workers(1) as workers,
        pytest.raises(ConfigError, match="'local' cannot run in other processes.*top level of a"),
    ):
        table1(Local(), workers=workers)


def test_objects_of_one_name_have_separate_rows(table1):
    part = table1("baf", Baf(tau_us=100), Baf(tau_us=100_000))
    rows = part.tables[2].rows
    assert [row.key for row in rows] == ["baf", "baf-2", "baf-3"]
    assert rows[1].cells["day-ND1"].value < rows[2].cells["day-ND1"].value
    assert [row.cells["day-ND1"].paper for row in part.tables[0].rows] == [0.851, None, None]


def test_table3_aligns_after_a_filter_and_accepts_estimator(load):
    mine = load()
    kind = TABLES["table3"]
    rows, _ = Options(methods=(mine, "baf")).rows(kind.methods(Options()), kind.kinds)
    assert [(row.key, row.kind) for row in rows] == [
        ("baf+cmax", "estimator"),
        ("mine+cmax", "estimator"),
    ]
    rows, _ = Options(methods=("cmax", "auto")).rows(kind.methods(Options()), kind.kinds)
    assert [row.key for row in rows] == ["auto", "cmax"]
    each = Options(methods=(mine, Cmax())).for_each(TABLES)
    assert {name: len(options.methods) for name, options in each.items()} == {
        "table1": 2,
        "table2": 2,
        "table3": 2,
    }


def test_table2_accepts_methods_without_tuning(load, dnd21, tmp_path):
    options = Options(max_events=2000)
    methods = ["baf", load(), Baf(tau_us=100), "eja-5"]
    part = reproduce("table2", tmp_path, root=dnd21, methods=methods, options=options)
    labels = [row.label for row in part.tables[0].rows]
    assert labels == ["EJA tuned for 5%", "BAF", "mine", "baf-2"]
    assert [note for note in part.tables[0].notes if "BAF" in note] == []


def test_unknown_methods_raise():
    with pytest.raises(UnknownNameError, match="Did you mean 'stcf'"):
        select_methods(TABLE1, ["stcff"])
    with pytest.raises(ConfigError, match="`methods` must be a name, an estimator with `run`"):
        method_for(object())


def test_own_method_is_tuned(load, dnd21):
    pytest.importorskip("optuna", reason="needs the extra `tune`")
    from evcrisp.experiments.tuning import Range, Training, search_space, tune

    mine = load()
    assert search_space(method_for(mine)) == {"step": Range(2, 6, whole=True)}
    training = Training.of(dnd21, 0.1, max_events=2000)
    for part in (mine, mine(step=4)):
        found, score = tune(part, training, trials=3)
        assert 2 <= found["step"] <= 6
        assert score == training.score(method_for(mine(step=found["step"])))


@dataclass(frozen=True)
class OwnDataset:
    """All recordings of a folder, in one group."""

    name: str = "own"
    title: str = "Own recordings"
    source: str = "a colleague"

    def layout(self, root):
        paths = sorted(root.rglob("*.aedat4"))[:2]
        return Layout(
            clips=tuple(Clip(name=p.stem, path=p, group=("lab",), files=(p,)) for p in paths)
        )


def test_table_of_own_dataset(emlb, tmp_path):
    options = Options(methods=("raw", "baf"), max_events=3000, slice_events=500)
    for path in sorted(emlb.rglob("*.aedat4"))[:2]:
        target = tmp_path / "data" / path.parent.name / path.name
        target.parent.mkdir(parents=True)
        target.write_bytes(path.read_bytes())
    root = tmp_path / "data"
    part = reproduce("table1", tmp_path, root=root, dataset=OwnDataset(), options=options)
    assert [column.label for column in part.tables[0].columns] == ["lab", "#hyper"]
    assert np.isfinite(part.tables[0].rows[1].cells["lab"].value)
    assert part.tables[0].rows[1].cells["lab"].paper is None
    DATASETS.register(OwnDataset)
    try:
        again = reproduce("table1", tmp_path, root=root, dataset="own", options=options)
    finally:
        DATASETS.unregister("own")
    assert again.outcome.n_new == 0
    with pytest.raises(ConfigError, match="'own' has no simulation. Give its `root`"):
        reproduce("table1", tmp_path, dataset=OwnDataset)
    with pytest.raises(ConfigError, match="does not hold Own recordings: it is empty"):
        (tmp_path / "empty").mkdir()
        find_clips(OwnDataset, tmp_path / "empty")


def test_config_of_method_with_array_depends_on_values(load):
    mine = load()

    @dataclass(frozen=True)
    class WithTable(mine):
        table: object = None

    configs = [
        method_for(WithTable(table=np.full(5000, value))).config() for value in (0.0, 0.0, 1.0)
    ]
    assert configs[0] == configs[1] != configs[2]
