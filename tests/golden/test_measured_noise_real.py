"""Noise that was measured on a real sensor, by IEBCS."""

import numpy as np
import pytest

from evcrisp.simulation import load_measured, simulate

#: Files of ON and OFF, and the numbers of pixels without noise.
FILES = {
    ("noise_pos_0.1lux.npy", "noise_neg_0.1lux.npy"): (1, 2),
    ("noise_pos_161lux.npy", "noise_neg_161lux.npy"): (1650, 2495),
}


@pytest.fixture(params=FILES, ids=lambda names: names[0])
def names(request):
    return request.param


@pytest.fixture
def paths(data_dir, names):
    folder = data_dir / "iebcs-noise"
    if not folder.is_dir():
        pytest.skip("no measured noise; see tests/data/fetch.py")
    return [folder / name for name in names]


def test_real_files_have_2500_pixels_and_known_silent_ones(paths, names):
    noise = load_measured(paths)
    assert len(noise.on) == len(noise.off) == 2500
    assert (noise.on.is_silent.sum(), noise.off.is_silent.sum()) == FILES[names]
    lux = names[0].removeprefix("noise_pos_").removesuffix(".npy")
    assert load_measured(paths[0].parent, lux).digest == noise.digest


def test_simulated_noise_has_the_rates_of_the_measured_pixels(paths):
    simulation = simulate(
        resolution=(250, 200), theta=(0.0, 0.0), duration_us=1_000_000, measured=paths
    )
    noise = load_measured(paths)
    n_on = simulation.events.n_on
    for found, rate_hz in (
        (n_on, noise.on.rate_hz),
        (len(simulation.events) - n_on, noise.off.rate_hz),
    ):
        # 20 pixels of the sensor per measured pixel; a few busy ones make most of the events.
        spread = np.sqrt(20 * (rate_hz**2).sum() + found)
        assert found == pytest.approx(20 * rate_hz.sum(), abs=5 * spread)
