"""What the aligned events say about each of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.contrast import ContrastMap
from evcrisp.core.types import Floats
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate
from evcrisp.optimize import SolverResult
from evcrisp.search.window_data import WindowData


def support(data: WindowData, theta: Floats, contrast: ContrastMap) -> Floats:
    """Return the contrast that each event finds in the others, shape (n,); finite, 0 without any.

    An event that the warp takes off the padded map has none.
    """
    x, y = data.warp.warp(theta)
    iwe = contrast.build(x, y, np.ones(x.size), data.resolution)
    return np.nan_to_num(np.maximum(contrast.leave_one_out(iwe, x, y), 0.0))


def concluded(
    config: Any,
    window: Window,
    data: WindowData,
    end: SolverResult,
    score: Floats,
    signal: NDArray[np.bool_] | None = None,
) -> Estimate:
    """Return the estimate of a method that found a motion; without labels it keeps all events.

    Parameters
    ----------
    config : Estimator
        The method.
    window, data : Window, WindowData
        All its events.
    end : SolverResult
        The motion.
    score : ndarray, shape (n,)
        Finite; larger = more likely signal.
    signal : ndarray of bool, shape (n,), optional
        Labels; their confidence is 0 or 1.
    """
    kept = np.ones(len(data), np.bool_) if signal is None else signal
    x, y = data.warp.warp(end.theta)
    return Estimate(
        theta=end.theta,
        signal=kept,
        score=score,
        confidence=kept.astype(np.float64),
        aligned_x=x,
        aligned_y=y,
        status=end.status,
        motion=data.warp.model,
        window=window,
        config=config,
        n_eval=end.n_eval,
    )
