"""Damaged files of every format: correct events or a `FormatError`, no crash and no hang."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import evcrisp
from evcrisp.io import READERS, WRITERS

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("fuzz_program.py")

REAL = {
    "aedat4": "aedat4/dvs128_lowrate_2024-06-13_16-29-55.aedat4",
    "aedat2": "aedat2/dvs128_noise_foam90.aedat",
    "davis": "aedat2/davis240c_IMU_rotDisk.aedat",
    "ecd": "ecd/slider_depth_chunk/events.txt.gz",
    "es": "eventstream/dvs.es",
    "evt2": "prophesee/gen3_640x480_evt2_sample.raw",
    "evt3": "prophesee/gen41_1280x720_evt3_sample.raw",
    "dat": "prophesee/ncars_obj_004397_td.dat",
    "nmnist": "nmnist/sample_nmnist.bin",
    "mat": "dvs128-mat/building.mat",
    "ros1": "ros/ros1_evt3_640x480_test_events_1.bag",
    "ros2 db3": "ros/ros2_evt3_trigger_1280x720",
    "ros2 mcap": "ros/ros2_libcaer_cmp_davis346_test_events_2",
}


def fuzz(sample, n_cuts, n_flips):
    result = subprocess.run(
        [sys.executable, PROGRAM, sample, str(n_cuts), str(n_flips), "1"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_copies_of_written_files_are_read_or_refused(name, make_events, tmp_path):
    sample = tmp_path / f"sample{WRITERS[name].suffixes[0]}"
    evcrisp.write(sample, make_events(2000), format=name)
    counts = fuzz(sample, 30, 60)
    assert counts["read"] + counts["refused"] == 90
    assert counts["refused"] > 0


@pytest.mark.parametrize("name", REAL)
def test_damaged_copies_of_real_recordings_are_read_or_refused(name, data_dir):
    counts = fuzz(data_dir / REAL[name], 6, 12)
    assert counts["read"] + counts["refused"] == 18


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "content", [b"", b"\x00", b"\xff" * 100, b"%", b"#!AER-DAT4.0\r\n", b"PK\x03\x04"]
)
def test_fragments_are_refused(name, content, tmp_path):
    fragment = tmp_path / f"fragment{READERS[name].suffixes[0] if READERS[name].suffixes else ''}"
    fragment.write_bytes(content)
    for options in ({}, {"format": name}):
        message, n_events = str(fragment), 0
        try:
            n_events = len(evcrisp.read(fragment, resolution=(1280, 720), **options))
        except evcrisp.FormatError as error:
            message = str(error)
        assert str(fragment) in message
        assert n_events <= len(content)


def test_empty_and_missing_files_are_refused(tmp_path):
    (tmp_path / "empty.aedat4").touch()
    with pytest.raises(evcrisp.FormatError, match="the file is empty"):
        evcrisp.read(tmp_path / "empty.aedat4")
    with pytest.raises(FileNotFoundError):
        evcrisp.read(tmp_path / "missing.aedat4")
    with pytest.raises(
        evcrisp.FormatError, match=r"it is a folder, .* ECD sequence\. Name a recording in it"
    ):
        evcrisp.read(tmp_path)


@pytest.mark.parametrize("name", WRITERS)
def test_content_overrides_a_wrong_suffix(name, make_events, tmp_path):
    if WRITERS[name].suffixes[0] == ".columns":
        pytest.skip("a folder, which no file format claims")
    events = make_events(200)
    wrong = ".npz" if name != "npz" else ".aedat4"
    evcrisp.write(tmp_path / f"a{wrong}", events, format=name)
    with evcrisp.open(tmp_path / f"a{wrong}") as opened:
        assert opened.format == name
        assert len(opened.read()) == 200
