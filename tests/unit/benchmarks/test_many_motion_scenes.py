"""Scenes with many motions: valid, with history, and with the truth of their events."""

import numpy as np
import pytest
from benchmarks.quality import many_motion_scenes as scenes


@pytest.mark.parametrize("name", [name for name in scenes.SCENES if name != scenes.MEASURED])
def test_every_scene_has_its_own_valid_configuration(name):
    config = scenes.config_of(name)
    assert config.duration_us == scenes.HISTORY_US + scenes.WINDOW_US
    assert config.resolution in (scenes.RESOLUTION, scenes.HD)
    assert config == scenes.config_of(name)
    assert (
        sum(
            scenes.config_of(other) == config for other in scenes.SCENES if other != scenes.MEASURED
        )
        == 1
    )


def test_there_are_scenes_of_all_kinds():
    assert len(scenes.SCENES) >= 20
    configs = [scenes.config_of(name) for name in scenes.SCENES if name != scenes.MEASURED]
    assert {len(config.scene.objects) for config in configs} >= {0, 1, 2, 3, 4, 5, 6}
    assert {config.field.name for config in configs if config.field} == {
        "forward", "parallax", "shear", "vortex",
    }  # fmt: skip
    assert {config.noise.uniform_hz for config in configs} == {2.0, 5.0, 10.0, 20.0}
    assert {config.resolution for config in configs} == {scenes.RESOLUTION, scenes.HD}


def test_window_has_history_and_truth():
    simulation, window = scenes.scene("two objects opposite, still")
    events = simulation.events
    assert 15_000 < len(window.events) < 50_000
    assert window.index > 30_000
    assert events.t[window.index - 1] < window.t_start == 60_000 <= window.events.t[0]
    truth = scenes.truth(simulation, window)
    signal = truth["signal"]
    np.testing.assert_array_equal(signal, truth["object"] != 255)
    np.testing.assert_array_equal(signal, ~np.isnan(truth["velocity"]).any(axis=1))
    for layer, theta in ((1, (260.0, 40.0)), (2, (-260.0, -60.0))):
        mean = truth["velocity"][truth["object"] == layer].mean(axis=0)
        np.testing.assert_allclose(mean, theta, atol=60.0)
    assert (truth["object"] == 0).sum() == 0
