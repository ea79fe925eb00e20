"""The search for several motions by CUDA C kernels gives the numbers of the compiled kernels."""

from functools import lru_cache

import numpy as np
import pytest
from tests.parity.tensors.host_kernels import COMPILER, host_kernels

import evcrisp
from evcrisp import Window
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.estimators.layers import competition as one_competition
from evcrisp.estimators.layers import fitting as one_fitting
from evcrisp.estimators.layers.find_layers import subsampling_step
from evcrisp.estimators.layers.layer_window import LayerWindow
from evcrisp.estimators.layers.on_device import competition, fitting
from evcrisp.estimators.layers.on_device.competition import BatchMotions
from evcrisp.estimators.layers.on_device.fitting import Chosen
from evcrisp.estimators.layers.on_device.layer_batch import LayerBatch
from evcrisp.motion import Translation
from evcrisp.search.window_data import WindowData
from evcrisp.simulation import ObjectConfig
from evcrisp.tensors.cuda.kernels import made_by
from evcrisp.tensors.lazy import torch

SIZES = (110, 90), (96, 81)
THING = ObjectConfig(theta=(-260.0, 90.0), size=(0.4, 0.5), texture="rocks")

#: Motions of the windows, px per window.
MOTIONS = (
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 50.0, 40.0],
    [4.5, -1.8, 0.0, 0.0, 0.0, 0.0, 50.0, 40.0],
    [-7.8, 2.7, 0.01, -0.02, 0.03, 0.015, 30.0, 35.0],
    [60.0, 10.0, 0.5, 0.0, 0.0, 0.5, 50.0, 40.0],  # moves events off the map
    [1.0, 1.0, 0.0, 0.04, -0.04, 0.0, 55.0, 45.0],
)


@pytest.fixture(autouse=True)
def maker():
    """Use the CUDA kernels compiled by a C++ compiler: there are no torch operations."""
    if COMPILER is None:
        pytest.skip("no C++ compiler")
    with made_by(host_kernels):
        yield


@lru_cache
def windows():
    """Return windows of two motions, one with a pixel that fires often."""
    out = []
    for seed, size in enumerate(SIZES):
        scene = evcrisp.simulate(
            theta=(150.0, -60.0), objects=(THING,), duration_us=30_000, noise_hz=4.0, seed=seed,
            resolution=size,
        )  # fmt: skip
        events = scene.events
        columns = {name: np.array(getattr(events, name)) for name in "xytp"}
        columns["x"][:2], columns["y"][:2] = (0, size[0] - 1), (0, size[1] - 1)
        chosen = slice(100, 1000, 8 if seed else 40)  # a source of many events
        columns["x"][chosen], columns["y"][chosen], columns["p"][chosen] = 20, 30, True
        out.append(Window(evcrisp.Events(**columns, resolution=size), 0, 30_000))
    return out


def supporting():
    rng = np.random.default_rng(0)
    return [rng.random(len(window.events)) < 0.95 for window in windows()]


def batch_of(n_events=None):
    kept = torch.from_numpy(np.concatenate(supporting()))
    return LayerBatch.of(WindowBatch.of(windows(), Translation(), "cpu"), kept, n_events)


def one_window(k, step=1):
    window = windows()[k]
    data = WindowData.of(window, Translation())
    return LayerWindow.of(data, window.events.contiguous(), supporting()[k], step)


def motions_of(*numbers):
    """Return motions by number for each window."""
    values = [MOTIONS[k] for group in numbers for k in group]
    window = [w for w, group in enumerate(numbers) for _ in group]
    values = torch.tensor(values, dtype=torch.float64)
    return BatchMotions.of(torch.tensor(window), values, len(numbers))


@pytest.mark.parametrize("n_events", [None, 2000, 900])
def test_prepared_windows(n_events):
    batch = batch_of(n_events)
    for k, window in enumerate(windows()):
        n = len(window.events)
        one = one_window(k, subsampling_step(n, window.events.resolution, n_events or n))
        here = slice(int(batch.rows.starts[k]), int(batch.rows.starts[k] + batch.rows.counts[k]))
        for name in ("x", "y", "tau", "p", "cell", "supporting"):
            np.testing.assert_array_equal(getattr(batch, name)[here].numpy(), getattr(one, name))
        np.testing.assert_array_equal(batch.rank[here].numpy(), one.indexed.rank)
        assert tuple(batch.shape[k].tolist()) == one.cells_shape
        assert float(batch.share[k]) == pytest.approx(one.share)


@pytest.mark.parametrize("deterministic", [False, True])
def test_support_and_gains(deterministic):
    batch, motions = batch_of(), motions_of(range(5), (4, 1, 3))
    found = competition.gains_of_motions(batch, motions, deterministic)
    for k, chosen in enumerate((range(5), (4, 1, 3))):
        one = one_window(k)
        support, gain = one_competition._gains(one, np.array([MOTIONS[i] for i in chosen]))
        for i in range(len(chosen)):
            pair = int(motions.rows.starts[k]) + i
            start = int(found.start[pair])
            mine = found.support[start : start + len(one)].numpy()
            np.testing.assert_allclose(mine, support[i], rtol=2e-4, atol=2e-4)
            assert len(np.unique(support[i])) > 100
            flat = gain[i].reshape(-1)
            np.testing.assert_allclose(found.gain[pair, : flat.size], flat, rtol=1e-3, atol=0.2)


def chosen_events(sizes):
    """Return some events for each of several fits: (window, events of the window) and `Chosen`."""
    batch, rng, parts = batch_of(), np.random.default_rng(7), []
    for k, n in enumerate(sizes):
        n_all = int(batch.rows.counts[k % 2])
        parts.append((k % 2, np.sort(rng.choice(n_all, n, replace=False))))
    flat = np.concatenate([int(batch.rows.starts[k]) + at for k, at in parts])
    group = np.repeat(np.arange(len(sizes)), sizes)
    return (
        batch,
        parts,
        Chosen.of_groups(torch.from_numpy(flat), torch.from_numpy(group), len(sizes)),
    )


@pytest.mark.parametrize(
    ("n_free", "scales", "n_steps", "limit_px"),
    [(2, (3.0,), 12, 8.0), (6, (2.0,), 5, 8.0), (4, (2.0,), 12, 8.0), (6, (4.0, 2.0), 12, 8.0), (2, (8.0, 4.0), 12, 0.3)],
)  # fmt: skip
def test_fits(n_free, scales, n_steps, limit_px):
    sizes = (700, 2500, 150, 3000, 1)
    batch, parts, chosen = chosen_events(sizes)
    starts = np.array([MOTIONS[k] for k in (1, 2, 4, 0, 1)])
    starts[:, :2] += 0.7
    found, values = fitting.fit_motions(
        batch, chosen, torch.from_numpy(starts), n_free=n_free, scales=scales, n_steps=n_steps,
        max_correction_px=limit_px,
    )  # fmt: skip
    n_left = 0
    for k, (window, at) in enumerate(parts):
        wanted, value = one_fitting.fit_motion(
            one_window(window), at, starts[k], n_free=n_free, scales=scales, n_steps=n_steps,
            max_correction_px=limit_px,
        )  # fmt: skip
        np.testing.assert_allclose(found[k], wanted, rtol=1e-3, atol=2e-3)
        assert float(values[k]) == pytest.approx(value, abs=1e-4)
        n_left += not np.isfinite(value)
        assert not np.isfinite(value) or not np.array_equal(wanted, starts[k])
    assert n_left > 1 if limit_px < 1.0 else n_left < 3


def test_simplest_fits():
    batch, parts, chosen = chosen_events((700, 2500, 3000))
    starts = np.array([MOTIONS[k] for k in (1, 2, 1)])
    found = fitting.fit_simplest(batch, chosen, torch.from_numpy(starts))
    for k, (window, at) in enumerate(parts):
        wanted = one_fitting.fit_simplest(one_window(window), at, starts[k])
        np.testing.assert_allclose(found[k], wanted, rtol=1e-3, atol=2e-3)


def test_some_events_of_fits():
    batch, parts, chosen = chosen_events((700, 2500, 150))
    some = chosen.some(batch, 300)
    for k, (window, at) in enumerate(parts):
        wanted = one_window(window).some(at, 300) + int(batch.rows.starts[window])
        here = slice(int(some.start[k]), int(some.start[k] + some.count[k]))
        np.testing.assert_array_equal(some.events[here].numpy(), wanted)
    part = some.taken(torch.tensor([2, 0]))
    assert part.count.tolist() == some.count[[2, 0]].tolist()
    assert part.events[: int(part.count[0])].tolist() == some.events[int(some.start[2]) :].tolist()


@pytest.mark.parametrize("cost", [45.0, 5.0, 0.0])
def test_competition(cost):
    batch, motions = batch_of(), motions_of(range(5), (1, 2))
    found = competition.compete(batch, motions, cost)
    for k, chosen in enumerate((range(5), (1, 2))):
        one = one_window(k)
        wanted = one_competition.compete(one, np.array([MOTIONS[i] for i in chosen]), cost)
        first, n = int(found.motions.rows.starts[k]), int(found.motions.rows.counts[k])
        np.testing.assert_array_equal(found.motions.values[first : first + n], wanted.motions)
        flat = wanted.label.reshape(-1)
        assert (found.label[k, : flat.size].numpy() == flat).mean() > 0.999
        assert len(np.unique(flat)) > 1
    layer = found.of_events(batch)
    own = found.own_support(batch, layer).numpy()
    expected = [
        one_competition.compete(one_window(k), np.array([MOTIONS[i] for i in chosen]), cost)
        for k, chosen in enumerate((range(5), (1, 2)))
    ]
    wanted = np.concatenate(
        [
            one.support[one.of_events(one_window(k)), np.arange(len(one_window(k)))]
            for k, one in enumerate(expected)
        ]
    )
    assert (np.abs(own - wanted) < 1e-3).mean() > 0.999


@pytest.mark.parametrize("n_labels", [1, 2, 7])
def test_choice_of_random_gains(n_labels):
    # The order of visits matters here: many cells are undecided.
    from evcrisp.kernels.layers.choice import choose_motions

    batch, rng = batch_of(), np.random.default_rng(n_labels)
    shapes = [tuple(shape) for shape in batch.shape.tolist()]
    gains = [
        rng.gamma(1.0, 20.0, (n_labels, *shape)).astype(np.float32).round(1) for shape in shapes
    ]
    flat = np.zeros((2 * n_labels, batch.n_cells), np.float32)
    for k, gain in enumerate(gains):
        flat[k * n_labels : (k + 1) * n_labels, : gain[0].size] = gain.reshape(n_labels, -1)
    handicap = rng.random(2 * n_labels) * 100.0
    rows = torch.arange(2).repeat_interleave(n_labels)
    motions = BatchMotions.of(rows, torch.zeros((2 * n_labels, 8)), 2)
    for cost in (10.0, 2000.0):
        used, label = competition.choose_motions(
            batch, motions, torch.from_numpy(flat), torch.full((2,), cost, dtype=torch.float64),
            torch.from_numpy(handicap),
        )  # fmt: skip
        for k, gain in enumerate(gains):
            is_used, wanted = np.empty(n_labels, np.bool_), np.empty(shapes[k], np.int16)
            mine = slice(k * n_labels, (k + 1) * n_labels)
            choose_motions(
                gain, cost, handicap[mine], one_competition.AGREEMENT, one_competition.FIRST_SWEEPS,
                one_competition.N_SWEEPS, is_used, wanted,
            )  # fmt: skip
            np.testing.assert_array_equal(used[mine].numpy(), is_used)
            np.testing.assert_array_equal(label[k, : wanted.size].numpy(), wanted.reshape(-1))
