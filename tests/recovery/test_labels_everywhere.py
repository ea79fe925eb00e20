"""Labels where noise is not uniform over the sensor, has structure, or where no motion can be told."""

import numpy as np
import pytest
from benchmarks.quality import label_scenes as scenes

import evcrisp
from evcrisp import Events
from evcrisp.filters import denoise
from evcrisp.metrics import rank_auc, sensitivity, specificity

MOTIONS = ("auto", "translation")


def kept(window, motion):
    return float(evcrisp.estimate(window, motion=motion).signal.mean())


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("share", [0.7, 0.4, 0.15])
@pytest.mark.parametrize("noise_hz", [5.0, 20.0])
def test_noise_in_a_region_of_interest_is_dropped(share, noise_hz, motion):
    assert kept(scenes.region(share, noise_hz, 11).window, motion) < 0.1


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("kind", scenes.NOISE)
def test_noise_with_structure_is_dropped(kind, motion):
    most = 0.15 if "clusters" in kind else 0.1
    for noise_hz in (2.0, 10.0):
        assert kept(scenes.noise_alone(kind, noise_hz, 12).window, motion) < most


def test_noise_of_two_regions_is_dropped():
    """The rectangle around both is mostly empty."""
    rng = np.random.default_rng(13)
    parts = [scenes.uniform(rng, 10.0, (90, 70)) for _ in range(2)]
    x, y, t, p = (np.concatenate(pair) for pair in zip(*parts, strict=True))
    second = np.arange(x.size) >= parts[0][0].size
    scene = scenes.scene_of((x + 250 * second, y + 180 * second, t, p), np.zeros(x.size, bool))
    assert kept(scene.window, "auto") < 0.1


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("noise_hz", [2.0, 5.0])
@pytest.mark.parametrize("n_edges", [1, 2, 6])
@pytest.mark.parametrize("speed", [60.0, 300.0, 1200.0])
def test_straight_edges_are_signal(speed, n_edges, noise_hz, motion):
    rng = np.random.default_rng(14)
    scene = scenes.with_noise(scenes.edge(speed, 0.7, rng, n_edges), "uniform", noise_hz, rng)
    truth = scene.signal[scene.in_window]
    result = evcrisp.estimate(scene.window, motion=motion)
    assert sensitivity(result.signal, truth) > 0.9
    assert specificity(result.signal, truth) > 0.9
    for name in ("stcf", "ebf"):
        score = denoise(scene.events, name).score[scene.in_window]
        assert rank_auc(result.score, truth) > rank_auc(score, truth) - 0.005


@pytest.mark.parametrize("texture", ["stripes", "checkerboard"])
@pytest.mark.parametrize("period", [12.0, 20.0])
def test_periodic_textures_at_a_period_per_window_keep_their_labels(texture, period):
    speed = period / 0.03
    scene = scenes.texture(texture, period, (speed, 0.2 * speed), 5.0, 15)
    truth = scene.signal[scene.in_window]
    result = evcrisp.estimate(scene.window, motion="translation")
    found = denoise(scene.events, "stcf")
    score, signal = found.score[scene.in_window], found.signal[scene.in_window]
    assert rank_auc(result.score, truth) > rank_auc(score, truth)
    rates = [
        sensitivity(labels, truth) + specificity(labels, truth)
        for labels in (result.signal, signal)
    ]
    assert rates[0] > rates[1]


def test_signal_beside_clusters_of_noise_is_kept():
    rng = np.random.default_rng(16)
    scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=90_000, seed=16)
    columns = scene.events.x, scene.events.y, scene.events.t, scene.events.p
    mixed = scenes.with_noise(columns, "clusters", 5.0, rng, scene.events.resolution)
    truth = mixed.signal[mixed.in_window]
    result = evcrisp.estimate(mixed.window)
    assert sensitivity(result.signal, truth) > 0.9
    assert rank_auc(result.score, truth) > 0.95


@pytest.mark.parametrize("noise_hz", [1.0, 10.0])
def test_sparse_signal_in_a_gradient_of_noise_is_kept(noise_hz):
    rng = np.random.default_rng(17)
    scene = evcrisp.simulate(theta=(200.0, 150.0), duration_us=90_000, seed=17)
    columns = scene.events.x, scene.events.y, scene.events.t, scene.events.p
    mixed = scenes.with_noise(columns, "gradient", noise_hz, rng, scene.events.resolution)
    truth = mixed.signal[mixed.in_window]
    result = evcrisp.estimate(mixed.window)
    assert sensitivity(result.signal, truth) > 0.9
    assert specificity(result.signal, truth) > 0.9


@pytest.mark.parametrize("noise_hz", [2.0, 20.0])
def test_w_at_an_event_agrees_with_its_confidence(noise_hz):
    from evcrisp.contrast import ContrastMap

    scene = evcrisp.simulate(theta=(300.0, -120.0), duration_us=30_000, noise_hz=noise_hz, seed=18)
    result = evcrisp.estimate(scene.events, motion="translation")
    border = (result.w_map.shape[0] - scene.events.resolution[1]) // 2
    contrast = ContrastMap(footprint="spline", sigma_px=0.0, padding_px=border)
    w = contrast.sample(result.w_map, result.aligned_x, result.aligned_y)
    noise = ~result.signal
    # A few lie on strong edges, at pixels that had just fired.
    assert (w[noise] > 0.9).mean() < 0.05
    assert (w[noise] > 0.5).mean() < 0.2
    assert (w[result.signal] > 0.5).mean() > 0.95
    assert np.corrcoef(w, result.confidence)[0, 1] > 0.9


def padded(events, pad):
    width, height = events.resolution
    return Events(
        x=events.x + pad, y=events.y + pad, t=events.t, p=events.p,
        resolution=(width + 2 * pad, height + 2 * pad),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("texture", ["shapes", "dots"])
def test_empty_pixels_around_the_sensor_change_no_labels_at_the_same_motion(texture, seed):
    """The search itself corrects for the sensor border; here the motion is given to the labels."""
    from evcrisp.core.windows import Window
    from evcrisp.estimators.auto.event_evidence import compute_evidence
    from evcrisp.motion import Translation
    from evcrisp.search.window_data import WindowData

    scene = evcrisp.simulate(
        theta=(250.0, 130.0), texture=texture, duration_us=30_000, noise_hz=5.0, seed=seed
    )
    labels = []
    for pad in (0, 40):
        events = padded(scene.events, pad)
        data = WindowData.of(Window(events, 0, 30_000), Translation())
        supporting = np.ones(len(events), bool)
        found = compute_evidence(
            data, events, np.array([250.0, 130.0]), supporting=supporting, false_alarm=0.1
        )
        labels.append(found.labels.signal)
    assert (labels[0] != labels[1]).mean() < 0.002
