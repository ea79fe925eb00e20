"""A fixed share of the fuzzing: the same inputs in each run, in a process of their own."""

import pytest
from tests.fuzz.campaign import TARGETS, run_campaign

#: Inputs of a target: about 65 s of processor time. HDF5 starts a process after each error.
COUNTS = {name: {"ros2": 150, "hdf5": 40}.get(name, 300) for name in TARGETS}


@pytest.mark.slow
@pytest.mark.parametrize("target", COUNTS)
def test_damaged_inputs_are_read_or_refused(target):
    report = run_campaign(target, seed=20, start=0, count=COUNTS[target])
    assert report.findings == []
    assert report.n_inputs == COUNTS[target]
    assert report.outcomes.get("refused", 0) + report.outcomes.get("kept", 0) > 0


def test_inputs_depend_on_their_number_only():
    first = run_campaign("calibration", seed=5, start=0, count=200)
    parts = [run_campaign("calibration", seed=5, start=at, count=100) for at in (0, 100)]
    total = {
        name: sum(part.outcomes.get(name, 0) for part in parts) for name in ("read", "refused")
    }
    assert first.outcomes == total
