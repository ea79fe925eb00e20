"""No command replaces its input, under any name of the output."""

import numpy as np
import pytest

import evcrisp


def links(sample):
    """Return other names of a file."""
    symlink, hard_link = (
        sample.with_name(f"{kind}{sample.suffix}") for kind in ("symlink", "hard")
    )
    symlink.symlink_to(sample)
    hard_link.hardlink_to(sample)
    spelled = sample.parent / "." / ".." / sample.parent.name / sample.name
    return {"itself": sample, "symlink": symlink, "hard": hard_link, "spelled": spelled}


@pytest.mark.parametrize("name", ["itself", "symlink", "hard", "spelled"])
@pytest.mark.parametrize(
    "words",
    [
        ("filter", "IN", "OUT"),
        ("filter", "IN", "other.npz", "--labels", "OUT"),
        ("convert", "IN", "OUT"),
        ("convert", "IN", "OUT", "--start-at-zero"),
        ("evaluate", "IN", "--no-aocc", "-o", "OUT"),
        ("pareto", "IN", "-o", "OUT"),
        ("plot", "scatter", "IN", "-o", "OUT.png"),
        ("render", "IN", "OUT.gif"),
        ("view", "IN", "--export", "OUT.html"),
    ],
    ids=" ".join,
)
def test_no_command_replaces_its_input(run, sample, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    suffix = next((word[3:] for word in words if word.startswith("OUT")), "")
    if suffix:  # these commands require a suffix
        sample = sample.rename(sample.with_suffix(suffix))
    output = links(sample)[name]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    filled = [{"IN": sample}.get(w, output if w.startswith("OUT") else w) for w in words]
    result = run(*filled, "--force", code=1)
    assert result.stderr.endswith(f"{output} is the input itself. Choose another name.\n")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["labels.npz", "motion.csv", "summary.json", "labels.clean.npz"])
def test_no_file_of_run_replaces_its_input(run, sample, tmp_path, name):
    source = sample.rename(tmp_path / "labels.npz")
    if name != source.name:
        (tmp_path / name).hardlink_to(source)
    before = source.read_bytes()
    result = run("run", source, "-o", tmp_path, "-m", "cmax", "--force", code=1)
    assert "is the input itself" in result.stderr
    assert source.read_bytes() == before


def test_evaluate_does_not_replace_labels(run, sample, tmp_path):
    labels = tmp_path / "labels.npy"
    np.save(labels, np.ones(1000, bool))
    words = ("evaluate", sample, "--no-aocc", "--labels", labels, "-o", labels, "--force")
    assert "is the input itself" in run(*words, code=1).stderr


def test_simulate_does_not_replace_calibration(run, tmp_path):
    calibration = tmp_path / "calib.csv"
    calibration.write_text("100 100 80 60")
    words = ("simulate", calibration, "--camera", calibration, "--resolution", "160x120", "--force")
    assert "is the input itself" in run(*words, code=1).stderr
    assert calibration.read_text() == "100 100 80 60"


def test_filter_does_not_replace_input_folder(run, make_events, tmp_path):
    folder = tmp_path / "a.columns"
    evcrisp.write(folder, make_events(100))
    assert "is the input itself" in run("filter", folder, folder, "--force", code=1).stderr
    assert len(evcrisp.read(folder)) == 100
    assert [path.name for path in tmp_path.iterdir()] == ["a.columns"]


def test_train_does_not_replace_its_data(run, tmp_path):
    pytest.importorskip("torch", reason="needs torch")
    data = tmp_path / "data.npz"
    data.write_text("mine")
    words = ("train", "mlpf", "-o", data, "--data", data, "--force")
    assert "is the input itself" in run(*words, code=1).stderr
    assert data.read_text() == "mine"
