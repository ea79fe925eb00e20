"""Inputs that fuzzing found, made by code: each one broke a promise once."""

import zipfile
import zlib

import numpy as np
import pytest
from tests.fuzz.samples import all_samples, make_events

import evcrisp
from evcrisp import FormatError
from evcrisp.core.errors import EvError
from evcrisp.filters import Mlpf
from evcrisp.pipeline.labels_file import open_labels
from evcrisp.viewer.access import AccessControl
from evcrisp.viewer.bundle_format import read_bundle, write_bundle

SIZE = (34, 34)


def npy(shape, kind="|b1", data=bytes(100)):
    """Return an ``.npy`` file whose header states any shape."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data


@pytest.mark.parametrize("side", [2**63, 2**64, 10**30])
def test_a_number_of_rows_beyond_64_bits(tmp_path, side):
    (tmp_path / "labels.npy").write_bytes(npy(f"({side},)"))
    with (
        pytest.raises(FormatError, match="impossible shape"),
        open_labels(tmp_path / "labels.npy"),
    ):
        pass
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name, kind in (("x", "<u2"), ("y", "<u2"), ("t", "<i8"), ("p", "|b1")):
            archive.writestr(f"{name}.npy", npy(f"({side},)", kind))
    with pytest.raises(FormatError, match="impossible shape"):
        evcrisp.read(tmp_path / "a.npz", resolution=SIZE)


@pytest.mark.parametrize("head", ["{'descr': (", "{'descr': '<f4'", "(" * 90, "'\\"])
def test_weights_with_a_header_that_does_not_end(tmp_path, head):
    content = npy("(1,)").replace(b"{'descr'", head.encode().ljust(8), 1)
    with zipfile.ZipFile(tmp_path / "w.npz", "w") as archive:
        archive.writestr("hidden_kernel.npy", content)
    with pytest.raises(EvError):
        Mlpf(weights=tmp_path / "w.npz").start(SIZE)


def test_weights_that_are_no_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "w.npz", "w") as archive:
        archive.writestr("hidden_kernel", b"text")
    with pytest.raises(FormatError, match="'hidden_kernel' are missing"):
        Mlpf(weights=tmp_path / "w.npz").start(SIZE)


def test_a_wrong_checksum_of_a_short_matlab_variable_keeps_its_events(tmp_path):
    sample = next(sample for sample in all_samples("mat") if "packed" in sample.name)
    data = bytearray(sample.files["a.mat"])
    end = 136 + int.from_bytes(data[132:136], "little")
    assert zlib.decompress(data[136:end])
    data[end - 1] ^= 1  # of the Adler-32 checksum
    (tmp_path / "a.mat").write_bytes(data)
    with evcrisp.open(tmp_path / "a.mat", resolution=SIZE, on_error="truncate") as recording:
        events = recording.read()
        assert len(events) >= 59  # the last byte comes with the checksum only
        assert events.equals(make_events()[: len(events)])
        assert "damaged" in str(recording.damage)


@pytest.mark.parametrize("path", ["*", "", "/", "TOKEN"])
def test_addresses_without_a_slash_are_refused(path):
    control = AccessControl(lambda *_: None, token="TOKEN", port=8000)  # ty: ignore
    scope = {"path": path, "method": "GET", "headers": [(b"host", b"localhost:8000")]}
    assert control._refusal(scope)[0] == 404


def test_damaged_bundles():
    good = write_bundle({"n": 3}, {"a": np.arange(3, dtype=np.uint16)})
    for change in (b"{", b"\xff\xfe", b'"length":-1', b'"length":null', b'"type":"O8"'):
        for at in range(8, 60):
            damaged = good[:at] + change + good[at + len(change) :]
            try:
                read_bundle(damaged)
            except FormatError:
                continue
    for end in range(len(good) - 8):
        with pytest.raises(FormatError):
            read_bundle(good[:end])
