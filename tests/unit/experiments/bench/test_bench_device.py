"""A bench on a device: the numbers are those of the CPU, with flow and boxes too."""

import pytest

import evcrisp
from evcrisp.experiments.bench.options import BenchOptions

pytest.importorskip("torch")

DEVICE = "torch-cpu"


def rows_of(folder, out, device):
    options = BenchOptions(device=device, motion="translation", measures_aocc=False)
    result = evcrisp.bench(folder, out, methods=["baf", "dwf", "auto"], options=options)
    assert not result.outcome.failures
    note = f"Computed on {DEVICE}: baf, auto."
    assert (note in result.notes) == (device is not None)
    return {row["method"]: row for row in result.rows()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mvsec", "remot"])
def test_numbers_are_those_of_the_cpu(layouts, tmp_path, name):
    folder = tmp_path / name
    layouts.WRITERS[name](folder)
    rows = rows_of(folder, tmp_path / "cpu", None)
    found = rows_of(folder, tmp_path / "device", DEVICE)
    names = {"remot": ("auc", "hota", "retention"), "mvsec": ("auc", "aee_px", "retention")}[name]
    for method, row in rows.items():
        there = names if method == "auto" else ("auc", "retention")
        values = [row[key] for key in there]
        assert [found[method][key] for key in there] == pytest.approx(values, abs=0.02)
