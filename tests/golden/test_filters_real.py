"""Presets give the labels of their programs on a real recording."""

import hashlib

import numpy as np
import pytest

from evcrisp import Events, read
from evcrisp.filters import denoise

#: Filter, preset, parameters, kept events, start of the SHA-256 of the mask. The masks come from the
#: original programs, run on this recording.
MASKS = [
    ("raw", None, {}, 319_512, "e8751df3715d3c7a"),
    ("dwf", "emlb", {}, 236_834, "fa63014167f8a99c"),
    ("knoise", "emlb", {}, 97_063, "e0985e77d8c1341a"),
    ("ts", "emlb", {}, 190_182, "a091aa02a68d4f65"),
    ("ts", "emlb", {"tau_us": 20_000}, 300_389, "b581cc252ca2b75d"),
    ("ynoise", "emlb", {}, 259_072, "347242d5b169c410"),
    ("baf", "emlb", {}, 302_865, "e802b1890fa95242"),
    ("baf", "kugamas", {"tau_us": 2_000}, 259_072, "347242d5b169c410"),
    ("baf", "kugamas", {"tau_us": 2_000, "same_polarity": False}, 262_122, "9fc005c1573ccb0f"),
    ("padala", "kugamas", {}, 224_428, "1a425529dc01cdf9"),
    ("knoise", "kugamas", {}, 98_924, "bb3bad18f5be9a0d"),
    ("dwf", "kugamas", {}, 115_694, "7b50d5ecc117f972"),
    ("baf", "dv", {}, 261_950, "7cf0945ca16e7598"),
    ("knoise", "dv", {}, 92_309, "94978a28f4c36c4e"),
    ("pfd", "pfds", {}, 265_620, "72f4efc1d576512b"),
    ("pfd", "pfds", {"flicker": True}, 205_139, "cee49e140294e3db"),
    ("pfdslices", "pfd", {}, 279_983, "e768e45ac60dc043"),
    ("pfdslices", "pfd", {"flicker": True}, 267_214, "aceb9fcd1f8b0178"),
]

#: Counts of independent implementations; the original programs were not run.
COUNTS = [
    ("baf", "dv", {"tau_us": 9_999}, 306_204),
    ("baf", "jaer", {}, 293_779),
    ("baf", "metavision", {}, 306_207),
    ("baf", "tonic", {}, 296_388),
    ("stcf", "jaer", {}, 280_741),
    ("dwf", "jaer", {}, 289_226),
    ("density", None, {"fine": False}, 302_838),
    ("density", None, {}, 288_760),
    ("baf", None, {"tau_us": 1_000}, 213_082),
    ("baf", None, {"tau_us": 2_000}, 261_981),
    ("baf", None, {}, 295_610),
    ("baf", None, {"tau_us": 10_000}, 306_207),
    ("baf", None, {"tau_us": 25_000}, 311_945),
]

#: With time that starts at 0, which the programs treat as unset or as an event.
COUNTS_FROM_ZERO = [
    ("dwf", "emlb", 236_834),
    ("knoise", "emlb", 97_063),
    ("ts", "emlb", 190_180),
    ("ynoise", "emlb", 259_200),
    ("baf", "tonic", 297_125),
    ("pfd", "pfds", 267_451),
]


@pytest.fixture(scope="module")
def demo(data_dir):
    return read(data_dir / "emlb" / "demo-01.aedat4")


@pytest.mark.parametrize(("name", "preset", "params", "kept", "digest"), MASKS)
def test_mask_matches_program(demo, name, preset, params, kept, digest):
    signal = denoise(demo, name, preset, **params).signal
    assert np.count_nonzero(signal) == kept
    assert hashlib.sha256(signal.tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize(("name", "preset", "params", "kept"), COUNTS)
def test_number_of_kept_events(demo, name, preset, params, kept):
    assert np.count_nonzero(denoise(demo, name, preset, **params).signal) == kept


@pytest.mark.parametrize(("name", "preset", "kept"), COUNTS_FROM_ZERO)
def test_number_of_kept_events_from_time_zero(demo, name, preset, kept):
    events = Events(x=demo.x, y=demo.y, t=demo.t - demo.t[0], p=demo.p, resolution=demo.resolution)
    assert np.count_nonzero(denoise(events, name, preset).signal) == kept


def test_scores_of_ebf_match_program(demo):
    """The sum and the counts come from ebf1231retest.py of github.com/shicy17/EBF (03e6606).

    It shifts the pixels around events near the border, so that these are left out.
    """
    events = demo[:20_000]
    is_inside = (events.x >= 3) & (events.x < 343) & (events.y >= 3) & (events.y < 257)
    score = denoise(events, "ebf").score[is_inside]
    assert score.size == 19_973
    np.testing.assert_allclose(score.sum(), 201731.0185625, rtol=1e-12)
    assert [np.count_nonzero(score > level) for level in (1, 5, 10)] == [18_818, 16_420, 10_987]
