import math

import numpy as np
import pytest

from evcrisp.core.errors import ConfigError
from evcrisp.core.validation import as_numbers, check_choice, check_number, check_type


@pytest.mark.parametrize(
    ("options", "accepted", "rejected", "message"),
    [
        ({}, -1.5, math.inf, "must be a finite number"),
        ({"low": 0}, 0, -1, "must be a number, 0 or more"),
        ({"low": 0, "open_low": True}, 1e-9, 0, "must be a positive number"),
        ({"low": 0, "high": 1}, 1, 1.1, r"must be a number in 0\.\.1; got 1\.1"),
        ({"low": 0, "high": 1, "open_low": True}, 1, 0, "above 0 and at most 1"),
        ({"low": 1, "whole": True}, np.int32(1), 0, "must be a positive whole number"),
        ({"whole": True}, -3, 2.0, "must be a whole number; got 2.0"),
        ({"low": 1, "high": 10**8, "whole": True}, 5, 0, r"in 1\.\.100000000"),
        ({}, np.float32(1.0), True, "must be a finite number; got True"),
        ({}, 1, "1", "must be a finite number; got '1'"),
        ({}, 1, math.nan, "must be a finite number; got nan"),
    ],
)
def test_check_number_accepts_the_range_only(options, accepted, rejected, message):
    check_number("k", accepted, **options)
    with pytest.raises(ConfigError, match=f"^`k` .*{message}"):
        check_number("k", rejected, **options)


def test_check_choice_and_check_type_name_the_expected_values():
    check_choice("mode", "a", ("a", "b"))
    with pytest.raises(ConfigError, match="`mode` must be one of 'a', 'b'; got 'c'"):
        check_choice("mode", "c", ("a", "b"))
    check_type("error", ConfigError("x"), Exception)
    with pytest.raises(ConfigError, match="`error` must be an Exception; got 5. Try again."):
        check_type("error", 5, Exception, "Try again.")


@pytest.mark.parametrize(
    ("values", "count", "message"),
    [
        ("fast", None, "`v` must be numbers; got 'fast'"),
        ((), None, "`v` must be numbers"),
        ((1.0, math.nan), None, "`v` must be finite"),
        ((1.0, 2.0), 3, r"`v` must be numbers; got \(1.0, 2.0\)"),
        ((1.0, 2.0), 1, "`v` must be a number"),
    ],
)
def test_as_numbers_raises(values, count, message):
    with pytest.raises(ConfigError, match=message):
        as_numbers("v", values, count)


def test_as_numbers_returns_floats():
    assert as_numbers("v", 3) == (3.0,)
    assert as_numbers("v", np.array([1, 2]), 2) == (1.0, 2.0)
