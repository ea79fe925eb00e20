"""Commands ``evcrisp datasets``, ``reproduce`` and ``tune``."""

import json
import re
import shutil

import pytest

import evcrisp

pytestmark = pytest.mark.slow


def test_simulate_and_check(run, tmp_path):
    out = run("datasets", "simulate", "ecd", tmp_path / "set", "--small").output
    assert "dynamic_rotation" in out
    checked = run("datasets", "check", "ecd", tmp_path / "set").output
    assert "ECD (Event Camera Dataset) is complete: 4 recordings." in checked
    again = run("datasets", "make-twin", "ecd", tmp_path / "set", "--small").output
    assert again == f"{tmp_path / 'set'} already holds this data set, complete.\n"


def test_check_lists_missing_parts_and_source(run, tmp_path):
    result = run("datasets", "check", "emlb", tmp_path, code=1)
    assert "missing: the folder D-END is missing" in result.output
    assert "KugaMaxx/cuke-emlb" in result.output
    assert "is not a folder" in run("datasets", "check", "emlb", tmp_path / "no", code=1).output


def test_reproduce_all_on_simulated_data_with_report(run, tmp_path):
    out = tmp_path / "out"
    words = ("reproduce", "all", "--small", "--out", out, "--workers", 0)
    # Each table uses the rows that it has.
    some = ("--methods", "raw,baf,eja-5,auto", "--max-events", 20_000)
    text = run(*words, *some).output
    for name in ("table1", "table2", "table3"):
        assert {path.suffix for path in out.glob(f"{name}.*")} == {".md", ".csv", ".json", ".tex"}
        assert (out / f"{name}.md").read_text().strip() in text
    page = (out / "report.html").read_text()
    titles = re.findall("<h2>(Table [123]: [^<]+)</h2>", page)
    assert [title[:7] for title in titles] == ["Table 1", "Table 2", "Table 3"]
    assert f"evcrisp {evcrisp.__version__}, 20" in page
    assert "Made by:" in page
    settings = page.partition("<h2>Settings in effect</h2>")[2]
    # The settings of the small data sets, not the defaults of the options.
    assert "&quot;slice_events&quot;: 3000," in settings
    assert "&quot;window_events&quot;: 5000," in settings
    assert "&quot;max_events&quot;: 20000" in settings
    assert "_events&quot;: 30000" not in settings
    assert "prefers-color-scheme: dark" in page
    page, frame = re.subn(r'<iframe [^<>]* srcdoc="[^"<>]{500000,3000000}"></iframe>', "", page)
    assert frame == 1
    assert "src=" not in re.sub(r'src="data:', "", page)
    assert "http" not in page
    assert "&quot;numpy&quot;" in page
    assert page.count("<img") == len(list((out / "figures").glob("*.png"))) == 8
    again = run(
        "reproduce", "table2", *words[2:], "--methods", "auto", "--max-events", 20_000
    ).output
    assert "tasks, 0 run now" in again


def test_report_leaves_out_unreadable_recordings(run, emlb, ecd, tmp_path):
    root, out = tmp_path / "data", tmp_path / "out"
    shutil.copytree(emlb, root / "emlb")
    shutil.copytree(ecd, root / "ecd")
    last = sorted((root / "emlb" / "N-END").rglob("*.aedat4"))[-1]
    last.write_bytes(last.read_bytes()[:1000])
    for path in (root / "ecd").rglob("events.txt"):
        path.write_text("0.1 nothing 2 3\n")
    words = ("reproduce", "all", "--root", root, "--out", out, "--workers", 0)
    result = run(*words, "--methods", "raw,baf,baf+cmax", "--max-events", 20_000, code=1)
    assert "Left out" in result.output
    assert "tasks failed; see" in result.output
    page = (out / "report.html").read_text()
    assert "<p>Failed:</p>" in page
    assert {path.stem for path in (out / "figures").glob("*.png")} == {
        "esr_day",
        "esr_night",
        "kept",
    }
    assert page.count("<iframe") == 1
    assert f"{last.stem}</title>" not in page


def test_folder_without_data_sets_is_refused(run, tmp_path):
    result = run("reproduce", "all", "--root", tmp_path, "--out", tmp_path / "o", code=2)
    assert "holds none of the folders emlb, dnd21 and ecd" in result.output
    result = run(
        "reproduce", "table1", "--root", tmp_path, "--out", tmp_path / "o", "--workers", 0, code=2
    )
    assert "Get it from the section Datasets" in result.output


def test_failed_tasks_are_logged_with_exit_code(run, emlb, tmp_path):
    root = tmp_path / "data"
    for path in sorted(emlb.rglob("*.aedat4"))[:2]:
        target = root / path.relative_to(emlb)
        target.parent.mkdir(parents=True)
        target.write_bytes(path.read_bytes())
    broken = target
    broken.write_bytes(broken.read_bytes()[:1000])
    out = tmp_path / "out"
    words = ("reproduce", "table1", "--root", root, "-o", out, "--methods", "raw", "--workers", 0)
    result = run(*words, "--slice-events", 3000, code=1)
    assert "1 task failed; see" in result.output
    assert broken.stem in (out / "failures.log").read_text()
    assert (
        "Raw failed on 1 recording, which its means leave out." in (out / "table1.md").read_text()
    )
    whole = emlb / broken.relative_to(root)
    broken.write_bytes(whole.read_bytes())
    assert run(*words, "--slice-events", 3000, "--retry-failed").exit_code == 0


def test_reproduce_reads_file_of_tune(run, dnd21, tmp_path):
    pytest.importorskip("optuna", reason="needs the extra `tune`")
    file = tmp_path / "tuned.json"
    some = ("--max-events", 6000)
    words = ("tune", "eja", "--root", dnd21, "--rate", 5, "-o", file, "--trials", 2)
    assert "eja tuned for 5 %" in run(*words, *some).output
    found = json.loads(file.read_text())
    assert set(found["methods"]["eja"]["5"]) == {"tau", "sigma_px"}
    words = ("reproduce", "table2", "--root", dnd21, "--out", tmp_path, "--workers", 0)
    run(*words, *some, "--tuned", file, "--methods", "eja-5")
    assert "tuned on the first 50%" in (tmp_path / "table2.md").read_text()
    file.write_text("{}")
    result = run(*words, "--tuned", file, code=2)
    assert "must have the format of evcrisp tune" in result.stderr


@pytest.mark.parametrize("verb", ["reproduce", "tune"])
def test_unknown_noise_error_lists_known_ones(run, dnd21, tmp_path, verb):
    if verb == "tune":
        pytest.importorskip("optuna", reason="needs the extra `tune`")
    words = {"reproduce": "table2", "tune": "baf"}[verb], "--root", dnd21, "-o", tmp_path / "out"
    message = " ".join(run(verb, *words, "--noise", "nope", code=2).stderr.split())
    assert "Unknown noise 'nope'. Known: dark-5hz, dark-ba, leak, light, uniform." in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["reproduce", "tune"])
def test_simulation_of_other_data_set_is_refused(run, emlb, tmp_path, verb):
    if verb == "tune":
        pytest.importorskip("optuna", reason="needs the extra `tune`")
    words = {
        "reproduce": ("table2", "--workers", 0, "--methods", "auto", "--max-events", 1000),
        "tune": ("baf", "--trials", 1, "--max-events", 1000),
    }[verb]
    result = run(verb, *words, "--root", emlb, "-o", tmp_path / "out", code=2)
    assert "is a simulated E-MLB (END); expected DND21." in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("table1 --root . --small", "--small is not for --root"),
        ("table1 --window-events 5", "--window-events is not for table1, only for table3, all."),
        ("table2 --imu-offset-ms 3", "--imu-offset-ms is not for table2"),
        ("table3 --noise leak", "--noise is not for table3, only for table2, all."),
        ("scale --workers 2", "--workers is not for scale"),
        ("overhead --methods baf", "--methods is not for overhead"),
        ("scale -o elsewhere", "--out is not for scale"),
        ("table1 --dataset mine", "--dataset needs --root"),
        ("table3 --methods rawish", "Unknown method of this table 'rawish'."),
        ("all --dataset emlb", "--dataset is not for all"),
    ],
)
def test_options_without_effect_are_refused(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in run("reproduce", *words.split(), code=2).stderr
    assert not list(tmp_path.iterdir())


def test_every_option_lists_its_arguments():
    from evcrisp.cli.commands.experiments.reproduce import _USED_BY, reproduce_command

    names = {parameter.name for parameter in reproduce_command.params}
    assert set(_USED_BY) == names - {"what"}


def test_every_method_is_accepted_by_every_table(run, emlb, dnd21, ecd, tmp_path):
    from evcrisp.estimators.registry import ESTIMATORS
    from evcrisp.filters import FILTERS

    names = ",".join(name for name in (*ESTIMATORS, *FILTERS) if name not in ("paper", "edncnn"))
    for table, root in (("table1", emlb), ("table2", dnd21), ("table3", ecd)):
        words = ("reproduce", table, "--root", root, "--out", tmp_path, "--workers", 0)
        run(*words, "--max-events", 1500, "--window-events" if table == "table3" else "--seed", 700,
            "--methods", names)  # fmt: skip
        (first, *_) = json.loads((tmp_path / f"{table}.json").read_text())
        methods = {row["method"] for row in first["rows"]}
        assert len(methods) >= len(names.split(","))
    assert {"stcf+cmax", "raw+cmax", "auto", "baf+cmax", "zero"} <= methods


def test_word_all_stands_for_rows_and_other_methods():
    from evcrisp.experiments.methods import TABLE1, select_methods

    rows = select_methods(TABLE1, ["all"])
    keys = [row.key for row in rows]
    assert keys[: len(TABLE1)] == [row.key for row in TABLE1]
    assert {"stcf", "cmax", "dbscan", "paper"} <= set(keys)
    assert len(keys) == len(set(keys))
    assert "exact" not in keys  # the row "proposed" is this method


def test_scale_prints_table(run):
    out = run("reproduce", "scale", "--methods", "raw").output
    assert "| a year of one camera | Raw |" in out
    assert "(assumed)" in out
