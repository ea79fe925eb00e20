"""Messages of errors: exit codes, option names, remedies."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, FormatError, OutputError, UnknownNameError
from evcrisp.cli.error_messages import error_text, log_text
from evcrisp.core.errors import Setting


def test_damaged_file_gives_one_line_and_code_1(run, sample):
    sample.write_bytes(sample.read_bytes()[:-40])
    result = run("info", sample, code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert str(sample) in result.stderr


def test_existing_output_suggests_force(run, sample, tmp_path):
    run("convert", sample, tmp_path / "a.npz")
    result = run("convert", sample, tmp_path / "a.npz", code=1)
    assert "exists already. Replace it with --force." in result.stderr
    run("convert", sample, tmp_path / "a.npz", "--force")


@pytest.mark.parametrize(
    "words",
    [
        ("info",),
        ("info", "missing.npz"),
        ("nonsense",),
        ("info", "--resolution", "346", __file__),
        ("info", "--on-error", "ignore", __file__),
    ],
)
def test_wrong_usage_gives_code_2(run, words):
    result = run(*words, code=2)
    assert result.stdout == ""
    assert "Usage: " in result.stderr


def test_misspelled_command_gives_suggestion(run):
    assert "No such command 'runn'. Did you mean 'run'?" in run("runn", code=2).stderr
    assert "Did you mean" not in run("xyzzy", code=2).stderr
    assert "Did you mean 'info'" not in run("--inf", code=2).stderr


def test_unknown_format_is_explained(run, sample, tmp_path):
    assert "Did you mean 'npz'" in run("info", sample, "--format", "npzz", code=2).stderr
    assert "suffix of 'a.xyz'" in run("convert", sample, tmp_path / "a.xyz", code=2).stderr


def test_messages_use_singular_and_plural(run, make_events, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evcrisp.write("one.npz", make_events(1))
    assert run("convert", "one.npz", "a.npz").stdout == "Wrote 1 event to a.npz.\n"
    assert "of 1 event, dropped 1" in run("filter", "one.npz", "b.npz").stdout
    np.save("labels.npy", np.ones(3, bool))
    words = ("evaluate", "one.npz", "--labels", "labels.npy", "--no-aocc")
    assert "holds 3 labels, but the recording has 1 event." in run(*words, code=1).stderr
    np.save("labels.npy", np.ones(0, bool))
    assert "holds 0 labels, but the recording has at least 1 event." in run(*words, code=1).stderr
    run("simulate", "c.aedat4", "--duration-ms", "1", "--motion", "rotation")
    assert "left out: 1 IMU sample." in run("convert", "c.aedat4", "c.npz").stderr


def test_pipe_is_refused(run, sample, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "pipe or a device" in run("info", tmp_path / "pipe.csv", code=1).stderr
    result = run("convert", sample, tmp_path / "pipe.csv", "--force", code=1)
    assert "not a regular file" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", ["info IN", "--help", "-V", "info --help", "datasets check -h"])
def test_full_standard_output_is_named(sample, words):
    words = words.replace("IN", str(sample))
    words = f"exec {sys.executable} -m evcrisp {words} > /dev/full"
    result = subprocess.run(["sh", "-c", words], stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    message = "Error: Standard output could not be written: No space left on device.\n"
    assert result.stderr == message


def test_folder_below_file_is_named(run, sample):
    result = run("run", sample, "-o", sample / "out", code=1)
    assert result.stderr == f"Error: {sample / 'out'}: Not a directory.\n"


def test_header_without_format_suggests_format_option(run, tmp_path):
    (tmp_path / "a.raw").write_bytes(b"x" * 40)
    assert (
        "name evt3, evt2 or evt21 with --format." in run("info", tmp_path / "a.raw", code=1).stderr
    )


def test_closed_standard_error_is_accepted(sample):
    words = f"exec {sys.executable} -m evcrisp info {sample} 2>&-"
    result = subprocess.run(["sh", "-c", words], stdout=subprocess.PIPE, text=True, check=True)
    assert "1,000" in result.stdout


@pytest.fixture
def command():
    @click.command("example")
    @click.option("--points", "n_points", type=int)
    @click.option("--force", "overwrite", is_flag=True)
    @click.option("--resolution", metavar="WxH")
    def example():
        """Do nothing."""

    return example


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            ConfigError("must be 3 or more", parameter="n_points", value=2),
            "--points must be 3 or more; got 2.",
        ),
        (
            ConfigError("must be 1 or more", parameter="tau_us", value=0),
            "`tau_us` must be 1 or more; got 0.",
        ),
        (
            ConfigError("exclude each other", parameter=("n_points", "resolution")),
            "--points and --resolution exclude each other.",
        ),
        (
            OutputError("a.npz exists already.", remedy=Setting("Replace it", "overwrite", True)),
            "a.npz exists already. Replace it with --force.",
        ),
        (
            ConfigError("No size.", remedy=Setting("Set it", "resolution")),
            "No size. Set it with --resolution WxH.",
        ),
        (
            ConfigError("No size.", remedy=Setting("Set it", "resolution", (346, 260))),
            "No size. Set it with --resolution 346x260.",
        ),
        (
            FormatError("cut short", path=Path("a.raw"), offset=8, n_before=3),
            "a.raw: cut short (byte 8, after 3 events). "
            "Keep the events before the damage with evcrisp convert --on-error truncate.",
        ),
        (
            UnknownNameError("Unknown format 'x'.", remedy="Known: npz."),
            "Unknown format 'x'. Known: npz.",
        ),
    ],
)
def test_error_text_names_options_of_command(command, error, message):
    assert error_text(error, command) == message
    assert error_text(error, None) == str(error)


def test_log_text_names_options_of_command(command):
    remedy = Setting("Set it", "resolution")
    values = {"msg": "%s: guessed. %s", "args": ("a.txt", remedy)}
    record = logging.makeLogRecord(values)
    assert log_text(record, command) == "a.txt: guessed. Set it with --resolution WxH."
    assert log_text(record, None) == record.getMessage()
    plain = logging.makeLogRecord({"msg": "100 % done"})
    assert log_text(plain, command) == "100 % done"


def test_value_out_of_range_is_explained_with_option(run, tmp_path):
    words = ("simulate", tmp_path / "a.npz", "--set", "uniform_hz=-1")
    message = run(*words, code=2).stderr
    assert "Error: --noise-hz must " in message
    assert "; got -1." in message


def test_damaged_file_suggests_truncate(run, sample, tmp_path):
    text = tmp_path / "cut.txt"
    run("convert", sample, text)
    text.write_bytes(text.read_bytes()[:-3])
    message = run("info", text, "--resolution", "346x260", code=1).stderr
    assert message.startswith(f"Error: {text}: ")
    assert message.endswith("Keep the events before the damage with --on-error truncate.\n")


def test_unknown_method_is_explained_with_suggestion(run, sample, tmp_path):
    message = run("run", sample, "-o", tmp_path / "out", "--method", "autoo", code=2).stderr
    assert "Error: Unknown method 'autoo'. Did you mean 'auto'? Known: auto, " in message


def test_sensors_of_different_size_suggest_resolution(run, sample, tmp_path):
    other = evcrisp.Events(x=[0], y=[0], t=[0], p=[1], resolution=(8, 4))
    evcrisp.write(tmp_path / "other.npz", other)
    message = run("evaluate", tmp_path / "other.npz", "--raw", sample, code=1).stderr
    assert message.endswith(
        "If a file does not state the sensor size, set it with --resolution WxH.\n"
    )


def test_a_command_without_the_option_of_a_remedy_names_convert():
    from evcrisp.cli.commands.experiments.bench import bench_command

    remedy = Setting("If this is wrong, set the sensor size", "resolution")
    record = logging.LogRecord("a", logging.WARNING, "a.py", 1, "guessed. %s", (remedy,), None)
    expected = "If this is wrong, set the sensor size with evcrisp convert --resolution WxH."
    assert log_text(record, bench_command) == f"guessed. {expected}"
    assert log_text(record, None) == f"guessed. {remedy}"
