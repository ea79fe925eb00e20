"""Parts that are built by name: values of the wrong kind."""

import pytest

from evcrisp import ConfigError
from evcrisp.core.registry import build
from evcrisp.estimators.registry import ESTIMATORS


@pytest.mark.parametrize("option", ["contrast", "search"])
@pytest.mark.parametrize("value", [1, 0.5, "x", True])
def test_number_in_place_of_an_object_is_refused(option, value):
    with pytest.raises(ConfigError, match=rf"'{option}' of the method 'cmax'.*must be an object"):
        build(ESTIMATORS, "cmax", "method", **{option: value})
