"""`Flow`: shapes, units, validity."""

import numpy as np
import pytest

from evcrisp import ConfigError, EventDataError
from evcrisp.core.flow import Flow


def field(shape=(3, 5), velocity=(200.0, -100.0)):
    return np.full((*shape, 2), velocity), np.ones(shape, bool)


def test_displacement_is_velocity_times_duration():
    flow = Flow(*field(), t_start=1_000, t_end=51_000)
    assert flow.duration_s == 0.05
    assert flow.resolution == (5, 3)
    np.testing.assert_array_equal(flow.displacement_px, np.full((3, 5, 2), (10.0, -5.0)))
    assert flow.velocity.dtype == flow.displacement_px.dtype == np.float32


def test_unknown_velocities_are_nan_and_the_arrays_of_the_caller_stay():
    velocity, valid = field()
    valid[1, 2] = False
    velocity[1, 2] = np.inf  # allowed: it is not valid
    flow = Flow(velocity, valid, 0, 10)
    np.testing.assert_array_equal(np.isnan(flow.velocity).all(axis=2), ~valid)
    assert np.isinf(velocity[1, 2]).all()
    velocity[0, 0] = 7.0
    assert flow.velocity[0, 0].tolist() == [200.0, -100.0]
    with pytest.raises(ValueError, match="read-only"):
        flow.velocity[0, 0] = 1.0


def test_samples_are_those_of_the_nearest_pixel():
    y, x = np.mgrid[:3, :5]
    flow = Flow(np.stack((x, y), axis=2), x != 3, 0, 10)
    found = flow.at([0, 2, 3, 1.4, 4.4, 4.6, -0.4, -1, 2, np.nan], [0, 1, 1, 1.6, 2, 2, 0, 0, 3, 0])
    nothing = [np.nan, np.nan]
    expected = [[0, 0], [2, 1], nothing, [1, 2], [4, 2], nothing, [0, 0], nothing, nothing, nothing]
    np.testing.assert_array_equal(found, expected)
    assert flow.at([], []).shape == (0, 2)
    with pytest.raises(EventDataError, match="one length"):
        flow.at([1, 2], [1])


def test_text_has_size_time_and_speed():
    velocity, valid = field(velocity=(3.0, 4.0))
    valid[0] = False
    assert repr(Flow(velocity, valid, 5, 9)) == (
        "Flow(resolution=5x3, t=5..9 us, valid=10 of 15, mean speed=5 px/s)"
    )
    assert repr(Flow(velocity, np.zeros_like(valid), 5, 9)).endswith("valid=0 of 15)")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"velocity": np.zeros((3, 5))}, r"^`velocity` must have shape \(h, w, 2\)"),
        ({"velocity": np.zeros((2, 3, 5))}, r"^`velocity` must have shape \(h, w, 2\)"),
        ({"velocity": np.zeros((0, 5, 2))}, "^`resolution` must be"),
        ({"valid": np.ones((5, 3), bool)}, r"^`valid` must be bool of shape \(3, 5\)"),
        ({"valid": np.ones((3, 5))}, "^`valid` must be bool"),
        ({"velocity": np.full((3, 5, 2), np.nan)}, "must be finite at valid pixels.*x=0, y=0"),
        ({"velocity": np.full((3, 5, 2), 1e39)}, "must be finite at valid pixels; got .inf"),
        ({"t_start": 20}, "must end after it starts; got 20 to 20"),
    ],
)
def test_wrong_fields_raise(changes, message):
    velocity, valid = field()
    arguments = {"velocity": velocity, "valid": valid, "t_start": 0, "t_end": 20}
    with pytest.raises(EventDataError, match=message):
        Flow(**{**arguments, **changes})


@pytest.mark.parametrize("name", ["t_start", "t_end"])
def test_times_are_whole_microseconds(name):
    times = {"t_start": 0, "t_end": 20, name: 0.5}
    with pytest.raises(ConfigError, match=f"`{name}` must be a whole number"):
        Flow(*field(), **times)
