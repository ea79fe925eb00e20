"""Recordings for tests of many recordings."""

import pytest

import evcrisp


@pytest.fixture(scope="package")
def scenes(tmp_path_factory):
    """Return a folder with three simulated recordings."""
    folder = tmp_path_factory.mktemp("scenes")
    for seed in (1, 2, 3):
        scene = evcrisp.simulate(
            resolution=(80, 60), duration_us=60_000 + 20_000 * seed, noise_hz=5.0, seed=seed
        )
        evcrisp.write(folder / f"scene{seed}.aedat4", scene.events.with_signal(None), imu=scene.imu)
    return folder
