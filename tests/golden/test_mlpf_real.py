"""Public weights give the masks of the original encodings on a real recording."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import evcrisp
from evcrisp.filters import denoise

#: MLPF_2xMSEO1H20_linear_7.pt, which may not be redistributed.
_PUBLIC = os.environ.get("EVCRISP_MLPF_PUBLIC", "")

# Encoding, threshold, kept events, first 16 digits of the SHA-256 of the mask as bytes.
MASKS = [
    ("intended", 0.5, 306_359, "6f3c546aeaba8ffe"),
    ("intended", 0.8, 297_725, "47c5edbb2c7ec3aa"),
    ("kugamas", 0.5, 307_640, "760953915961123c"),
    ("kugamas", 0.8, 298_844, "d187da5793890de3"),
    ("jaer", 0.5, 289_881, "2c2695328e0b4972"),
    ("jaer", 0.8, 283_741, "5b71a8be1210c619"),
]


@pytest.fixture(scope="module")
def events(data_dir):
    return evcrisp.read(data_dir / "emlb" / "demo-01.aedat4")


@pytest.mark.parametrize(("encoding", "threshold", "kept", "digest"), MASKS)
def test_public_weights_give_known_masks(events, encoding, threshold, kept, digest):
    if not Path(_PUBLIC).is_file():
        pytest.skip("set EVCRISP_MLPF_PUBLIC to the public file of weights (.pt)")
    pytest.importorskip("torch", reason="TorchScript needs torch")
    labels = denoise(events, "mlpf", weights=_PUBLIC, encoding=encoding, threshold=threshold)
    assert labels.signal.sum() == kept
    assert hashlib.sha256(labels.signal.astype(np.uint8).tobytes()).hexdigest()[:16] == digest


def test_weights_keep_most_of_a_real_recording(events):
    assert 0.75 < denoise(events, "mlpf").signal.mean() < 0.95
