"""A killed run resumes, and its tables have identical bytes."""

import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from evcrisp.cli import main

pytestmark = pytest.mark.slow

METHODS = "raw,baf,ynoise,ts,auto"


def arguments(root, out, workers):
    chosen = ["--root", root, "--out", out, "--methods", METHODS, "--workers", workers]
    return ["reproduce", "table1", *(str(value) for value in chosen)]


def tables(out):
    return {
        suffix: (out / f"table1{suffix}").read_bytes()
        for suffix in (".md", ".csv", ".json", ".tex")
    }


def test_killed_run_resumes_with_identical_tables(emlb, tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = [sys.executable, "-m", "evcrisp", *arguments(emlb, out, 1)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while len(list((out / "results").glob("[!.]*.json"))) < 10:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    n_kept = len(list((out / "results").glob("[!.]*.json")))
    assert 10 <= n_kept < 40
    assert not (out / "table1.md").exists()

    resumed = CliRunner().invoke(main, arguments(emlb, out, 0))
    assert resumed.exit_code == 0, resumed.output
    # A result can be stored between the last check and the kill.
    n_new = int(resumed.output.split("40 tasks, ")[1].split(" run now")[0])
    assert 0 < n_new <= 40 - 10
    fresh = CliRunner().invoke(main, arguments(emlb, whole, 0))
    assert fresh.exit_code == 0, fresh.output
    assert tables(out) == tables(whole)
