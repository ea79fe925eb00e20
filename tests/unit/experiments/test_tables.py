"""Tables: ranks, formats, and known numbers."""

import csv
import errno
import io
import json
import os
from dataclasses import replace

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, OutputError, UnknownNameError
from evcrisp.experiments import paper
from evcrisp.experiments.bootstrap import rms_intervals
from evcrisp.experiments.methods import TABLE1, Method
from evcrisp.experiments.reproduction import reproduce
from evcrisp.experiments.tables import TABLES, Options
from evcrisp.experiments.tables.formats import as_csv, as_html, as_json, as_latex, as_markdown
from evcrisp.experiments.tables.table import Cell, Column, Row, Table, mean
from evcrisp.metrics import confusion, esr, motion_error, random_subset
from evcrisp.pipeline.many.executors import InProcess


@pytest.fixture
def table():
    columns = (
        Column(key="a", label="A", group="Day"),
        Column(key="b", label="B_1", group="Day", better="low", digits=1),
        Column(key="n", label="n", better=None, digits=0),
    )
    rows = (
        Row(key="x", label="X", family="f", cells={"a": Cell(0.5, 0.4), "b": Cell(2.0)}),
        Row(key="y", label="Y & Co", family="f", cells={"a": Cell(0.9, 0.3), "b": Cell(1.0)}),
        Row(key="z", label="Z", family="g", cells={"a": Cell(0.7, None, 0.6, 0.8)}),
        Row(key="0", label="control", family="g", cells={"a": Cell(1.0)}, ranked=False),
    )
    return Table(name="t", title="100 % true", columns=columns, rows=rows, notes=("a note",))


def test_ranks_mark_best_and_second(table):
    assert table.ranks() == {("y", "a"): 1, ("z", "a"): 2, ("y", "b"): 1, ("x", "b"): 2}
    assert table.ranks("paper") == {("x", "a"): 1, ("y", "a"): 2}


def test_markdown_shows_value_interval_and_paper(table):
    lines = as_markdown([table]).splitlines()
    assert lines[2] == "| | Day A | Day B_1 | n |"
    assert lines[4] == "| X | 0.500 (**0.400**) | <u>2.0</u> | - |"
    assert lines[5] == "| Y & Co | **0.900** (<u>0.300</u>) | **1.0** | - |"
    assert lines[6] == "| Z | <u>0.700</u> ± 0.100 | - | - |"
    assert lines[-1] == "- a note"


def test_latex_is_escaped_and_grouped(table):
    text = as_latex([table])
    assert r"\caption{100 \% true}" in text
    assert r"\multicolumn{2}{c}{Day} & \multicolumn{1}{c}{}" in text
    assert r"Y \& Co & \textbf{0.900} (\underline{0.300}) & \textbf{1.0} & - \\" in text
    assert r"B\_1" in text
    assert text.count(r"\midrule") == 2


def test_csv_and_json_have_all_digits(table):
    exact = replace(table.rows[0], cells={"a": Cell(1 / 3, 0.4)})
    tables = [replace(table, rows=(exact,))]
    rows = list(csv.DictReader(io.StringIO(as_csv(tables))))
    assert float(rows[0]["ours"]) == 1 / 3
    assert rows[1]["ours"] == ""
    content = json.loads(as_json(tables))
    assert content[0]["rows"][0]["cells"] == {"a": {"ours": 1 / 3, "paper": 0.4}, "b": {}, "n": {}}


def test_html_is_escaped(table):
    assert "<th>Y &amp; Co</th><td><b>0.900</b> (<u>0.300</u>)</td>" in as_html([table])


def published():
    """Return a table of the numbers of the paper, in place of ours."""
    columns = tuple(Column(key=str(i), label=str(i)) for i in range(8))
    rows = tuple(
        Row(key=key, label=key, family="", cells={str(i): Cell(v) for i, v in enumerate(values)})
        for key, values in paper.ESR.items()
    )
    return Table(name="paper", title="paper", columns=columns, rows=rows)


def test_ranks_of_paper_equal_its_printed_marks():
    """The paper prints one of two equal numbers (0.921) bold; here both are best."""
    ranks = published().ranks()
    best = {
        column: {key for (key, c), rank in ranks.items() if c == column and rank == 1}
        for column in "01234567"
    }
    assert best["0"] == {"ts"}
    assert best["1"] == {"mlpf"}
    assert best["2"] == {"proposed", "mlpf"}
    assert best["3"] == best["6"] == best["7"] == {"proposed"}
    assert best["4"] == best["5"] == {"ts"}
    assert ranks["mlpf", "0"] == ranks["proposed", "1"] == ranks["eja", "7"] == 2


def test_mean_ignores_missing_values():
    assert mean([1.0, None, 3.0]) == 2.0
    assert mean([None]) is None


def test_table1_equals_mean_of_metric_over_recordings(emlb, tmp_path):
    options = Options(methods=("raw", "baf"))
    part = reproduce("table1", tmp_path, InProcess(), root=emlb, options=options)
    ratios, gains, kept, truth = part.tables
    path = next((emlb / "N-END" / "nd16").glob("*.aedat4"))
    raw = evcrisp.read(path)
    signal = evcrisp.denoise(raw, "baf", preset="emlb").signal
    expected = esr(raw[signal], slice_events=3000).esr
    row, column = ratios.rows[1], "night-ND16"
    assert row.cells[column].value == pytest.approx(expected, rel=1e-12)
    assert row.cells[column].paper == 0.911
    assert row.cells["n_hyper"].value == 2
    drawn = esr(random_subset(raw, int(signal.sum()), seed=0), slice_events=3000).esr
    assert gains.rows[1].cells[column].value == pytest.approx(expected - drawn, abs=1e-12)
    assert kept.rows[1].cells[column].value == signal.mean()
    with np.load(path.with_name(f"{path.stem}.truth.npz")) as archive:
        counts = confusion(signal, archive["signal"])
    assert truth.rows[1].cells[column].value == pytest.approx(counts.denoising_accuracy)
    assert {file.name for file in part.files} == {
        f"table1.{s}" for s in ("md", "csv", "json", "tex")
    }


def test_raw_has_zero_gain_and_full_retention(emlb, tmp_path):
    part = reproduce("table1", tmp_path, InProcess(), root=emlb, options=Options(methods=("raw",)))
    assert {cell.value for cell in part.tables[1].rows[0].cells.values()} == {0.0}
    assert {cell.value for cell in part.tables[2].rows[0].cells.values()} == {1.0}


def test_table2_specificity_of_eja_falls_with_noise(dnd21, tmp_path):
    """EJA keeps a fixed share of events; `auto` does not."""
    options = Options(methods=("eja-1", "eja-10", "auto"))
    (table,) = reproduce("table2", tmp_path, InProcess(), root=dnd21, options=options).tables
    values = {
        row.key: [row.cells[column.key].value for column in table.columns] for row in table.rows
    }
    assert values["eja-1"][3] > values["eja-1"][4] > values["eja-1"][5]
    assert values["eja-10"][5] > values["eja-1"][5] + 0.1
    assert values["eja-10"][0] < values["eja-1"][0]
    assert min(values["auto"]) > 0.9
    assert table.rows[0].cells["specificity-5"].paper == 0.787


def test_table2_accepts_measured_noise_and_tuned_parameters(dnd21, tmp_path):
    tuned = {"train_share": 0.5, "methods": {"eja": {"1": {"tau": 0.6}}}}
    options = Options(methods=("eja-1",), noise="dark-5hz", tuned=tuned, max_events=20_000)
    part = reproduce("table2", tmp_path, InProcess(), root=dnd21, options=options)
    (table,) = part.tables
    assert [row.key for row in table.rows] == ["eja-1"]
    assert all(len(task.clip.files) == 2 for task in part.tasks)
    # It keeps 60 % of all events, nearly all of them signal.
    assert table.rows[0].cells["sensitivity-1"].value == pytest.approx(0.606, abs=0.02)
    notes = " ".join(table.notes)
    assert "Hyper-parameters of EJA: from the given file, tuned on the first 50% of each" in notes
    assert "the first 50% of each recording, are left out for all methods." in notes
    assert "simulated DND21" not in notes


def test_table3_error_of_zero_output_equals_gyroscope(ecd, tmp_path):
    options = Options(methods=("auto",), max_events=30_000)
    part = reproduce("table3", tmp_path, InProcess(), root=ecd, options=options)
    vector, pooled, axis = part.tables
    rows = {row.key: row for row in vector.rows}
    assert list(rows) == ["auto", "zero", "gyro"]
    task = next(
        i
        for i, t in enumerate(part.tasks)
        if t.clip.name == "boxes_rotation" and t.method.key == "zero"
    )
    spans = part.outcome.numbers()[task]
    imu = np.loadtxt(ecd / "boxes_rotation" / "imu.txt")
    middle = (np.array(spans["t_start_us"]) + np.array(spans["t_end_us"])) / 2e6
    truth = np.rad2deg(np.column_stack([np.interp(middle, imu[:, 0], g) for g in imu[:, 4:].T]))
    expected = motion_error(np.zeros_like(truth), truth)
    assert rows["zero"].cells["boxes_rotation"].value == pytest.approx(expected.vector_rms)
    zero = {table.name: table.rows[1].cells["boxes_rotation"].value for table in (pooled, axis)}
    assert zero["table3-pooled"] == pytest.approx(expected.pooled_rms)
    assert zero["table3-axis"] == pytest.approx(expected.mean_axis_rms)
    assert rows["auto"].cells["boxes_rotation"].value < 0.2 * expected.vector_rms
    assert rows["gyro"].cells["boxes_rotation"].value < 1.0
    assert (
        rows["zero"].cells["boxes_translation"].value
        < 1.0
        < rows["auto"].cells["boxes_translation"].value
    )
    assert not vector.rows[1].ranked


def test_imu_offset_changes_error_without_new_tasks(ecd, tmp_path):
    options = Options(methods=("auto",), max_events=30_000)
    shifted = replace(options, imu_offset_us=20_000)
    parts = [
        reproduce("table3", tmp_path, InProcess(), root=ecd, options=o) for o in (options, shifted)
    ]
    near, far = (part.tables[0].rows[0].cells["dynamic_rotation"].value for part in parts)
    assert far > near
    assert parts[1].outcome.n_new == 0


def test_intervals_contain_value_and_shrink_with_windows():
    rng = np.random.default_rng(3)
    few, many = (rms_intervals(rng.normal(0.0, 2.0, (n, 3))) for n in (50, 5000))
    for interval in (*few.values(), *many.values()):
        assert interval.low <= interval.value <= interval.high
    assert few["vector"].high - few["vector"].low > 3 * (many["vector"].high - many["vector"].low)
    assert many["pooled"].value == pytest.approx(2.0, rel=0.05)


def test_intervals_of_correlated_errors_are_wider():
    rng = np.random.default_rng(4)
    single = rng.normal(size=(1000, 3))
    slow = np.repeat(rng.normal(size=(100, 3)), 10, axis=0)
    widths = [rms["vector"].high - rms["vector"].low for rms in map(rms_intervals, (single, slow))]
    assert widths[1] > 1.5 * widths[0]


def test_invalid_options_raise(emlb, tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'baf'"):
        reproduce("table1", tmp_path, InProcess(), root=emlb, options=Options(methods=("bav",)))
    with pytest.raises(UnknownNameError, match="Unknown method of this table 'bav'"):
        reproduce(
            "table1", tmp_path, InProcess(), root=emlb, options=Options(methods=("raw", "bav"))
        )
    with pytest.raises(ConfigError, match="`slice_events` must be a number, 1 or more"):
        Options(slice_events=0)


def test_incomplete_tuned_parameters_raise():
    good = {"eja": {"5": {"tau": 0.5}}}
    wrong = [
        ({}, "got no methods"),
        ([], "got list"),
        (good, "got no methods"),
        ({"methods": [1, 2], "train_share": 0.5}, "got no methods"),
        ({"methods": {}, "train_share": 0.5}, "got no methods"),
        ({"methods": {"eja": {}}, "train_share": 0.5}, "or one without rates"),
        ({"methods": {"eja": {"5": 3}}, "train_share": 0.5}, "got 3 for 'eja' at '5'"),
        ({"methods": good}, "`train_share` must lie between 0 and 1, got None"),
        ({"methods": good, "train_share": "0.5"}, "got '0.5'"),
        ({"methods": good, "train_share": 1.0}, "got 1.0"),
    ]
    for tuned, what in wrong:
        with pytest.raises(ConfigError, match=f"must have the format of evcrisp tune.*{what}"):
            Options(tuned=tuned)
    Options(tuned={"methods": good, "train_share": 0.5})


def test_table2_notes_state_source_of_parameters():
    tuned = {"train_share": 0.25, "methods": {"eja": {"5": {"tau": 0.5}}}}
    (table,) = TABLES["table2"].tables([], [], Options(tuned=tuned))
    notes = " ".join(table.notes)
    assert (
        "of Proposed (exact): those of this package, tuned for each rate on the simulated DND21"
        in notes
    )
    assert "of EJA: from the given file, tuned on the first 25% of each recording." in notes
    (table,) = TABLES["table2"].tables([], [], Options())
    notes = " ".join(table.notes)
    assert "of EJA and Proposed (exact): those of this package" in notes
    assert "left out" not in notes


def test_options_for_each_table_keep_fitting_methods():
    each = Options(methods=("baf", "auto")).for_each(TABLES)
    assert {name: options.methods for name, options in each.items()} == {
        "table1": ("baf", "auto"),
        "table2": ("auto",),
        "table3": ("auto",),
    }
    assert set(Options(methods=("baf",)).for_each(TABLES)) == {"table1"}
    assert set(Options().for_each(TABLES)) == {"table1", "table2", "table3"}
    with pytest.raises(UnknownNameError, match="Unknown method of this table 'bav'"):
        Options(methods=("raw", "bav")).for_each(TABLES)


def test_tuned_method_adds_rows():
    tuned = {"train_share": 0.5, "methods": {"baf": {"2.5": {"tau_us": 1234}}}}
    rows = TABLES["table2"].methods(Options(tuned=tuned))
    assert [row.key for row in rows if row.name == "baf"] == ["baf-2.5"]
    assert next(row for row in rows if row.key == "baf-2.5").config()["tau_us"] == 1234


def test_unavailable_method_is_left_out_with_note(emlb, tmp_path, monkeypatch):
    monkeypatch.setattr(Method, "missing", lambda self: "it rains" if self.key == "baf" else None)
    options = Options(methods=("raw", "baf"))
    part = reproduce("table1", tmp_path, InProcess(), root=emlb, options=options)
    assert [row.key for row in part.tables[0].rows] == ["raw"]
    assert "BAF was left out: it rains." in part.tables[0].notes


def test_rows_of_paper_are_methods():
    assert set(paper.ESR) == {method.key for method in TABLE1} - {"auto"}
    assert set(TABLES) == {"table1", "table2", "table3"}
    assert {method.key: method.n_hyper for method in TABLE1 if method.n_hyper} == {
        "baf": 2,
        "dwf": 3,
        "knoise": 2,
        "ynoise": 3,
        "ts": 3,
        "evflow": 3,
        "eja": 2,
        "proposed": 3,
    }


#: Retention and mean ESR of the programs of E-MLB on its sample.
KNOWN = {
    "raw": (1.0, 1.013328),
    "baf": (302_865 / 319_512, 1.016084),
    "dwf": (236_834 / 319_512, 1.030121),
    "knoise": (97_063 / 319_512, 0.990914),
    "ynoise": (259_072 / 319_512, 1.035923),
    "ts": (190_182 / 319_512, 1.038547),
    "evflow": (80_297 / 319_512, 1.023092),
}


def test_table1_equals_emlb_programs_on_real_sample(data_dir, tmp_path):
    folder = tmp_path / "data" / "D-END" / "nd00"
    folder.mkdir(parents=True)
    (folder / "Medals-ND00-1.aedat4").symlink_to(data_dir / "emlb" / "demo-01.aedat4")
    options = Options(methods=tuple(KNOWN))
    part = reproduce("table1", tmp_path, InProcess(), root=tmp_path / "data", options=options)
    ratios, _, kept = part.tables
    for row, share in zip(ratios.rows, kept.rows, strict=True):
        expected = KNOWN[row.key]
        assert share.cells["day-ND1"].value == pytest.approx(expected[0], rel=1e-9), row.key
        assert row.cells["day-ND1"].value == pytest.approx(expected[1], abs=1e-6), row.key


def test_table3_rotation_of_real_ecd_sample(data_dir, tmp_path):
    """The given angular velocity replaces the gyroscope; its norm is known to 15 %."""
    source = data_dir / "ecd" / "tubrip_dynamic_rotation"
    folder = tmp_path / "data" / "dynamic_rotation"
    folder.mkdir(parents=True)
    for name in ("events.txt.gz", "calib.txt"):
        (folder / name).symlink_to(source / name)
    omega = np.loadtxt(source / "motion.txt")
    times = np.arange(19.09, 19.13, 0.001)
    lines = (f"{t:.6f} 0 0 0 {omega[0]} {omega[1]} {omega[2]}" for t in times)
    (folder / "imu.txt").write_text("\n".join(lines) + "\n")
    options = Options(methods=("auto", "proposed"))
    part = reproduce("table3", tmp_path, InProcess(), root=tmp_path / "data", options=options)
    rows = {row.key: row.cells["dynamic_rotation"].value for row in part.tables[0].rows}
    norm = np.rad2deg(np.linalg.norm(omega))
    assert rows["zero"] == pytest.approx(norm)
    assert rows["gyro"] == pytest.approx(0.0, abs=1e-9)
    assert rows["auto"] < 0.2 * norm
    assert rows["proposed"] < 0.2 * norm


def test_failed_figure_keeps_older_file(tmp_path, monkeypatch):
    from evcrisp.experiments import figures

    class Part:
        name = "table"

        def clips(self):
            return ["clip"]

    def half(drawing, path):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(figures, "FIGURES", {"table": (lambda part: [("a", "A", None)],)})
    monkeypatch.setattr(figures, "save_figure", half)
    (tmp_path / "a.png").write_bytes(b"older")
    with pytest.raises(OutputError, match="a.png could not be written: No space left on device."):
        figures.report_figures([Part()], tmp_path)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.png", b"older")]
