"""Filters refuse impossible parameters with a message that says what is allowed."""

import pytest

from evcrisp import ConfigError
from evcrisp.filters import build_filter

NAN = float("nan")

CASES = [
    ("activity", {"tau_us": 0}, "`tau_us` must be a number, 1 or more; got 0."),
    ("baf", {"tau_us": 0}, "`tau_us` must be a number, 1 or more; got 0."),
    ("baf", {"tau_us": 2**60}, "`tau_us` must be a number in 1..9.0072e+15; got 1152"),
    ("baf", {"radius": 0}, "`radius` must be a number in 1..100; got 0."),
    ("dbscan", {"min_events": 0}, "`min_events` must be a number, 1 or more; got 0."),
    ("dbscan", {"radius": 1}, "`radius` must be a number in 2..100; got 1."),
    ("density", {"k": 0}, "`k` must be a number, 1 or more; got 0."),
    ("dwf", {"length": 2, "k": 5}, "`k` must be a number in 1..4; got 5. Increase `length`."),
    ("ebf", {"radius": 0}, "`radius` must be a number in 1..100; got 0."),
    ("ebf", {"tau_us": 10**11}, "`tau_us` must be a number in 1..1e+10; got 100000000000."),
    ("ebf", {"threshold": -1.0}, "`threshold` must be a number, 0 or more; got -1.0."),
    ("evflow", {"max_px_ms": 0.0}, "`max_px_ms` must be a positive number; got 0.0."),
    ("evflow", {"min_events": 2}, "`min_events` must be a number, 3 or more; got 2."),
    ("evflow", {"radius": 0}, "`radius` must be a number in 1..100; got 0."),
    ("evflow", {"tau_us": 0}, "`tau_us` must be a number, 1 or more; got 0."),
    ("fastdecay", {"cell_px": 0}, "`cell_px` must be a number, 1 or more; got 0."),
    ("fastdecay", {"half_life_us": 0}, "`half_life_us` must be a number, 1 or more; got 0."),
    ("fastdecay", {"threshold": -1.0}, "`threshold` must be a number, 0 or more; got -1.0."),
    ("hashheat", {"counters": 1000}, "65536, 131072; got 1000."),
    ("hashheat", {"hashes": 1}, "`hashes` must be a number, 2 or more; got 1."),
    ("hashheat", {"width_px": 0.0}, "`width_px` must be a positive number; got 0.0."),
    ("hotpixel", {"least": float("inf")}, "`least` must be a positive number; got inf."),
    ("iets", {"tau_us": 0.0}, "`tau_us` must be a number above 0 and at most 1e+12; got 0.0."),
    ("iets", {"threshold": 0.0}, "`threshold` must be a number above 0 and at most 1; got 0.0."),
    ("knoise", {"k": 7}, "`k` must be a number in 1..6; got 7."),
    ("mlpf", {"encoding": "cuke"}, "`encoding` must be one of 'intended', 'kugamas', 'jaer'; got"),
    ("mlpf", {"tau_us": 0}, "`tau_us` must be a number, 1 or more; got 0."),
    ("mlpf", {"threshold": 1.5}, "`threshold` must be a number in 0..1; got 1.5."),
    ("padala", {"refractory_us": 0}, "`refractory_us` must be a number, 1 or more; got 0."),
    ("pfd", {"k": 9}, "`k` must be a number in 1..8; got 9."),
    ("pfd", {"max_changes": 0.0}, "`max_changes` must be a positive number; got 0.0."),
    ("pfd", {"memory": 0}, "`memory` must be a number in 1..1000; got 0."),
    ("pfd", {"min_active": 0}, "`min_active` must be a number in 1..8; got 0."),
    ("pfd", {"window_us": 0}, "`window_us` must be a number, 1 or more; got 0."),
    ("pfdslices", {"k": 0}, "`k` must be a number in 1..8; got 0."),
    ("pfdslices", {"max_changes": -1.0}, "`max_changes` must be a positive number; got -1.0."),
    ("pfdslices", {"min_active": 9}, "`min_active` must be a number in 1..8; got 9."),
    ("pfdslices", {"window_us": 0}, "`window_us` must be a number, 1 or more; got 0."),
    (
        "pugm",
        {"coupling": -1.0},
        "`coupling` must be a number above 0 and at most 1e+12; got -1.0.",
    ),
    ("pugm", {"data": NAN}, "`data` must be a number in -1e+12..1e+12; got nan."),
    ("pugm", {"sweeps": 0}, "`sweeps` must be a number, 1 or more; got 0."),
    ("red", {"sigma_px": 0.0}, "`sigma_px` must be a number in 0.05..100; got 0.0."),
    ("red", {"threshold": NAN}, "`threshold` must be a finite number; got nan."),
    ("refractory", {"period_us": -5}, "`period_us` must be a number, 1 or more; got -5."),
    ("stc", {"tau_us": -1}, "`tau_us` must be a number, 1 or more; got -1."),
    ("stcf", {"k": 9}, "`k` must be a number in 1..8; got 9. There are no more neighbors."),
    ("stcf", {"pair_us": -1}, "`pair_us` must be a number, 0 or more; got -1."),
    ("trail", {"tau_us": 0}, "`tau_us` must be a number, 1 or more; got 0."),
    ("ts", {"tau_us": 10**11}, "`tau_us` must be a number in 1..1e+10; got 100000000000."),
    ("ts", {"threshold": 0.0}, "`threshold` must be a number above 0 and at most 1; got 0.0."),
    ("ts", {"threshold": NAN}, "`threshold` must be a number above 0 and at most 1; got nan."),
]


@pytest.mark.parametrize(("name", "params", "message"), CASES)
def test_impossible_parameter_raises(name, params, message):
    with pytest.raises(ConfigError) as caught:
        build_filter(name, **params)
    assert message in str(caught.value)
