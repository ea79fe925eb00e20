"""Laws of layers: what labels, velocities and positions have to do with each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evcrisp
from evcrisp import Estimate, Events, Status, Window
from evcrisp.estimators.layer import LayerMap, LayerMotion, slices_at
from evcrisp.motion import Affine
from evcrisp.motion.open_motion import OPEN_MOTIONS
from evcrisp.simulation import ObjectConfig

SIZE = (37, 26)
WINDOW_US = 30_000

seeds = st.integers(0, 2**32 - 1)


def built(seed, t_start, length_us, n=60):
    """Return an estimate with random layers, motions and labels."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.integers(0, length_us, n))
    events = Events(
        x=rng.integers(0, SIZE[0], n), y=rng.integers(0, SIZE[1], n), t=t_start + t,
        p=rng.integers(0, 2, n) > 0, resolution=SIZE,
    )  # fmt: skip
    window = Window(events, t_start, t_start + length_us)
    n_layers = int(rng.integers(1, 4))
    motions = tuple(
        LayerMotion(
            motion=Affine(tuple(rng.uniform(0, 30, 2))),
            theta=rng.normal(0, 1, 6) * ([200.0] * 2 + [2.0] * 4),
        )
        for _ in range(n_layers)
    )
    layer_map = LayerMap(rng.integers(0, n_layers, (3, 4, 5)).astype(np.int16), 8)
    signal = rng.integers(0, 2, n) > 0
    layer = layer_map.at(events.x, events.y, t / length_us)
    result = Estimate(
        theta=motions[0].theta, motion=motions[0].motion, signal=signal, score=np.zeros(n),
        confidence=np.zeros(n), aligned_x=np.zeros(n), aligned_y=np.zeros(n), window=window,
        status=Status.CONVERGED, config=None, layer_motions=motions, layer_map=layer_map,
        layer=np.where(signal, layer, -1).astype(np.int16),
    )  # fmt: skip
    return result, layer


@settings(deadline=None)
@given(
    seed=seeds,
    t_start=st.sampled_from([0, -17, 2**61]),
    length_us=st.one_of(st.integers(1, 50), st.integers(1, 10**8)),
)
def test_velocity_and_position_are_those_of_the_own_layer(seed, t_start, length_us):
    result, layer = built(seed, t_start, length_us)
    events, window = result.window.events, result.window
    dt = (events.t - window.t_ref) / 1e6
    x, y = result.align(events, window.t_ref)
    for k, part in enumerate(result.layer_motions):
        mine = layer == k
        wanted = part.motion.warp(part.theta, events.x[mine], events.y[mine], dt[mine])
        np.testing.assert_allclose((x[mine], y[mine]), wanted, rtol=1e-12, atol=1e-9)
    assert sum(len(part) for part in result.layers) == result.signal.sum()


@settings(deadline=None)
@given(seed=seeds, length_us=st.integers(2, 10**6))
def test_velocity_of_events_at_the_reference_time_is_that_of_the_flow(seed, length_us):
    result, _ = built(seed, 0, length_us)
    events, window = result.window.events, result.window
    now = Events(
        x=events.x, y=events.y, t=np.full(len(events), window.t_ref), p=events.p, resolution=SIZE
    )
    still = Estimate(
        **{name: getattr(result, name) for name in Estimate.__slots__ if name != "window"},
        window=Window(now, window.t_start, window.t_end),
    )
    flow = still.flow(everywhere=True)
    # The flow is stored in single precision.
    np.testing.assert_allclose(flow.at(now.x, now.y), still.velocity, rtol=1e-5, atol=1e-3)


@settings(deadline=None)
@given(st.integers(1, 10**8), st.data())
def test_slices_are_those_of_whole_numbers(length_us, data):
    borders = [k * length_us // 3 + i for k in range(4) for i in (-1, 0, 1)]
    borders.append(data.draw(st.integers(0, length_us - 1)))
    t = np.array([at for at in borders if 0 <= at < length_us])
    wanted = 3 * t // length_us
    half = length_us // 2
    # As the search and the result compute it.
    of_search = (t - half) / 1e6 / (length_us / 1e6) + half / length_us
    of_result = ((t - half) / 1e6 + half / 1e6) / (length_us / 1e6)
    for share in (t / length_us, of_search, of_result):
        np.testing.assert_array_equal(slices_at(share, 3), wanted)


def assert_consistent(result):
    events, n_layers = result.window.events, len(result.layer_motions)
    np.testing.assert_array_equal(result.layer == -1, ~result.signal)
    assert result.layer.max(initial=-1) < n_layers
    for name in ("score", "theta", "aligned_x", "aligned_y", "velocity"):
        assert np.isfinite(getattr(result, name)).all(), name
    x, y = result.align(events, result.window.t_ref)
    np.testing.assert_allclose(x, result.aligned_x, atol=1e-9)
    np.testing.assert_allclose(y, result.aligned_y, atol=1e-9)
    for k, part in enumerate(result.layers):
        mine = result.layer == k
        assert len(part) == mine.sum()
        dt = (events.t[mine] - result.window.t_ref) / 1e6
        wanted = part.motion.warp(part.theta, events.x[mine], events.y[mine], dt)
        found = result.aligned_x[mine], result.aligned_y[mine]
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert np.all(np.diff(sorted({part.id for part in result.layers})) > 0)


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
@settings(deadline=None, max_examples=12)
@given(
    seed=seeds, n=st.integers(300, 900), width=st.integers(1, 60), height=st.integers(1, 60),
    length_us=st.sampled_from([1, 7, 31, 30_000, 30_001]),
)  # fmt: skip
def test_any_window_has_consistent_layers(motion, seed, n, width, height, length_us):
    rng = np.random.default_rng(seed)
    events = Events(
        x=rng.integers(0, width, n), y=rng.integers(0, height, n),
        t=np.sort(rng.integers(0, length_us, n)), p=rng.integers(0, 2, n) > 0,
        resolution=(width, height),
    )  # fmt: skip
    assert_consistent(evcrisp.estimate(Window(events, 0, length_us), motion=motion))


def two_objects(seed):
    objects = (
        ObjectConfig(theta=(-250, 120), center=(0.28, 0.35), size=(0.35, 0.45), texture="dots"),
        ObjectConfig(theta=(250, 220), center=(0.7, 0.62), size=(0.35, 0.45), texture="dots"),
    )
    return evcrisp.simulate(
        resolution=(173, 130), theta=(150.0, -60.0), objects=objects, duration_us=WINDOW_US,
        noise_hz=5.0, seed=seed,
    ).events.with_signal(None)  # fmt: skip


def changed(events, **columns):
    old = {name: getattr(events, name) for name in "xytp"}
    return Events(**(old | columns), resolution=events.resolution)


@pytest.fixture(scope="module", params=[1, 2, 3])
def layered(request):
    events = two_objects(request.param)
    return events, evcrisp.estimate(Window(events, 0, WINDOW_US))


def test_layers_of_a_scene_are_consistent(layered):
    events, result = layered
    assert len(result.layer_motions) == 3
    assert_consistent(result)
    # Times of whole milliseconds lie on the borders of slices.
    coarse = changed(events, t=events.t // 1000 * 1000)
    assert_consistent(evcrisp.estimate(Window(coarse, 0, WINDOW_US)))


@pytest.mark.parametrize("axis", [0, 1], ids=["x", "y"])
def test_a_mirrored_window_has_mirrored_layers(layered, axis):
    events, result = layered
    name, side, sign = "xy"[axis], events.resolution[axis], np.ones(2)
    sign[axis] = -1.0
    mirrored = changed(events, **{name: side - 1 - getattr(events, name)})
    other = evcrisp.estimate(Window(mirrored, 0, WINDOW_US))
    assert len(other.layer_motions) == len(result.layer_motions)
    # Cells, maps and noise samples start at a corner. Measured over 24 scenes: labels of at most
    # 3.0 % of the events differ, and velocities by 0.14 px (median of a scene).
    assert (other.signal != result.signal).mean() < 0.04
    both = other.signal & result.signal
    difference = np.linalg.norm(other.velocity * sign - result.velocity, axis=1)[both]
    assert np.median(difference) * WINDOW_US / 1e6 < 0.3


def test_swapped_polarity_has_the_same_motion(layered):
    events, result = layered
    other = evcrisp.estimate(Window(changed(events, p=~events.p), 0, WINDOW_US))
    np.testing.assert_allclose(other.velocity, result.velocity, rtol=1e-6, atol=1e-3)
    # Noise samples keep their polarity, which moves the threshold a little: measured 2.3 %.
    assert (other.signal != result.signal).mean() < 0.03


def test_later_windows_have_the_same_layers(layered):
    events, result = layered
    offset = 3_000_000_000_000
    later = Window(changed(events, t=events.t + offset), offset, offset + WINDOW_US)
    other = evcrisp.estimate(later)
    for name in ("signal", "layer", "score", "velocity", "aligned_x", "aligned_y"):
        np.testing.assert_array_equal(getattr(other, name), getattr(result, name), err_msg=name)
