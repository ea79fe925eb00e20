"""Outputs that fail, and inputs that would be replaced."""

import errno
import os

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, OutputError, UnknownNameError
from evcrisp.core.messages import counted
from evcrisp.io.arrays.npz import NpzPacker
from evcrisp.io.atomic_output import refuse_inputs, replacing
from evcrisp.io.protocol import finishing

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("old", [None, "old"])
def test_full_disk_error_names_the_file_and_keeps_the_old_one(tmp_path, old):
    path = tmp_path / "a.json"
    if old is not None:
        path.write_text(old)
    message = f"{path} could not be written: No space left on device."
    with (
        pytest.raises(OutputError, match=f"^{message}$") as caught,
        replacing(path, overwrite=True) as temporary,
    ):
        temporary.write_text("half")
        raise FULL
    assert caught.value.errno == errno.ENOSPC
    assert [p.read_text() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_error_about_the_temporary_file_names_the_output(tmp_path):
    path = tmp_path / "a.columns"
    with (
        pytest.raises(OutputError, match=f"^{path} could not be written: No such file"),
        replacing(path, overwrite=False) as temporary,
    ):
        (temporary / "x.npy").write_text("the folder was never made")
    assert not list(tmp_path.iterdir())


def test_error_about_another_file_is_unchanged(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "a", overwrite=False):
        (tmp_path / "missing").read_text()
    assert caught.value.filename == str(tmp_path / "missing")


def test_broken_pipe_is_unchanged(tmp_path):
    with pytest.raises(BrokenPipeError), replacing(tmp_path / "a", overwrite=False):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class Full:
    """A file on a full disk."""

    name = "never made"

    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_error_names_the_failed_one_of_two_outputs(tmp_path, monkeypatch):
    with (
        pytest.raises(OutputError, match="labels.npz could not be written: No space"),
        replacing(tmp_path / "labels.npz", overwrite=False) as labels,
        replacing(tmp_path / "clean.npz", overwrite=False),
    ):
        packer = NpzPacker(labels)
        packer._parts["signal"], packer._dtypes["signal"] = Full(), np.dtype(bool)
        packer.append({"signal": np.ones(3, bool)})
    assert not list(tmp_path.iterdir())


def test_read_error_names_the_recording(make_events, tmp_path, monkeypatch):
    path = tmp_path / "a.es"
    evcrisp.write(path, make_events(10))
    with evcrisp.open(path) as recording:

        def packets():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
            yield

        recording._source = type("Broken", (), {"packets": staticmethod(packets)})()
        recording._source.resolution, recording._source.close = (346, 260), lambda: None
        with pytest.raises(OSError, match="Input/output error") as caught:
            evcrisp.write(tmp_path / "b.es", recording)
    assert caught.value.filename == str(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.es"]


def test_read_only_folder_is_named(make_events, tmp_path, monkeypatch):
    def refuse(self, *words, **options):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(OutputError, match=f"^{tmp_path / 'a.es'} could not be written: Permission"):
        evcrisp.write(tmp_path / "a.es", make_events(10))


def test_read_only_folder_is_reported_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with (
        pytest.raises(OutputError, match="a.es could not be written: Permission denied."),
        replacing(tmp_path / "a.es", overwrite=False),
    ):
        pytest.fail("the work began")


def test_file_as_parent_folder_is_refused(tmp_path):
    (tmp_path / "a").write_text("mine")
    with (
        pytest.raises(OutputError, match=f"{tmp_path / 'a'} is not a folder"),
        replacing(tmp_path / "a" / "b.npz", overwrite=False),
    ):
        pytest.fail("the work began")


@pytest.mark.parametrize("how", ["itself", "spelling", "symlink", "hard link", "folder link"])
def test_inputs_are_recognized_through_links(tmp_path, how):
    (tmp_path / "in").mkdir()
    given = tmp_path / "in" / "a.npz"
    given.write_text("mine")
    output = tmp_path / "b.npz"
    if how == "itself":
        output = given
    elif how == "spelling":
        output = tmp_path / "in" / ".." / "in" / "a.npz"
    elif how == "symlink":
        output.symlink_to(given)
    elif how == "hard link":
        output.hardlink_to(given)
    else:
        (tmp_path / "link").symlink_to(tmp_path / "in")
        output = tmp_path / "link" / "a.npz"
    with pytest.raises(OutputError, match="is the input itself. Choose another name."):
        refuse_inputs(output, None, given)


def test_files_that_are_not_inputs_may_be_replaced(tmp_path):
    given, other = tmp_path / "a.npz", tmp_path / "b.npz"
    given.write_text("mine")
    refuse_inputs(other, given)
    other.write_text("old")
    refuse_inputs(other, given, tmp_path / "missing")


def test_files_of_an_input_folder_are_inputs(make_events, tmp_path):
    folder = tmp_path / "a.columns"
    evcrisp.write(folder, make_events(10))
    with pytest.raises(OutputError, match="is the input itself"):
        refuse_inputs(folder, folder)
    with pytest.raises(OutputError, match=f"is part of the input {folder}."):
        refuse_inputs(folder / "x.npy", folder)
    with pytest.raises(OutputError, match=f"{folder} holds the input {folder / 'x.npy'}."):
        refuse_inputs(folder, folder / "x.npy")
    (folder / "labels.npz").write_text("a result of an earlier run")
    refuse_inputs(folder / "labels.npz", folder)


class Stuck:
    """An output that fails when it is closed."""

    def write(self, events):
        raise ValueError("the first error")

    finish = write

    def abort(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_abort_does_not_hide_the_first_error():
    with pytest.raises(ValueError, match="the first error"), finishing(Stuck()) as sink:
        sink.write(None)


def test_counts_have_singular_and_plural():
    assert [counted(n, "event") for n in (0, 1, 2, 1000)] == [
        "0 events",
        "1 event",
        "2 events",
        "1,000 events",
    ]
    assert "after 1 event)" in str(evcrisp.FormatError("no", n_before=1))
    assert "kept the 1 event before" in evcrisp.FormatError("no", n_before=1).kept()


def test_suffix_of_files_names_a_format(make_events, tmp_path):
    evcrisp.write(tmp_path / "a.npz", make_events(100))
    evcrisp.write(tmp_path / "a.db3", make_events(100), format="db3")
    assert (tmp_path / "a.db3").read_bytes()[:6] == b"SQLite"
    evcrisp.convert_many([tmp_path / "a.npz"], tmp_path / "out", ".DB3", jobs=0)
    assert (tmp_path / "out" / "a.db3").read_bytes()[:6] == b"SQLite"
    evcrisp.filter_many([tmp_path / "a.npz"], tmp_path / "kept", "raw", to="mcap", jobs=0)
    assert evcrisp.read(tmp_path / "kept" / "a" / "a.mcap").equals(make_events(100))
    evcrisp.run(tmp_path / "a.npz", tmp_path / "run", method="baf+cmax", to="csv.gz")
    assert (tmp_path / "run" / "a.clean.csv.gz").is_file()


def test_suffix_as_format_must_be_that_of_the_output(make_events, tmp_path):
    with pytest.raises(ConfigError, match=r"'db3' is the suffix of files, and 'a.bag' does not"):
        evcrisp.write(tmp_path / "a.bag", make_events(10), format="db3")
    with pytest.raises(UnknownNameError, match="Unknown output format 'xyz'"):
        evcrisp.write(tmp_path / "a.bag", make_events(10), format="xyz")
    assert not list(tmp_path.iterdir())
