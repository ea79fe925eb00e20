"""A camera that rolls before spokes: edges that show only the motion across them."""

import numpy as np
import pytest

import evcrisp

ROLL_RAD_S, SHIFT_PX_S = 0.5, -6.0


@pytest.mark.parametrize(("noise_hz", "seed"), [(1.0, 0), (5.0, 2), (3.0, 5)])
def test_spokes_that_turn_have_one_motion(noise_hz, seed):
    scene = evcrisp.simulate(
        motion="similarity", theta=(0.0, SHIFT_PX_S, ROLL_RAD_S, 0.0), duration_us=300_000,
        texture="star", noise_hz=noise_hz, seed=seed, resolution=(240, 180),
    )  # fmt: skip
    windowing = evcrisp.Windowing(window_us=100_000)
    results = list(evcrisp.track(scene.events, windowing=windowing))
    assert len(results) == 3
    for result in results:
        events, kept = result.window.events, result.signal
        truth = np.stack(
            (
                -ROLL_RAD_S * (events.y - 89.5),
                SHIFT_PX_S + ROLL_RAD_S * (events.x - 119.5),
            ),
            axis=-1,
        )
        error = np.linalg.norm(result.velocity - truth, axis=1)[kept].mean()
        assert len(result.layers) == 1
        assert error < 0.05 * np.linalg.norm(truth, axis=1)[kept].mean()
