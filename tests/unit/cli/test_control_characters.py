"""Names and texts of a file that reach the terminal: no control characters, limited length."""

import json
import re

import numpy as np
import pytest

from evcrisp import FormatError
from evcrisp.core.messages import shown

h5py = pytest.importorskip("h5py", reason="h5py writes the files")

#: Clear the screen, set the title, write from right to left, an 8-bit control sequence.
EVIL = "\x1b[2J\x1b]0;title\x07\u202e\u009b31m"
LONG = "A" * 100_000
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def write_hdf5(path):
    records = np.zeros(3, [("x", "<u2"), ("y", "<u2"), ("p", "<i2"), ("t", "<i8")])
    with h5py.File(path, "w") as file:
        file["CD/events"] = records
        file.attrs["geometry"] = "346x260"
        file.attrs["serial_number"] = EVIL + LONG


def write_hdf5_names(path):
    with h5py.File(path, "w") as file:
        file[f"x{EVIL}{LONG[:1000]}"] = np.zeros(4)


def write_npz_names(path):
    np.savez(path, **{f"x{EVIL}": np.zeros(3), LONG[:200]: np.zeros(2)})


def write_csv_names(path):
    path.write_text(f"t{EVIL},x,y{LONG[:60_000]},p\n1,2,3,1\n", encoding="utf-8")


def write_raw_header(path):
    head = f"% evt 3.0\n% serial_number {LONG[:500]}\n% geometry 640x480\n% end\n"
    words = np.array([0x8000, 0x6001, 0x0001, 0x2001], "<u2")
    path.write_bytes(head.encode("utf-8") + words.tobytes())


def write_aedat_chip(path):
    path.write_bytes(b"#!AER-DAT2.0\r\n# AEChip: \x1b[2J" + b"B" * 5000 + b"\r\n" + bytes(80))


FILES = {
    "header.h5": write_hdf5,
    "names.h5": write_hdf5_names,
    "a.npz": write_npz_names,
    "a.csv": write_csv_names,
    "a.raw": write_raw_header,
    "a.aedat": write_aedat_chip,
}


@pytest.mark.parametrize("name", FILES)
def test_texts_of_a_file_reach_the_terminal_escaped_and_short(name, tmp_path, run):
    FILES[name](tmp_path / name)
    for words in (("info",), ("info", "--json")):
        code = 0 if name in ("header.h5", "a.raw") else 1
        result = run(*words, tmp_path / name, code=code)
        assert not CONTROL.search(result.output)
        if "--json" not in words:
            assert len(result.output) < 6000
    if name == "header.h5":
        facts = json.loads(run("info", "--json", tmp_path / name).stdout)
        assert facts["metadata"]["serial_number"] == EVIL + LONG  # JSON escapes it


def test_names_of_files_are_escaped(tmp_path, run):
    path = tmp_path / "a\x1b[2J.aedat4"
    path.write_bytes(b"#!AER-DAT4.0\r\n")
    assert "\x1b" not in run("info", path, code=1).output
    assert (
        "\x1b" not in run("convert", tmp_path / "b\x1b[2J.npz", tmp_path / "c.npz", code=2).output
    )


def test_reasons_of_format_errors_are_escaped_and_short():
    error = FormatError(f"a name {EVIL}\nnext line {LONG}")
    assert error.reason.isprintable()
    assert len(error.reason) < 1100
    assert not CONTROL.search(str(error))


@pytest.mark.parametrize("n", [20, 21, 500])
def test_short_texts_stay_as_they_are(n):
    assert shown("ü" * n, n) == "ü" * n
    assert len(shown("ü" * (n + 1), n)) == n
    assert shown("a\nb") == "a\\nb"
    assert shown("a\nb", lines=True) == "a\nb"
