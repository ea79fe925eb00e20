"""Build an `Estimate` from the result of a solver, and score events by contrast."""

from typing import Any

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.types import Bools, Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate
from evcrisp.optimize import SolverResult
from evcrisp.search.window_data import WindowData


def leave_one_out_contrast(data: WindowData, theta: Floats, contrast: ContrastMap) -> Floats:
    """Return the contrast at each event that comes from all other events, shape (n,).

    It is finite, and 0 for events that the warp moves off the padded map.
    """
    x, y = data.warp.warp(theta)
    iwe = contrast.build(x, y, np.ones(x.size), data.resolution)
    return np.nan_to_num(np.maximum(contrast.leave_one_out(iwe, x, y), 0.0))


def estimate_from_solver(
    config: Any,
    window: Window,
    data: WindowData,
    end: SolverResult,
    score: Floats,
    signal: Bools | None = None,
) -> Estimate:
    """Return the estimate of a method at the motion that its solver found.

    ``config`` is the method; ``window`` and ``data`` hold all events, hot pixels included. Labels
    are all True by default. The confidence is 1 for signal and 0 for noise.
    """
    kept = np.ones(len(data), np.bool_) if signal is None else signal
    x, y = data.warp.warp(end.theta)
    return Estimate(
        theta=end.theta, signal=kept, score=score, confidence=kept.astype(np.float64),
        aligned_x=x, aligned_y=y, status=end.status, motion=data.warp.model, window=window,
        config=config, n_eval=end.n_eval,
    )  # fmt: skip
