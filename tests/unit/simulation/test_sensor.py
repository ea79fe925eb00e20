"""Events of a pixel against analytic results."""

import numpy as np
import pytest

from evcrisp.simulation import SensorConfig, simulate, slabs
from evcrisp.simulation.generate import build_paths
from evcrisp.simulation.scene import build_view
from evcrisp.simulation.settings import build_config

VIEW = (64, 48)
#: A sensor without mismatch, blur or refractory time.
PLAIN = {
    "resolution": VIEW,
    "mismatch": 0.0,
    "refractory_us": 0.0,
    "blur_px": 0.0,
    "duration_us": 40_000,
}


def step_image(columns=(100,), width=200, height=60):
    """Return an image that is dark, then bright, then dark ... with edges before ``columns``."""
    row = np.searchsorted(np.array(columns), np.arange(width), side="right") % 2
    return np.tile(row.astype(float), (height, 1))


def counts(simulation, select):
    image = np.zeros((VIEW[1], VIEW[0]), int)
    events = simulation.events[select]
    np.add.at(image, (events.y, events.x), 1)
    return image


def test_number_of_events_of_an_edge_is_log_contrast_over_threshold():
    # Log contrast 1, threshold 0.3. A pixel starts anywhere between its two thresholds, so that
    # it fires floor((1 + r) / 0.3) times with r even in -0.3..0.3: 2 to 4, on average 1/0.3 - 1/2.
    simulation = simulate(
        texture=step_image(), contrast=np.e, c_on=0.3, c_off=0.3, theta=(-500.0, 0.0), **PLAIN
    )
    assert simulation.events.p.all()
    passed = counts(simulation, slice(None))[:, 14:30]  # the edge runs from column 31.5 to 11.5
    assert set(np.unique(passed)) == {2, 3, 4}
    standard_error = passed.std() / np.sqrt(passed.size)
    assert passed.mean() == pytest.approx(1 / 0.3 - 0.5, abs=4 * standard_error)


def test_on_and_off_have_their_own_thresholds():
    bar = step_image((95, 105))
    simulation = simulate(
        texture=bar, contrast=np.e, c_on=0.05, c_off=0.1, theta=(-600.0, 0.0), **PLAIN
    )
    on = counts(simulation, simulation.events.p)[:, 18:24]
    off = counts(simulation, ~simulation.events.p)[:, 18:24]
    # Up by 1 in steps of 0.05, then down by 1 in steps of 0.1, give or take the first and last.
    assert set(np.unique(on)) <= {18, 19, 20, 21}
    assert set(np.unique(off)) <= {9, 10}


def test_bright_bar_moving_right_is_on_at_its_front_and_off_at_its_back():
    simulation = simulate(texture=step_image((90, 110)), theta=(500.0, 0.0), **PLAIN)
    events = simulation.events
    x, _ = simulation.motion.warp((500.0, 0.0), events.x, events.y, events.t / 1e6)
    # The image is centered in the view: the bar covers columns 22 to 41.
    assert events.p.any()
    assert not events.p.all()
    np.testing.assert_allclose(x[events.p], 41.5, atol=0.6)
    np.testing.assert_allclose(x[~events.p], 21.5, atol=0.6)


def test_events_of_an_edge_have_its_known_times():
    simulation = simulate(texture=step_image(), theta=(-500.0, 0.0), c_on=0.1, **PLAIN)
    events = simulation.events
    # The edge lies between columns 31 and 32, is 1 px wide, and reaches column x after this time.
    expected_us = (31.5 - events.x) / 500.0 * 1e6
    assert np.abs(events.t - expected_us).max() <= 0.5 / 500.0 * 1e6 + 1


@pytest.mark.parametrize("refractory_us", [1000, 7000])
def test_intervals_are_at_least_the_refractory_time(refractory_us):
    settings = {"texture": "rocks", "resolution": VIEW, "theta": (800.0, 0.0), "c_on": 0.05}
    free = simulate(**settings, refractory_us=0).events
    events = simulate(**settings, refractory_us=refractory_us).events
    assert shortest_interval(free) < 1000
    assert shortest_interval(events) >= refractory_us
    assert 0 < len(events) < len(free)


def shortest_interval(events):
    pixel = events.y.astype(np.int64) * events.width + events.x
    order = np.lexsort((events.t, pixel))
    same = np.diff(pixel[order]) == 0
    return np.diff(events.t[order])[same].min()


def test_thresholds_have_the_mismatch():
    config = build_config(None, {"mismatch": 0.2, "c_on": 0.3, "c_off": 0.15, "seed": 4})
    model, paths = build_paths(config)
    view = build_view(config, model)
    motions = slabs.slab_motions(paths, np.array([0.0]), view.base)
    pixels = slabs._initial_pixels(config, view, motions)
    n = pixels.c_on.size
    for values, middle in ((pixels.c_on, 0.3), (pixels.c_off, 0.15)):
        logs = np.log(values / middle)
        assert abs(logs.mean()) < 4 * 0.2 / np.sqrt(n)
        assert logs.std() == pytest.approx(0.2, rel=4 / np.sqrt(2 * n))
    assert abs(np.corrcoef(pixels.c_on, pixels.c_off)[0, 1]) < 4 / np.sqrt(n)


def test_scene_at_rest_has_no_signal():
    assert len(simulate(theta=(0.0, 0.0), resolution=VIEW).events) == 0


def test_twice_the_speed_for_half_the_time_gives_as_many_events():
    settings = {**PLAIN, "texture": "rocks", "theta": (200.0, 50.0)}
    slow = simulate(**settings)
    settings.update(theta=(400.0, 100.0), duration_us=20_000)
    fast = simulate(**settings)
    assert len(fast.events) == pytest.approx(len(slow.events), rel=0.005)


def test_number_of_events_hardly_depends_on_step_px():
    settings = {**PLAIN, "texture": "rocks", "c_on": 0.1, "c_off": 0.1}
    coarse = simulate(**settings)
    fine = simulate(**settings, step_px=0.05)
    assert len(coarse.events) == pytest.approx(len(fine.events), rel=0.02)


def test_small_first_buffer_loses_no_events(monkeypatch):
    settings = {"texture": "rocks", "resolution": VIEW, "noise_hz": 5.0}
    large = simulate(**settings)
    monkeypatch.setattr(slabs, "_FIRST_CAPACITY", 7)
    small = simulate(**settings)
    assert small.events.equals(large.events)
    np.testing.assert_array_equal(small.origin, large.origin)


def test_number_of_events_grows_with_contrast():
    low = simulate(texture=step_image(), contrast=1.1, theta=(-500.0, 0.0), **PLAIN)
    high = simulate(texture=step_image(), contrast=1000.0, theta=(-500.0, 0.0), **PLAIN)
    passed = counts(high, slice(None))[:, 14:30]
    assert counts(low, slice(None)).max() <= 1
    assert passed.mean() == pytest.approx(np.log(1000.0) / 0.2 - 0.5, abs=0.1)


def test_default_sensor_is_the_documented_one():
    assert SensorConfig() == SensorConfig(c_on=0.2, c_off=0.2, mismatch=0.1, refractory_us=100.0)
