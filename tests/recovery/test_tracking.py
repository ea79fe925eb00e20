"""Tracking over a recording: motion, labels, statuses and warnings."""

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, Events, UnknownNameError
from evcrisp.core.doubt import Doubt
from evcrisp.core.status import Status
from evcrisp.estimators.estimate import warn_ideal_lens
from evcrisp.pipeline.label_merging import merge_labels
from evcrisp.pipeline.tracking import track
from evcrisp.pipeline.windowing import Windowing
from evcrisp.simulation import DEFAULT_THETA


@pytest.fixture(scope="module")
def scene():
    return evcrisp.simulate(
        resolution=(160, 120), theta=(250.0, -100.0), duration_us=200_000, noise_hz=2.0, seed=4
    )


def chunked(events, n):
    return (events[i : i + n] for i in range(0, len(events), n))


@pytest.mark.parametrize(
    "windows",
    [
        Windowing(window_us=25_000),
        Windowing(window_us=40_000, overlap=0.5),
        Windowing(window_events=8_000),
        Windowing(displacement_px=6.0),
    ],
    ids=["time", "overlap", "count", "displacement"],
)
def test_motion_is_recovered_in_every_window(scene, windows):
    results = list(track(scene.events, "cmax", windowing=windows))
    assert len(results) > 3
    long_enough = [r for r in results if len(r) > 2000]
    assert len(long_enough) >= len(results) - 1
    for result in long_enough:
        assert result.status is Status.CONVERGED
        duration_s = (result.window.t_end - result.window.t_start) / 1e6
        error_px = np.abs(result.theta - (250.0, -100.0)) * duration_s
        assert error_px.max() < 0.3


def test_displacement_sets_the_window_length(scene):
    results = list(track(scene.events, "cmax", windowing=Windowing(displacement_px=6.0)))
    speed = np.hypot(250.0, 100.0)
    lengths = [r.window.t_end - r.window.t_start for r in results[1:-1]]
    np.testing.assert_allclose(lengths, 6e6 / speed, rtol=0.1)


def test_results_do_not_depend_on_chunks(scene):
    whole = [r.theta.tolist() for r in track(scene.events, "cmax")]
    parts = [r.theta.tolist() for r in track(chunked(scene.events, 3_000), "cmax")]
    assert parts == whole


def test_merged_labels_cover_every_event_once(scene):
    estimates = track(scene.events, "baf+cmax", windowing=Windowing(window_us=30_000, overlap=0.5))
    chunks = list(merge_labels(estimates))
    labeled = Events.concatenate([chunk.events for chunk in chunks])
    assert labeled.with_signal(None).equals(scene.events.with_signal(None))
    kept, truth = labeled.signal, scene.events.signal
    assert kept[truth].mean() > 0.9
    assert kept[~truth].mean() < 0.4


def test_pause_gives_a_status_and_tracking_continues(scene):
    gap = Events(
        x=scene.events.x,
        y=scene.events.y,
        t=np.where(scene.events.t < 100_000, scene.events.t, scene.events.t + 90_000),
        p=scene.events.p,
        resolution=scene.events.resolution,
    )
    results = list(track(gap, "cmax", windowing=Windowing(window_us=30_000)))
    statuses = [r.status for r in results]
    assert Status.TOO_FEW_EVENTS in statuses
    assert statuses[-2] is Status.CONVERGED
    assert len(results[statuses.index(Status.TOO_FEW_EVENTS)]) < 10


def test_whole_numbers_of_any_type_are_equal():
    assert (
        Windowing(window_us=30e3)
        == Windowing(window_us=30_000)
        == Windowing(window_us=np.int32(30_000))
    )
    assert type(Windowing(window_events=1e4).window_events) is int


def test_empty_source_gives_no_windows():
    assert list(track([], "cmax")) == []
    assert list(track(Events.empty((8, 8)), "cmax")) == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda e: track(e, "cmaxx"), UnknownNameError, "Did you mean 'cmax'"),
        (lambda e: track(e, "cmax", "spin"), UnknownNameError, "Unknown motion model"),
        (lambda e: track(e, "cmax", tau=3), ConfigError, "has no option 'tau'"),
        (lambda e: track(e, "cmax", theta0=np.zeros(3)), ConfigError, "must be 2 finite numbers"),
        (lambda e: track(e, "cmax", theta0=[np.nan, 0]), ConfigError, "must be 2 finite numbers"),
        (
            lambda e: track(e, "cmax", "rotation", camera=evcrisp.Camera(200, 200, 900, 10)),
            ConfigError,
            "outside the sensor of 160x120",
        ),
        (lambda e: Windowing(window_us=1, window_events=2), ConfigError, "exclude each other"),
        (lambda e: Windowing(window_us=0), ConfigError, "`window_us` must be a positive number"),
        (lambda e: Windowing(window_us="a"), ConfigError, "must be a positive number; got 'a'"),
        (
            lambda e: Windowing(window_us=30.5),
            ConfigError,
            "`window_us` must be a positive whole number",
        ),
        (
            lambda e: Windowing(window_events=np.inf),
            ConfigError,
            "`window_events` must be a positive",
        ),
        (
            lambda e: track(e, windowing=30_000),
            ConfigError,
            "`windowing` must be a Windowing, such as",
        ),
        (lambda e: track(None), ConfigError, "`source` must be a recording.*got NoneType"),
        (lambda e: track(np.zeros((5, 4))), ConfigError, "`source` must be Events; got ndarray"),
        (lambda e: list(track(iter([e, 3]))), ConfigError, "`source` must be Events; got int"),
        (lambda e: track("take.aedat4"), ConfigError, "Use `evcrisp.open`"),
        (
            lambda e: evcrisp.estimate("take.aedat4"),
            ConfigError,
            "Read the file with `evcrisp.read`",
        ),
        (lambda e: evcrisp.estimate(e, theta0="ab"), ConfigError, "must be 2 finite numbers"),
        (
            lambda e: evcrisp.estimate(e, motion="rotation", camera="calib.txt"),
            ConfigError,
            "Read a file with `Camera.from_file`",
        ),
        (lambda e: Windowing(overlap=1.0), ConfigError, "`overlap` must be a number in"),
        (
            lambda e: Windowing(displacement_px=3, overlap=0.5),
            ConfigError,
            "`overlap` is not for windows by",
        ),
    ],
)
def test_invalid_arguments_raise(scene, call, error, message):
    with pytest.raises(error, match=message):
        call(scene.events)


def test_slow_hot_pixels_become_noise(scene):
    """A pixel of 300 Hz fires nine times per window, as a strong edge does."""
    width, height = scene.events.resolution
    rng = np.random.default_rng(0)
    pixels = rng.choice(width * height, 40, replace=False)
    t = np.concatenate([rng.integers(0, 3_300) + np.arange(57) * 3_300 for _ in pixels])
    where = np.repeat(pixels, 57)
    events = scene.events
    order = np.argsort(np.concatenate((events.t, t)), kind="stable")
    is_hot = np.concatenate((np.zeros(len(events), bool), np.ones(t.size, bool)))[order]
    columns = {
        "x": np.concatenate((events.x, where % width)),
        "y": np.concatenate((events.y, where // width)),
        "t": np.concatenate((events.t, t)),
        "p": np.concatenate((events.p, np.ones(t.size, bool))),
    }
    mixed = Events(**{k: v[order] for k, v in columns.items()}, resolution=events.resolution)
    for windows in (Windowing(window_us=30_000), Windowing(window_us=30_000, overlap=0.5)):
        chunks = list(merge_labels(track(mixed, "cmax", windowing=windows)))
        signal = np.concatenate([chunk.events.signal for chunk in chunks])
        late = np.arange(len(mixed)) > 0.8 * len(mixed)
        assert signal[is_hot & late].mean() < 0.1
        assert signal[~is_hot & late].mean() > 0.5
        scores = np.concatenate([chunk.score for chunk in chunks])
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("windows", [Windowing(), Windowing(displacement_px=5.0)])
def test_changes_of_a_result_do_not_affect_the_next_window(scene, windows):
    expected = [result.theta.copy() for result in track(scene.events, "cmax", windowing=windows)]
    results = track(scene.events, "cmax", windowing=windows)
    for result, theta in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result.theta, theta)
        result.theta[:] *= 1e-3


@pytest.mark.parametrize("windows", [Windowing(), Windowing(displacement_px=5.0)])
def test_tracking_continues_after_a_long_pause(scene, windows):
    middle = len(scene.events) // 2
    t = scene.events.t.copy()
    t[middle:] += 10**13
    jumped = Events.trusted(
        scene.events.x, scene.events.y, t, scene.events.p, scene.events.resolution
    )
    results = list(track(jumped, "cmax", windowing=windows))
    assert len(results) < 100
    assert sum(len(result) for result in results) == len(t)
    late = [result for result in results if result.window.t_start > 10**12]
    assert len(late) > 1
    assert all(result.status is Status.CONVERGED for result in late[:-1])


@pytest.mark.parametrize(
    "windows", [Windowing(window_us=300_000), Windowing(displacement_px=500.0)]
)
def test_recording_shorter_than_a_window_is_one_window(scene, windows):
    short = scene.events.between(0, 20_000)
    (result,) = track(short, windowing=windows)
    (expected,) = track(short, windowing=Windowing(window_events=len(short)))
    assert result.window.t_end == expected.window.t_end
    np.testing.assert_array_equal(result.signal, expected.signal)
    np.testing.assert_array_equal(result.theta, expected.theta)


def test_rotation_without_camera_warns_once(scene, caplog):
    warn_ideal_lens.cache_clear()
    for _ in range(2):
        evcrisp.estimate(scene.events[:3000], "cmax", "rotation")
    assert caplog.text.count("an ideal lens with a field of view of 60 degrees") == 1


@pytest.mark.parametrize("overlap", [0.0, 0.9])
def test_shortened_last_window_has_a_warning(scene, overlap):
    events = scene.events.between(0, 43_000)
    results = list(track(events, "cmax", windowing=Windowing(window_us=30_000, overlap=overlap)))
    warned = [r for r in results if r.warnings]
    assert [r.window.t_end for r in warned] == ([] if overlap else [int(events.t[-1]) + 1])
    for result in warned:
        assert "The recording ends 13.0 ms after the start of this window" in result.warnings[0]
    # The window with the last event is the last one.
    assert [r.window.t_end for r in results].count(int(events.t[-1]) + 1) == 1


@pytest.mark.parametrize(("method", "motion"), [("auto", "translation"), ("cmax", "affine")])
def test_insignificant_motion_has_a_warning(method, motion):
    theta = DEFAULT_THETA[motion]
    scene = evcrisp.simulate(motion=motion, theta=theta, duration_us=60_000, noise_hz=5.0, seed=3)
    short = list(track(scene.events, method, motion, windowing=Windowing(window_us=1_000)))
    long = list(track(scene.events, method, motion, windowing=Windowing(window_us=15_000)))
    too_short = {Doubt.AT_REST, Doubt.CHANCE}
    assert np.mean([bool(too_short & set(result.doubts)) for result in short]) > 0.9
    assert all(
        "Take longer windows" in r.warnings[0] or "Use longer" in r.warnings[0] for r in short
    )
    assert all(result.reliable for result in long)
    first = evcrisp.estimate(short[3].window, method, motion)
    assert too_short & set(first.doubts)


def test_hot_pixel_does_not_affect_significance():
    scene = evcrisp.simulate(theta=(150.0, 0.0), duration_us=20_000, noise_hz=2.0, seed=5)
    events, n_hot = scene.events, 2000
    t = np.concatenate((events.t, np.arange(n_hot) * 10))
    order = np.argsort(t, kind="stable")
    both = Events(
        x=np.append(events.x, np.full(n_hot, 40))[order],
        y=np.append(events.y, np.full(n_hot, 50))[order],
        t=t[order],
        p=np.append(events.p, np.arange(n_hot) % 2 == 0)[order],
        resolution=events.resolution,
    )
    assert evcrisp.estimate(both, "cmax").warnings == ()
