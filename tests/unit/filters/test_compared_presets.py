"""Presets are called equal to a program only where a test compares their labels with it."""

from tests.golden import test_filters_real, test_filters_vendor_real

from evcrisp.filters import FILTERS
from evcrisp.filters.protocol import about, presets

#: Compared with the installed program in `test_presets.py`.
LIVE = {("baf", "dv"), ("knoise", "dv"), ("fastdecay", "dv"), ("refractory", "eventcv")}


def masks_of_programs():
    """Return filter and preset of every mask that a program made."""
    marks = test_filters_vendor_real.test_mask_matches_program.pytestmark
    rows = next(mark.args[1] for mark in marks if "mask" in mark.args[0])
    found = {(name, preset) for name, preset, *_ in (*test_filters_real.MASKS, *rows)}
    return {pair for pair in found if pair[1] is not None}


def test_compared_presets_are_those_with_a_mask_of_the_program():
    claimed = {(kind.name, name) for kind in FILTERS.values() for name in about(kind).compared}
    assert claimed == masks_of_programs() | LIVE


def test_compared_presets_exist():
    for kind in FILTERS.values():
        assert set(about(kind).compared) <= set(presets(kind))
