"""The joint problem of alignment and denoising: parameters, objective, gradient and labels."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.contrast.contrast_map import event_peak
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Bools, Floats
from evcrisp.core.validation import check_number
from evcrisp.core.windows import Window
from evcrisp.estimators.hot_pixels import hot_events
from evcrisp.estimators.joint.confidence_map import Confidence, JointTerms, solve_confidence
from evcrisp.estimators.result import Estimate, Regret, estimate_from_solver
from evcrisp.motion import MotionModel
from evcrisp.optimize import SolverResult
from evcrisp.search.contrast_engine import BlurredMap, ContrastEngine, MapBuffers
from evcrisp.search.window_data import WindowData

#: The paper's Gaussian of sigma 1 px, as a spline and a blur whose variances add up to 1 px^2. With
#: bilinear votes the contrast peaks at whole pixels, which holds one velocity component at 0.
DEFAULT_CONTRAST = ContrastMap(footprint="spline", sigma_px=0.866)

#: Forms of each parameter; at most one of them is set.
_FORMS = (("alpha", "alpha_hat", "min_support"), ("beta", "beta_hat"), ("b_ea", "b_hat"))

#: Default form of each parameter. Contrast grows at most with the displacement in px, so that b_EA =
#: 1000 b_ED is out of reach; beyond that its value has no effect.
_DEFAULTS = {"min_support": 6.0, "beta_hat": 0.5, "b_hat": 1000.0}

#: An event is signal if its confidence exceeds this value, as in the paper.
MIN_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretConfig:
    r"""Parameters of the joint objective, each in the paper's form or in a unit-free form.

    With P pixels of the padded map and :math:`b_{ED} = \mathrm{Var}\,M(\theta = 0)`,

    .. math:: \alpha = \hat\alpha\, b_{ED} / P, \quad \beta = \hat\beta / P, \quad
              b_{EA} = \hat b\, b_{ED} .

    Parameters
    ----------
    alpha : float, optional
        Weight of the sum of W, as in the paper. It depends on the number of pixels and of events.
    beta : float, optional
        Weight of the change of the map by W, as in the paper. It depends on the number of pixels.
    b_ea : float, optional
        Baseline of alignment, as in the paper: the contrast that alignment shall reach.
    alpha_hat : float, optional
        Unit-free form of ``alpha``.
    beta_hat : float, optional
        Unit-free form of ``beta``; 0.5 by default.
    b_hat : float, optional
        Unit-free form of ``b_ea``. The default, 1000, is not reached by windows, so that alignment
        has the larger regret.
    min_support : float, optional
        Third form of ``alpha`` and the default, 6: the map value at which w = 1/2, in multiples of
        the value that a single event contributes to its own position. It holds for lam = 0.
    contrast : ContrastMap
        How the contrast map is built; by default with a smooth kernel of sigma 1 px.
    """

    alpha: float | None = None
    beta: float | None = None
    b_ea: float | None = None
    alpha_hat: float | None = None
    beta_hat: float | None = None
    b_hat: float | None = None
    min_support: float | None = None
    contrast: ContrastMap = DEFAULT_CONTRAST

    def __post_init__(self) -> None:
        for forms in _FORMS:
            given = [name for name in forms if getattr(self, name) is not None]
            if len(given) > 1:
                raise ConfigError(
                    f"`{given[0]}` and `{given[1]}` are two forms of one parameter. Give one."
                )
            for name in given:
                # With beta = 0, W = 0 would be optimal for all events.
                is_beta = name in ("beta", "beta_hat")
                check_number(name, getattr(self, name), 0, open_low=is_beta)
        if self.contrast.footprint == "nearest":
            raise ConfigError(
                "must have a footprint with a gradient", parameter="contrast", value="nearest",
                remedy="Use 'bilinear' or 'spline'.",
            )  # fmt: skip

    def resolved(self) -> dict[str, float]:
        """Return the form of each parameter that is in use, given or default, by name.

        >>> RegretConfig(b_hat=2.0).resolved()
        {'min_support': 6.0, 'beta_hat': 0.5, 'b_hat': 2.0}
        """
        found = {}
        for forms in _FORMS:
            given = {name: getattr(self, name) for name in forms if getattr(self, name) is not None}
            found |= given or {name: _DEFAULTS[name] for name in forms if name in _DEFAULTS}
        return found

    def terms(self, n_pixels: int, baseline_ed: float) -> JointTerms:
        """Return the paper's constants for a map of ``n_pixels`` with the variance b_ED."""
        values = self.resolved()
        beta = values["beta"] if "beta" in values else values["beta_hat"] / n_pixels
        if "alpha" in values:
            alpha = values["alpha"]
        elif "alpha_hat" in values:
            alpha = values["alpha_hat"] * baseline_ed / n_pixels
        else:
            # w = 1 - A / m^2 is 1/2 at A = m^2 / 2.
            alpha = beta * (values["min_support"] * event_peak(self.contrast)) ** 2
        baseline_ea = values["b_ea"] if "b_ea" in values else values["b_hat"] * baseline_ed
        return JointTerms(alpha=alpha, beta=beta, baseline_ea=baseline_ea, baseline_ed=baseline_ed)


class JointBuffers(MapBuffers):
    """Arrays of one evaluation of the joint objective."""

    maps = ("image", "slope", "excess")
    slope: Floats  # (h, w) d J / d map
    excess: Floats  # (h, w)


@dataclass(frozen=True, slots=True, eq=False)
class JointProblem:
    """The joint objective J of one window, minimized over W, as a function of theta.

    >>> import evcrisp
    >>> scene = evcrisp.simulate(duration_us=20_000, resolution=(64, 48), seed=1)
    >>> data = WindowData.of(evcrisp.Window(scene.events, 0, 20_000), scene.motion)
    >>> problem = JointProblem.from_data(data, RegretConfig())
    >>> theta = scene.theta(0, 20_000)
    >>> bool(problem.solve(theta).value < problem.solve(np.zeros(2)).value)
    True
    """

    data: WindowData
    contrast: ContrastMap
    terms: JointTerms
    buffers: JointBuffers = field(default_factory=JointBuffers, repr=False)
    engine: ContrastEngine = field(init=False, repr=False)

    def __post_init__(self) -> None:
        target = BlurredMap.of(self.contrast, self.data.resolution, np.ones(len(self.data)))
        object.__setattr__(self, "engine", ContrastEngine(self.data.warp, target, self.buffers))

    @classmethod
    def from_data(cls, data: WindowData, config: RegretConfig) -> "JointProblem":
        """Return the problem of a window; b_ED is the variance of the unaligned map.

        The padding grows by the distance at which the lens maps pixels outside the sensor: an
        event that crosses the border of the map would make J discontinuous.
        """
        contrast = config.contrast
        x, y = data.warp.warp(np.zeros(len(data.warp.model.param_names)))
        overhang_px = _overhang_px(x, y, data.resolution)
        if overhang_px:
            contrast = replace(contrast, padding_px=contrast.padding_px + overhang_px)
        iwe = contrast.build(x, y, np.ones(x.size), data.resolution)
        return cls(data, contrast, config.terms(iwe.size, float(np.var(iwe))))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at ``theta``."""
        x, y = self.data.warp.warp(theta)
        return self.contrast.build(x, y, np.ones(x.size), self.data.resolution)

    def solve(self, theta: Floats, lam: float | None = None) -> Confidence:
        """Return the best W at ``theta``; see :func:`solve_confidence`."""
        return solve_confidence(self.iwe(theta), self.terms, lam)

    def value_and_gradient(self, theta: Floats, lam: float | None = None) -> tuple[float, Floats]:
        """Return V = min over W of J, or of the mixture at ``lam``, and its gradient, (m,)."""
        best, gradient = self.solve_with_gradient(theta, lam)
        return best.value if lam is None else best.mixture(lam), gradient

    def solve_with_gradient(
        self, theta: Floats, lam: float | None = None
    ) -> tuple[Confidence, Floats]:
        """Return the best W, in buffers that the next call overwrites, and the gradient of V."""
        best = self.solve_in_buffers(theta, lam)
        return best, self.pull_back(theta, best.slope(out=self.buffers.slope))

    def solve_in_buffers(self, theta: Floats, lam: float | None = None) -> Confidence:
        """Return the best W at ``theta``, in buffers that the next call overwrites."""
        iwe = self.engine.build(theta)
        return solve_confidence(iwe, self.terms, lam, excess=self.buffers.excess)

    def contrast_gradient(self, theta: Floats) -> Floats:
        """Return the gradient of the contrast f_EA, shape (m,)."""
        iwe = self.engine.build(theta)
        iwe -= iwe.mean()
        iwe *= 2.0 / iwe.size
        return self.pull_back(theta, iwe)

    def pull_back(self, theta: Floats, slope: Floats) -> Floats:
        """Return the gradient, shape (m,), given d value / d map, which is overwritten."""
        return self.engine.pull_back(theta, slope) / self.contrast.scale


def _overhang_px(x: Floats, y: Floats, resolution: tuple[int, int]) -> int:
    """Return the distance of unwarped events from the sensor, at most its smaller side."""
    if not x.size:
        return 0
    width, height = resolution
    furthest = max(-x.min(), x.max() - (width - 1), -y.min(), y.max() - (height - 1), 0.0)
    return math.ceil(min(furthest, min(resolution)))


@dataclass(frozen=True, slots=True, eq=False)
class JointWindow:
    """A window and its joint problem, which excludes hot pixels."""

    window: Window
    data: WindowData  # all events
    hot: Bools  # (n,) events of hot pixels
    problem: JointProblem  # of the other events

    @classmethod
    def from_window(cls, window: Window, model: MotionModel, config: RegretConfig) -> "JointWindow":
        """Find the hot pixels of a window, and state the problem without them."""
        data, hot = WindowData.of(window, model), hot_events(window.events)
        clean = data.subset(~hot) if hot.any() else data
        return cls(window, data, hot, JointProblem.from_data(clean, config))

    def read_maps(self, theta: Floats, w_map: Floats, best: Confidence) -> tuple[Floats, Floats]:
        """Return score and confidence of each event: both maps, read at the warped events.

        Events that the warp moves off the padded map are read at their raw position, on the
        contrast map of the raw events, with the same function w(m). Hot pixels read 0.
        """
        contrast, resolution = self.problem.contrast, self.data.resolution
        x, y = self.data.warp.warp(theta)
        score = contrast.sample(best.iwe, x, y)
        confidence = np.clip(contrast.sample(w_map, x, y), 0.0, 1.0)
        # A map of ones reads 1 where the whole footprint lies inside.
        outside = contrast.sample(np.ones(best.iwe.shape), x, y) < 0.5
        if outside.any():
            raw_x = self.window.events.x.astype(np.float64)
            raw_y = self.window.events.y.astype(np.float64)
            raw = contrast.build(raw_x, raw_y, np.where(self.hot, 0.0, 1.0), resolution)
            score[outside] = contrast.sample(raw, raw_x[outside], raw_y[outside])
            confidence[outside] = best.at(score[outside])
        score[self.hot] = confidence[self.hot] = 0.0
        return score, confidence

    def build_estimate(
        self,
        config: RegretConfig,
        end: SolverResult,
        *,
        w_map: Floats | None = None,
        regret: Regret | None = None,
    ) -> Estimate:
        """Return the estimate at a motion; W and regret default to their best values there."""
        best = self.problem.solve(end.theta)
        w_map = best.w_map() if w_map is None else w_map
        regret = best.regret() if regret is None else regret
        score, confidence = self.read_maps(end.theta, w_map, best)
        signal = confidence > MIN_CONFIDENCE
        return estimate_from_solver(
            config, self.window, self.data, end, score, signal, confidence,
            w_map=w_map, regret=regret, warnings=_warnings(regret, signal),
        )  # fmt: skip


def _warnings(regret: Regret, signal: Bools) -> tuple[str, ...]:
    """Warn if denoising determines the motion, or influences it and keeps no event."""
    if regret.lam >= 1.0:
        problem = "Denoising has the larger regret (lam = 1)"
    elif regret.lam > 0.0 and not signal.any():
        problem = "Denoising has the same regret as alignment (lam above 0) and keeps no event"
    else:
        return ()
    # No numbers in the text: summaries of a recording count equal warnings.
    return (
        f"{problem}, which moves the motion away from alignment. Raise `b_ea` or `b_hat` until b_EA "
        "is above the contrast of aligned events (`regret.f_ea` at lam = 0), or use the default.",
    )
