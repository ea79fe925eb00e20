"""The search by kernels, one block per window, takes the steps of the torch operations."""

import numpy as np
import pytest
from tests.parity.tensors.host_kernels import host_kernels

import evcrisp
from evcrisp.core.windows import Window
from evcrisp.estimators.auto.on_device.window_batch import WindowBatch
from evcrisp.motion import Translation
from evcrisp.motion.registry import MOTION_MODELS
from evcrisp.search.config import SearchConfig
from evcrisp.search.on_device.find_motion import BatchSearch
from evcrisp.search.on_device.frame_constants import FrameConstants
from evcrisp.search.on_device.level import Level
from evcrisp.search.on_device.model_operations import ModelOperations
from evcrisp.search.on_device.problem import Problem
from evcrisp.tensors.cuda.kernels import made_by
from evcrisp.tensors.lazy import torch

SIZE = (64, 48)
THETA = {
    "translation": (250.0, -90.0), "rotation": (0.5, -0.3, 1.0), "similarity": (200.0, 50.0, 1.0, 0.5),
    "affine": (200.0, 50.0, 0.5, 0.2, -0.3, 0.4),
    "homography": (0.1, 0.0, 0.5, 0.0, 0.2, -0.3, 0.1, 0.05),
}  # fmt: skip


def level_of(motion):
    """Return the finest level of two windows, and starts beside their motions."""
    model = Translation() if motion == "translation" else MOTION_MODELS[motion].for_sensor(SIZE)
    windows = [
        Window(
            evcrisp.simulate(
                motion=motion, theta=THETA[motion], duration_us=30_000, noise_hz=5.0, seed=seed,
                resolution=SIZE, texture="shapes",
            ).events, 0, 30_000,
        )
        for seed in (1, 2)
    ]  # fmt: skip
    batch = WindowBatch.of(windows, model, "cpu")
    device = batch.duration_s.device
    operations = ModelOperations.of([frame.model for frame in batch.frames], device)
    frames = FrameConstants.of(batch.frames, SearchConfig(), device)
    problem = Problem.of(batch.points, operations, frames, batch.width, batch.height)
    theta = torch.tensor([THETA[motion]] * 2, dtype=torch.float64)
    start = problem.scaled(theta) + 0.3
    search, scale = BatchSearch(), torch.full_like(batch.width, 2)
    level = Level.around(
        problem, start, scale, batch.points, margin_px=3.0 * scale, scatter=search.scatter,
        kind=search.dtype,
    )  # fmt: skip
    return level, start


def both_ascents(motion, maker, tol_px):
    """Return the ascents by torch operations, and those of the maker."""
    level, start = level_of(motion)
    tol = torch.full((2,), tol_px, dtype=torch.float64)
    limits = torch.zeros_like(tol), tol, torch.full_like(tol, 4.0)
    found = []
    for one in (None, host_kernels if maker == "cuda" else None):
        with made_by(one):
            found.append(level.ascend(start, None, *limits))
    return found


@pytest.mark.parametrize("motion", THETA)
def test_value_gradient_and_curvature_at_the_start(motion, maker):
    wanted, found = both_ascents(motion, maker, tol_px=1e9)  # any step is short enough
    for name in ("value", "gradient", "inverse_hessian"):
        one, other = (getattr(ascents, name).numpy() for ascents in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * abs(other).max())
    assert wanted.n_eval.tolist() == found.n_eval.tolist() == [1, 1]


@pytest.mark.parametrize("motion", THETA)
def test_ends_of_ascents(motion, maker):
    wanted, found = both_ascents(motion, maker, tol_px=1e-3)
    np.testing.assert_array_equal(found.status, wanted.status)
    np.testing.assert_allclose(found.theta, wanted.theta, atol=0.01)  # scaled: px
    assert int(wanted.n_eval.min()) > 2
