"""Masks of E-MLB and dv-processing, and counts by definition, on a real recording.

Hashes are of the mask as bytes, from E-MLB (its compiled headers) and dv-processing 2.0.4. Counts
without a hash come from independent implementations of the rules.
"""

import hashlib

import numpy as np
import pytest

import evcrisp
from evcrisp.filters import denoise


@pytest.fixture(scope="module")
def demo(data_dir):
    return evcrisp.read(data_dir / "emlb" / "demo-01.aedat4")


@pytest.mark.parametrize(
    ("name", "preset", "kept", "mask"),
    [
        ("evflow", "emlb", 80_297, "c688d7e22314cbbb"),
        ("red", "emlb", 176_767, "f22e4e5c78a8178a"),
        ("fastdecay", "dv", 280_069, "75712678d87339e0"),
    ],
)
@pytest.mark.parametrize("from_zero", [False, True])
def test_mask_matches_program(demo, name, preset, kept, mask, from_zero):
    events = demo
    if from_zero:
        t = demo.t - demo.t[0]
        events = evcrisp.Events(x=demo.x, y=demo.y, t=t, p=demo.p, resolution=demo.resolution)
    signal = denoise(events, name, preset).signal
    assert signal.sum() == kept
    assert hashlib.sha256(signal.astype(np.uint8).tobytes()).hexdigest()[:16] == mask


@pytest.mark.parametrize(
    ("name", "preset", "params", "kept"),
    [
        ("activity", "metavision", {}, 306_207),
        ("stc", "metavision", {}, 60_469),
        ("stc", "metavision", {"cut_trail": False}, 165_032),
        ("trail", "metavision", {}, 154_482),
        # Includes the first bursts that the preset loses.
        ("stc", None, {}, 66_657),
        ("stc", None, {"cut_trail": False}, 165_032),
    ],
)
def test_number_of_kept_events_of_metavision(demo, name, preset, params, kept):
    assert denoise(demo, name, preset, **params).signal.sum() == kept


def test_evflow_keeps_more_events_than_emlb(demo):
    labels = denoise(demo, "evflow", tau_us=2_000)
    assert labels.signal.sum() == 104_080
