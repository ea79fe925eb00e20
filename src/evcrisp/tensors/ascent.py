"""Quasi-Newton ascent (BFGS) of many small problems side by side.

The steps of every problem are those of :mod:`evcrisp.optimize.bfgs`: the same line search, the same
tests. All problems evaluate one trial per round. Those that have ended drop out, and the device is
read only every few rounds, to see how many are left.
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol, Self

from evcrisp.core.status import Status
from evcrisp.tensors.lazy import Tensor, torch

_MIN_GAIN = 1e-4  # least gain of a step, per predicted gain (Armijo condition)
_MAX_SLOPE = 0.9  # largest slope after a step, per slope before it (curvature condition)
_MAX_TRIALS, _MAX_STEPS = 20, 20

#: Least gain of the next step, relative to the value, for another one.
_TOL = 1e-9

#: Rounds between looks at the number of problems that are left, and the share at which they are packed.
_ROUNDS, _PACKED = 4, 0.75

_CODE = {status: code for code, status in enumerate(Status)}


class Problems(Protocol):
    """Functions to maximize, one for each row of ``theta``."""

    def __call__(self, theta: Tensor, /) -> tuple[Tensor, Tensor]:
        """Return values, (b,), and gradients, (b, m), at ``theta``, (b, m)."""
        ...

    def taken(self, chosen: Tensor) -> Self:
        """Return some of the problems, by number."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ascents:
    """Where the ascents ended; all tensors have a row for each problem."""

    theta: Tensor  # (b, m)
    value: Tensor  # (b,)
    gradient: Tensor  # (b, m)
    inverse_hessian: Tensor  # (b, m, m) of minus the function
    n_eval: Tensor  # (b,) int64
    status: Tensor  # (b,) int64, see `statuses`


def statuses(codes: Tensor) -> list[Status]:
    """Return statuses by their codes."""
    known = list(Status)
    return [known[code] for code in codes.tolist()]


def code_of(status: Status) -> int:
    """Return the code of a status."""
    return _CODE[status]


@dataclass(slots=True, eq=False)
class _Search:
    """State of all ascents: the step that is tried, and the bracket of its length."""

    number: Tensor  # (b,) of the problem
    theta: Tensor  # (b, m)
    value: Tensor
    gradient: Tensor
    matrix: Tensor  # (b, m, m)
    known: Tensor  # (b,) bool, whether the matrix tells the curvature
    tol_step: Tensor
    max_step: Tensor
    n_steps: Tensor  # int64
    n_eval: Tensor
    status: Tensor
    active: Tensor  # bool
    # Of the line search:
    step: Tensor  # (b, m)
    slope: Tensor
    t: Tensor
    t_max: Tensor
    low: Tensor
    low_slope: Tensor
    high: Tensor
    n_trials: Tensor
    has_best: Tensor
    best_t: Tensor
    best_value: Tensor
    best_gradient: Tensor  # (b, m)

    def taken(self, chosen: Tensor) -> "_Search":
        """Return the state of some of the problems."""
        columns = {name: getattr(self, name).index_select(0, chosen) for name in self.__slots__}
        return _Search(**columns)


def ascend(
    problems: Problems,
    theta: Tensor,
    inverse_hessian: "CurvatureOf",
    *,
    tol_step: Tensor,
    max_step: Tensor,
) -> Ascents:
    """Maximize from ``theta``, shape (b, m).

    ``inverse_hessian`` returns that of minus the functions, (b, m, m), after the first evaluation.
    ``tol_step`` and ``max_step``, (b,), are the lengths of a step that is not
    taken, and of the longest one.
    """
    value, gradient = _finite(*problems(theta))
    matrix = inverse_hessian()
    zero, none = torch.zeros_like(value), torch.zeros_like(value, dtype=torch.int64)
    lost = value == -math.inf
    eye = torch.eye(theta.shape[1], dtype=theta.dtype, device=theta.device)
    state = _Search(
        number=torch.arange(len(theta), device=theta.device), theta=theta.clone(), value=value,
        gradient=gradient, matrix=torch.where(lost[:, None, None], eye, matrix),
        known=torch.ones_like(lost), tol_step=tol_step.to(theta.dtype),
        max_step=max_step.to(theta.dtype), n_steps=none.clone(),
        n_eval=none + 1, status=none + code_of(Status.MAX_ITER), active=~lost,
        step=torch.zeros_like(theta), slope=zero.clone(), t=zero.clone(), t_max=zero.clone(),
        low=zero.clone(), low_slope=zero.clone(), high=zero.clone(), n_trials=none.clone(),
        has_best=torch.zeros_like(lost), best_t=zero.clone(), best_value=zero.clone(),
        best_gradient=torch.zeros_like(theta),
    )  # fmt: skip
    state.status = torch.where(lost, code_of(Status.NOT_FINITE), state.status)
    _end_flat(problems, state)
    _begin_step(state, state.active.clone())
    out = Ascents(
        state.theta, state.value, state.gradient, state.matrix, state.n_eval, state.status
    )
    while True:
        n_active = int(state.active.sum())
        if n_active < _PACKED * len(state.active):
            out = _stored(out, state)
            if not n_active:
                return out
            chosen = torch.nonzero(state.active).reshape(-1)
            state, problems = state.taken(chosen), problems.taken(chosen)
        for _ in range(_ROUNDS):
            _round(problems, state)


class CurvatureOf(Protocol):
    """Returns the inverse of minus the second derivatives where the problems were last evaluated."""

    def __call__(self) -> Tensor:
        """Return matrices, (b, m, m)."""
        ...


def _stored(out: Ascents, state: _Search) -> Ascents:
    """Write the state of the problems that are left into the results of all."""

    def put(column: Tensor, rows: Tensor) -> Tensor:
        return column.index_copy(0, state.number, rows)

    return replace(
        out, theta=put(out.theta, state.theta), value=put(out.value, state.value),
        gradient=put(out.gradient, state.gradient),
        inverse_hessian=put(out.inverse_hessian, state.matrix),
        n_eval=put(out.n_eval, state.n_eval), status=put(out.status, state.status),
    )  # fmt: skip


def _finite(value: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Return minus infinity and zeros where a value or its gradient is not finite."""
    good = torch.isfinite(value) & torch.isfinite(gradient).all(1)
    return torch.where(good, value, -math.inf), torch.where(good[:, None], gradient, 0.0)


def _end_flat(problems: Problems, state: _Search) -> None:
    """End the problems whose value no step changes."""
    chosen = torch.nonzero(state.active & (state.gradient == 0.0).all(1)).reshape(-1)
    if not chosen.numel():
        return
    tried, start = problems.taken(chosen), state.theta.index_select(0, chosen)
    before = state.value.index_select(0, chosen)
    flat = torch.ones_like(before, dtype=torch.bool)
    n_tried = 0
    for axis in torch.eye(start.shape[1], dtype=start.dtype, device=start.device):
        for length in (1.0, -0.37):
            value, gradient = tried(start + length * axis)
            flat &= _finite(value, gradient)[0] == before
            n_tried += 1
    ended = chosen[flat]
    state.active[ended] = False
    state.status[ended] = code_of(Status.FLAT)
    state.n_eval[chosen] += n_tried


def _begin_step(state: _Search, mask: Tensor) -> None:
    """Compute the next step of the marked problems, or end them if it is small."""
    step = (state.matrix @ state.gradient[:, :, None])[:, :, 0]
    length = torch.sqrt((step * step).sum(1))
    longest = torch.where(state.known, state.max_step, state.max_step.clamp(max=1.0))
    long = length > longest
    step = torch.where(long[:, None], step * (longest / length)[:, None], step)
    length = torch.where(long, longest, length)
    slope = (state.gradient * step).sum(1)
    small = (length <= state.tol_step) | (slope <= _TOL * state.value.abs().clamp(min=1.0))
    ended = mask & small
    state.status = torch.where(ended, code_of(Status.CONVERGED), state.status)
    state.active = state.active & ~ended
    state.step = torch.where(mask[:, None], step, state.step)
    state.slope = torch.where(mask, slope, state.slope)
    state.t = torch.where(mask, 1.0, state.t)
    state.t_max = torch.where(mask, (state.max_step / length).clamp(min=1.0), state.t_max)
    state.low = torch.where(mask, 0.0, state.low)
    state.low_slope = torch.where(mask, slope, state.low_slope)
    state.high = torch.where(mask, math.inf, state.high)
    state.n_trials = torch.where(mask, 0, state.n_trials)
    state.has_best = state.has_best & ~mask


def _round(problems: Problems, state: _Search) -> None:
    """Evaluate one trial of every problem, and go on with its line search or its next step."""
    value, gradient = _finite(*problems(state.theta + state.t[:, None] * state.step))
    state.n_eval = state.n_eval + state.active
    finished = _try(state, value, gradient)
    stuck = finished & ~state.has_best  # no gain within rounding
    state.status = torch.where(stuck, code_of(Status.CONVERGED), state.status)
    stepped = finished & state.has_best
    _take_step(state, stepped)
    last = stepped & (state.n_steps >= _MAX_STEPS)
    state.active = state.active & ~stuck & ~last
    _begin_step(state, stepped & ~last)


def _try(state: _Search, value: Tensor, gradient: Tensor) -> Tensor:
    """Judge a trial by the Wolfe conditions; return which line searches have ended, (b,) bool."""
    slope = torch.where(value > -math.inf, (gradient * state.step).sum(1), math.nan)
    t = state.t
    gains = state.active & (value >= state.value + _MIN_GAIN * t * state.slope)
    better = gains & (~state.has_best | (value >= state.best_value))
    state.best_t = torch.where(better, t, state.best_t)
    state.best_value = torch.where(better, value, state.best_value)
    state.best_gradient = torch.where(better[:, None], gradient, state.best_gradient)
    state.has_best = state.has_best | gains
    good = gains & (
        (slope.abs() <= _MAX_SLOPE * state.slope) | ((slope > 0.0) & (t >= state.t_max))
    )
    rises = gains & (slope > 0.0)
    state.low = torch.where(rises, t, state.low)
    state.low_slope = torch.where(rises, slope, state.low_slope)
    state.high = torch.where(rises, state.high, t)
    state.n_trials = state.n_trials + 1
    is_open = state.high == math.inf
    width = state.high - state.low
    inside = state.low + width * _share(state.low_slope, torch.where(rises, math.nan, slope))
    state.t = torch.where(is_open, torch.minimum(state.t_max, 2.0 * t), inside)
    closed = ~is_open & ~(width > 1e-12 * state.high)
    return state.active & (good | closed | (state.n_trials >= _MAX_TRIALS))


def _share(slope_low: Tensor, slope_high: Tensor) -> Tensor:
    """Return where in a bracket to try next: the zero of a linear slope, away from both ends."""
    share = (slope_low / (slope_low - slope_high)).clamp(0.1, 0.9)
    return torch.where(slope_high < slope_low, share, 0.5)  # false for NaN


def _take_step(state: _Search, mask: Tensor) -> None:
    """Move the marked problems to their best trial, and update the curvature."""
    moved = state.best_t[:, None] * state.step
    matrix = _updated(state.matrix, moved, state.gradient - state.best_gradient, state.known)
    state.matrix = torch.where(mask[:, None, None], matrix, state.matrix)
    state.known = state.known | mask
    state.theta = torch.where(mask[:, None], state.theta + moved, state.theta)
    state.value = torch.where(mask, state.best_value, state.value)
    state.gradient = torch.where(mask[:, None], state.best_gradient, state.gradient)
    state.n_steps = state.n_steps + mask


def _updated(matrix: Tensor, step: Tensor, decrease: Tensor, known: Tensor) -> Tensor:
    """Return the BFGS updates; a step without positive curvature changes nothing."""
    curvature = (step * decrease).sum(1)
    squares = (decrease * decrease).sum(1)
    lengths = torch.sqrt((step * step).sum(1) * squares)
    useful = curvature > 1e-12 * lengths
    curvature = torch.where(useful, curvature, 1.0)
    eye = torch.eye(step.shape[1], dtype=step.dtype, device=step.device)
    start = eye * (curvature / torch.where(useful, squares, 1.0))[:, None, None]
    base = torch.where(known[:, None, None], matrix, start)
    carried = (base @ decrease[:, :, None])[:, :, 0]
    factor = (1.0 + (decrease * carried).sum(1) / curvature) / curvature
    column, row = step[:, :, None], step[:, None, :]
    cross = column * (carried[:, None, :] / curvature[:, None, None])
    new = base + factor[:, None, None] * column * row - cross - cross.transpose(1, 2)
    return torch.where(useful[:, None, None], new, matrix)
