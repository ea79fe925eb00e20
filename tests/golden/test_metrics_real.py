"""Metrics of a real recording against the programs that defined them.

The structural ratios were computed by the code of E-MLB, the contrast curve with OpenCV.
"""

import numpy as np
import pytest

import evcrisp
from evcrisp.metrics import aocc, esr, random_subset


@pytest.fixture(scope="module")
def demo(data_dir):
    path = data_dir / "emlb/demo-01.aedat4"
    if not path.exists():
        pytest.skip("demo-01.aedat4 of E-MLB is not among the real recordings")
    return evcrisp.read(path)


def test_esr_of_every_slice(demo):
    report = esr(demo)
    expected = [
        *(1.061386, 1.014296, 0.979756, 0.951619, 1.018022),
        *(1.134008, 1.056065, 0.992624, 0.955642, 0.969858),
    ]
    np.testing.assert_allclose(report.slices.esr, expected, atol=1e-6)
    assert report.esr == pytest.approx(1.0133275676, abs=1e-9)
    assert report.slices.esr.std() == pytest.approx(0.054133, abs=1e-6)
    assert report.slices.ntss[0] == pytest.approx(1.517784e-4, rel=1e-6)
    assert report.slices.l_n[0] == pytest.approx(7422.273, abs=1e-3)
    assert report.esr_v2 == pytest.approx(3.350825, abs=1e-6)


def test_esr_of_older_program_excludes_last_slice(demo):
    assert esr(demo).slices.esr[:-1].mean() == pytest.approx(1.018158, abs=1e-6)


def test_esr_of_time_slices_and_of_one_slice(demo):
    report = esr(demo, slice_us=33_000)
    assert report.n_slices == 15
    assert report.esr == pytest.approx(0.931056, abs=1e-6)
    assert report.esr_v2 == pytest.approx(3.036891, abs=1e-6)
    assert esr(demo, slice_events=len(demo)).esr == pytest.approx(1.270624, abs=1e-6)


def test_random_deletion_lowers_esr(demo):
    rng = np.random.default_rng(0)
    known = {0.75: (239_850, 0.993688), 0.50: (159_473, 0.964597), 0.25: (79_703, 0.961524)}
    for share, (n_kept, expected) in known.items():
        control = demo[rng.random(len(demo)) < share]
        assert len(control) == n_kept
        assert esr(control).esr == pytest.approx(expected, abs=1e-6)
        # `random_subset` draws other events of the same number; the ratio is similar.
        drawn = esr(random_subset(demo, n_kept))
        assert drawn.esr == pytest.approx(expected, abs=0.02)


def test_aocc_of_recording(demo):
    curve = aocc(demo)
    assert curve.aocc == pytest.approx(17_667_512, abs=1)
    found = curve.contrast[np.searchsorted(curve.durations_us, [2e3, 20e3, 100e3, 200e3])]
    np.testing.assert_allclose(found, [36.9126, 79.3520, 90.6550, 97.4039], atol=5e-5)
    half = demo[np.random.default_rng(0).random(len(demo)) < 0.5]
    assert aocc(half).aocc == pytest.approx(15_344_833, abs=1)


def test_chunks_give_same_numbers_as_whole(demo, data_dir):
    with evcrisp.open(data_dir / "emlb/demo-01.aedat4") as recording:
        assert esr(recording.chunks(50_000)).esr == esr(demo).esr
        assert aocc(recording.chunks(50_000)).aocc == aocc(demo).aocc
