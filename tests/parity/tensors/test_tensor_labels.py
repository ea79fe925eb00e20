"""Each step from events to labels, on tensors, gives the numbers of the compiled step."""

from dataclasses import replace

import numpy as np
import pytest

from evcrisp import Events, Window
from evcrisp.core.camera import Camera
from evcrisp.core.live_area import Box
from evcrisp.estimators.auto import noise_density as one_density
from evcrisp.estimators.auto import noise_model as one_model
from evcrisp.estimators.auto.aligned_maps import IndexedWindow, Pixels
from evcrisp.estimators.auto.buffers import Buffers
from evcrisp.estimators.auto.event_evidence import compute_evidence as evidence_of_one
from evcrisp.estimators.auto.on_device import evidence as on_device
from evcrisp.estimators.auto.on_device import noise_model
from evcrisp.estimators.auto.on_device.hot_history import DeviceHotPixels
from evcrisp.estimators.auto.on_device.hot_pixels import events_at_hot_pixels
from evcrisp.estimators.auto.on_device.noise_density import PointSupport, densities_of_noise
from evcrisp.estimators.auto.on_device.short_support import (
    NeighborTimes,
    Readers,
    near_times,
    reaches,
)
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.auto.short_evidence import Part, short_support
from evcrisp.estimators.hot_pixels import HotPixelHistory, hot_events
from evcrisp.motion import Rotation, Similarity, Translation
from evcrisp.search.window_data import WindowData
from evcrisp.tensors.lazy import torch
from evcrisp.tensors.rows import Rows
from evcrisp.tensors.scatter import Scatter

SIZE = (44, 31)
CAMERA = Camera(fx=45.0, fy=44.0, cx=21.0, cy=15.5, distortion=(-0.3, 0.1, 0.002, -0.001, 0.01))
MODELS = {
    "translation": (Translation(), (150.0, -80.0)),
    "far translation": (Translation(), (9000.0, 2000.0)),  # moves events off the map
    "rotation": (Rotation(CAMERA), (0.6, -0.4, 3.0)),
    "similarity": (Similarity((21.5, 15.0)), (100.0, 20.0, 2.0, 1.5)),
}

#: Sums of a few hundred products in single precision, in another order.
SINGLE = {"rtol": 3e-5, "atol": 3e-6}


def tensor(values):
    return torch.from_numpy(np.ascontiguousarray(values))


def window_of(n, seed, burst=0, resolution=SIZE, dense=0.0):
    """Return a window of random events; some of one pixel, more to the right side."""
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    x = (resolution[0] * np.where(rng.random(n) < dense, np.sqrt(np.sqrt(u)), u)).astype(int)
    y, p = rng.integers(0, resolution[1], n), rng.integers(0, 2, n).astype(bool)
    t = np.sort(rng.integers(0, 30_000, n))
    x[:2], y[:2] = (0, resolution[0] - 1), (0, resolution[1] - 1)  # the view is the sensor
    chosen = rng.choice(np.arange(2, n), burst, replace=False)
    x[chosen], y[chosen], p[chosen] = 7, 9, True
    return Window(Events(x=x, y=y, t=t, p=p, resolution=resolution), 0, 30_000)


WINDOWS = [window_of(700, 0), window_of(1300, 1, burst=60), window_of(1100, 2, burst=17)]


def compiled(window, model):
    """Return the data and the linked events of a window."""
    data = WindowData.of(window, model)
    events = window.events.contiguous()
    return data, IndexedWindow.of(data, Pixels(events.x, events.y, events.p), Buffers())


def split(values, windows):
    """Return the part of each window of a tensor."""
    ends = np.cumsum([len(w.events) for w in windows])
    return np.split(values.numpy(), ends[:-1])


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_support_of_events_and_noise_samples(name, deterministic):
    model, theta = MODELS[name]
    batch = WindowBatch.of(WINDOWS, model, "cpu")
    indexed = on_device.IndexedBatch.of(batch)
    supporting = tensor(np.random.default_rng(3).random(batch.rows.size) < 0.9)
    thetas = tensor(np.array([theta] * len(WINDOWS)))
    maps = on_device._maps_at(indexed, batch, thetas, supporting, Scatter(deterministic))
    found = split(maps.support, WINDOWS), np.split(maps.sample_support.numpy(), len(WINDOWS))
    for window, part, *mine in zip(WINDOWS, split(supporting, WINDOWS), *found, strict=True):
        data, one = compiled(window, model)
        expected = one.at(data.warp, np.array(theta), part).support()
        for values, wanted in zip(mine, expected, strict=True):
            np.testing.assert_allclose(values, wanted, **SINGLE)
            assert len(np.unique(wanted)) > 50


def test_evidence_of_windows_with_bursts_and_dense_noise():
    windows = [*WINDOWS, window_of(9000, 4, dense=0.9, resolution=(160, 120))]
    for one in ([windows[1]], [windows[2]], [windows[3]], windows[:3]):
        batch = WindowBatch.of(one, Translation(), "cpu")
        theta = np.array([[150.0, -80.0]] * len(one))
        everything = torch.ones(batch.rows.size, dtype=torch.bool)
        found = on_device.compute_evidence(batch, tensor(theta), everything, 0.1, Scatter())
        evidence = split(found.by_motion, one), split(found.evidence, one)
        for k, (window, by_motion, best) in enumerate(zip(one, *evidence, strict=True)):
            wanted = evidence_of_one(
                WindowData.of(window, Translation()), window.events, theta[k],
                supporting=np.ones(len(window.events), bool), false_alarm=0.1,
            )  # fmt: skip
            assert float(found.motion_threshold[k]) == pytest.approx(wanted.threshold, rel=1e-5)
            np.testing.assert_allclose(found.rates[k].numpy(), wanted.background, rtol=1e-12)
            score = by_motion / float(found.motion_threshold[k])
            np.testing.assert_allclose(score, wanted.by_motion.score, rtol=1e-4, atol=1e-4)
            assert bool(found.by_neighbors[k]) == (wanted.labels is not wanted.by_motion)
            score = best / float(found.threshold[k])
            np.testing.assert_allclose(score, wanted.labels.score, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_thresholds(weighted):
    rng = np.random.default_rng(5)
    n_events, n_samples = (900, 40_000, 3), (2048, 2048, 4096)
    evidence = [rng.normal(0.3, 0.5, n).astype(np.float32) for n in n_events]
    evidence[1] = np.where(rng.random(40_000) < 0.2, 2.0, evidence[1]).astype(np.float32)
    samples = [rng.exponential(0.2, n).round(2).astype(np.float32) for n in n_samples]
    weight = [rng.uniform(0.2, 3.0, n).astype(np.float32) for n in n_samples]
    rows, sample_rows = (Rows.of_lengths(n, "cpu") for n in (n_events, n_samples))
    # The density counts in two of the windows.
    dense = np.array([True, False, True]) & weighted
    density = (
        noise_model.Weight(tensor(np.concatenate(weight)), tensor(dense)) if weighted else None
    )
    ranked = noise_model.Ranked.of(tensor(np.concatenate(samples)), sample_rows, density)
    for least in (0.02, 0.35):
        found = noise_model.best_thresholds(
            tensor(np.concatenate(evidence)), rows, ranked, 0.1, least
        )
        for k in range(3):
            wanted = one_model.best_threshold(
                evidence[k], samples[k], 0.1, weight[k] if dense[k] else None, least
            )
            assert float(found.threshold[k]) == wanted[0]
            assert float(found.separation[k]) == pytest.approx(wanted[1], rel=1e-9)


def test_density_of_noise():
    windows = [
        window_of(9000, 6, dense=0.9, resolution=(160, 120)),
        window_of(9000, 7, resolution=(160, 120)),
    ]
    batch = WindowBatch.of(windows, Translation(), "cpu")
    indexed = on_device.IndexedBatch.of(batch)
    rng = np.random.default_rng(8)
    samples = indexed.samples
    support = rng.exponential(0.5, batch.rows.size).round(1).astype(np.float32)
    sample_support = rng.exponential(0.5, samples.rows.size).round(1).astype(np.float32)
    quiet = np.array([[0.1, 0.2], [0.1, 0.1]], np.float32)
    events = PointSupport(batch.rows, batch.x, batch.y, batch.p, tensor(support))
    noise = PointSupport(samples.rows, samples.x, samples.y, samples.p, tensor(sample_support))
    found, is_dense = densities_of_noise(indexed.live, events, indexed.rank, noise, tensor(quiet))
    assert is_dense.tolist() == [True, False]
    _, one = compiled(windows[0], Translation())
    n, m = len(windows[0].events), one.samples.t.size
    wanted = one_density.density_of_noise(one, support[:n], sample_support[:m], quiet[0])
    assert wanted is not None
    assert wanted.box == Box(*indexed.live[0].tolist())
    np.testing.assert_allclose(
        found.tiles[: wanted.tiles.size].numpy(), wanted.tiles.ravel(), rtol=1e-6
    )
    at_events = wanted.at(one.pixels.x, one.pixels.y)
    np.testing.assert_allclose(found.at(events)[:n].numpy(), at_events, rtol=1e-5)
    assert at_events.max() > 2.0 * at_events.min()


def test_density_of_noise_where_few_tiles_are_quiet():
    """Events read the more support the farther right they lie: only the tiles at the left tell the density."""
    rng = np.random.default_rng(3)
    n, size = 400_000, (400, 240)
    x = np.minimum(400 * np.log1p(19 * rng.random(n)) / np.log(20), 399).astype(np.int64)
    events = Events(
        x=x, y=rng.integers(0, 240, n), t=np.sort(rng.integers(0, 30_000, n)),
        p=rng.random(n) < 0.5, resolution=size,
    )  # fmt: skip
    window = Window(events, 0, 30_000)
    batch = WindowBatch.of([window], Translation(), "cpu")
    indexed = on_device.IndexedBatch.of(batch)
    _, one = compiled(window, Translation())
    samples, m = indexed.samples, one.samples.t.size
    # The support of a point is that of dense noise there, and chance.
    support, sample_support = (
        (20.0 ** (np.asarray(at, float) / 400) + 6.0 * rng.random(len(at))).astype(np.float32)
        for at in (batch.x.numpy(), samples.x.numpy())
    )
    quiet = np.full((1, 2), np.quantile(sample_support[:m], 0.2), np.float32)
    points = PointSupport(batch.rows, batch.x, batch.y, batch.p, tensor(support))
    noise = PointSupport(samples.rows, samples.x, samples.y, samples.p, tensor(sample_support))
    found, is_dense = densities_of_noise(indexed.live, points, indexed.rank, noise, tensor(quiet))
    wanted = one_density.density_of_noise(one, support, sample_support[:m], quiet[0])
    assert wanted is not None
    assert is_dense.tolist() == [True]
    np.testing.assert_allclose(found.tiles.numpy(), wanted.tiles.ravel(), rtol=1e-6)
    assert wanted.tiles[:, -1].mean() > 5.0 * wanted.tiles[:, 0].mean()


@pytest.mark.parametrize("whole", [True, False])
def test_support_by_neighbors(whole):
    windows = [window_of(2500, 9), window_of(1200, 10)]
    batch = WindowBatch.of(windows, Translation(), "cpu")
    indexed = on_device.IndexedBatch.of(batch)
    supporting = np.random.default_rng(11).random(batch.rows.size) < 0.8
    times = NeighborTimes.of(indexed.grid, indexed.sources, indexed.t, tensor(supporting))
    reach_s, starts = (0.002, 0.006, 0.03), batch.rows.starts
    counts = batch.rows.counts
    first, last = (starts, starts + counts) if whole else (starts + 300, starts + counts - 200)
    for readers, names in (
        (Readers(batch.rows, batch.x, batch.y, batch.p, indexed.t), ("events", "near")),
        (
            Readers(indexed.samples.rows, *(getattr(indexed.samples, c) for c in "xypt")),
            ("samples", "sample_near"),
        ),
    ):
        found = times.read(
            readers,
            reaches(reach_s, indexed.duration_s),
            near_times(indexed.duration_s),
            first,
            last,
        )
        ends = np.cumsum(readers.rows.counts.numpy())
        for k, window in enumerate(windows):
            _, one = compiled(window, Translation())
            n = len(window.events)
            part = Part(
                int(first[k] - starts[k]), int(last[k] - starts[k]), np.arange(n),
                np.arange(one.samples.t.size),
            )  # fmt: skip
            own = supporting[int(starts[k]) : int(starts[k]) + n]
            wanted = short_support(one, reach_s, own, part=part)
            here = slice(ends[k] - int(readers.rows.counts[k]), ends[k])
            # Readers lie in the part that counts.
            t, times_of = readers.t[here].numpy(), one.t[:n]
            inside = (times_of[part.first] <= t) & (t <= times_of[part.last - 1])
            support, near = (getattr(wanted, name) for name in names)
            for mine, wanted in (
                (found.support[:, here], support), (found.near[here], near[0]), (found.n_near[here], near[1]),
            ):  # fmt: skip
                wanted = wanted[..., inside]
                np.testing.assert_allclose(mine.numpy()[..., inside], wanted, rtol=0, atol=3e-6)
                assert wanted.max() > 0.0


def test_hot_pixels_of_windows():
    windows = [window_of(3000, 12, burst=200), window_of(900, 13), window_of(800, 14, burst=40)]
    batch = WindowBatch.of(windows, Translation(), "cpu")
    found = split(events_at_hot_pixels(batch), windows)
    for window, mine in zip(windows, found, strict=True):
        np.testing.assert_array_equal(mine, hot_events(window.events))
    assert [bool(mine.any()) for mine in found] == [True, False, True]


def test_hot_pixels_over_a_recording():
    # Windows overlap, pause, and one is empty.
    starts, windows, index = (0, 20_000, 200_000, 500_000, 2_000_000), [], 0
    for k, start in enumerate(starts):
        window = window_of(600, 20 + k, burst=13)
        events = replace(window.events, t=window.events.t + start)
        windows.append(Window(events, start, start + 30_000, index))
        index += 400 if k == 0 else len(events)
    windows.insert(3, Window(windows[0].events[:0], 300_000, 330_000, windows[3].index))
    history, device = HotPixelHistory(SIZE), DeviceHotPixels(SIZE, "cpu")
    found = device.mark(windows[:2]) + device.mark(windows[2:])
    expected = [history.mark(window) for window in windows]
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    assert [bool(e.any()) for e in expected].count(True) >= 2
