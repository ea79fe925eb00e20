"""Windows of recordings at the ends of time."""

import numpy as np
import pytest

import evcrisp
from evcrisp import Events
from evcrisp.pipeline.windowing import Windowing

SETTINGS = (
    Windowing(),
    Windowing(displacement_px=3.0),
    Windowing(window_us=10_000),
    Windowing(window_us=10_000, overlap=0.5),
)


@pytest.mark.parametrize("windowing", SETTINGS, ids=str)
@pytest.mark.parametrize("ends", [(2**62 - 50_000, 2**62 - 1), (-(2**62), 2**62 - 1)])
def test_windows_at_the_ends_of_time_hold_all_events(windowing, ends):
    rng = np.random.default_rng(3)
    t = np.sort([*ends, *(rng.integers(0, 50_000, 500) % (ends[1] - ends[0]) + ends[0])])
    x, y, p = (rng.integers(0, size, t.size) for size in (32, 24, 2))
    events = Events(x=x, y=y, t=t, p=p, resolution=(32, 24))
    results = evcrisp.track(events, windowing=windowing, motion="translation")
    seen = np.unique(np.concatenate([result.window.events.t for result in results]))
    np.testing.assert_array_equal(seen, np.unique(t))
