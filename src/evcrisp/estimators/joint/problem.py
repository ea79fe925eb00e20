"""The joint problem of alignment and denoising: its parameters, its objective and its gradient."""

import math
import numbers
from dataclasses import dataclass, field, replace

import numpy as np

from evcrisp.contrast import ContrastMap
from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.estimators.joint.confidence_map import Confidence, JointTerms, solve_confidence
from evcrisp.search.buffers import MapBuffers
from evcrisp.search.contrast_engine import BlurredMap, ContrastEngine
from evcrisp.search.window_data import WindowData

#: The paper's Gaussian of sigma 1 px, as a spline and a blur whose variances add up to 1. Bilinear votes are
#: sharpest on whole pixels: events whose row the motion leaves alone then hold it there, and real windows
#: get a velocity of exactly 0 across the main motion.
DEFAULT_CONTRAST = ContrastMap(footprint="spline", sigma_px=0.866)

#: Values of the three parameters that are not given in any form.
DEFAULT_MIN_SUPPORT = 6.0
DEFAULT_BETA_HAT = 0.5

#: More than windows reach: a thousand times the contrast without motion. Contrast grows with the
#: displacement at most, and all that counts is that alignment has the larger regret.
DEFAULT_B_HAT = 1000.0

#: Forms of each parameter, of which one may be given.
_FORMS = (("alpha", "alpha_hat", "min_support"), ("beta", "beta_hat"), ("b_ea", "b_hat"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretConfig:
    r"""Parameters of the joint objective, raw or free of units; one form of each.

    With P pixels of the padded map and :math:`b_{ED} = \mathrm{Var}\,M(\theta = 0)`,

    .. math:: \alpha = \hat\alpha\, b_{ED} / P, \quad \beta = \hat\beta / P, \quad
              b_{EA} = \hat b\, b_{ED} .

    Parameters
    ----------
    alpha, beta, b_ea : float, optional
        As in the paper. They depend on the number of pixels and of events.
    alpha_hat, beta_hat, b_hat : float, optional
        The same, independent of both. Without any form, ``beta_hat`` is 0.5 and ``b_hat``
        1000, which is more than windows reach, so that alignment has the larger regret.
    min_support : float, optional
        ``alpha`` as what an event needs in order to be kept: where alignment has the larger
        regret, w = 1/2 where the map is ``min_support`` times what a lone event reads of itself.
        The default form, with 6.
    contrast : ContrastMap
        How the contrast map is made; a smooth kernel of sigma 1 px where not given.
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
                self._check(name, getattr(self, name))
        if self.contrast.footprint == "nearest":
            raise ConfigError(
                "`contrast` must have a gradient; got footprint 'nearest'. Use 'bilinear' or 'spline'."
            )

    @staticmethod
    def _check(name: str, value: float) -> None:
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise ConfigError(f"`{name}` must be a finite number; got {value!r}.")
        if name in ("beta", "beta_hat"):
            # The paper's problem has the answer W = 0 without the fidelity term, for any events.
            if not value > 0.0:
                raise ConfigError(f"`{name}` must be more than 0; got {value}.")
        elif value < 0.0:
            raise ConfigError(f"`{name}` must be 0 or more; got {value}.")

    def resolved(self) -> dict[str, float]:
        """Return the form of each parameter that holds, by its name: what was given, or the default.

        Examples
        --------
        >>> RegretConfig(b_hat=2.0).resolved()
        {'min_support': 6.0, 'beta_hat': 0.5, 'b_hat': 2.0}
        """
        defaults = {
            "min_support": DEFAULT_MIN_SUPPORT,
            "beta_hat": DEFAULT_BETA_HAT,
            "b_hat": DEFAULT_B_HAT,
        }
        found = {}
        for forms in _FORMS:
            given = {name: getattr(self, name) for name in forms if getattr(self, name) is not None}
            found |= given or {name: defaults[name] for name in forms if name in defaults}
        return found

    def terms(self, n_pixels: int, baseline_ed: float) -> JointTerms:
        """Return the raw constants for a map of P pixels with the variance b_ED when unaligned."""
        beta = self.beta
        if beta is None:
            beta = (DEFAULT_BETA_HAT if self.beta_hat is None else self.beta_hat) / n_pixels
        alpha = self.alpha
        if self.alpha_hat is not None:
            alpha = self.alpha_hat * baseline_ed / n_pixels
        elif alpha is None:
            support = DEFAULT_MIN_SUPPORT if self.min_support is None else self.min_support
            # w = 1 - A / m^2 is 1/2 where A = m^2 / 2.
            alpha = beta * (support * event_peak(self.contrast)) ** 2
        baseline_ea = self.b_ea
        if baseline_ea is None:
            baseline_ea = (DEFAULT_B_HAT if self.b_hat is None else self.b_hat) * baseline_ed
        return JointTerms(alpha=alpha, beta=beta, baseline_ea=baseline_ea, baseline_ed=baseline_ed)


def event_peak(contrast: ContrastMap) -> float:
    """Return what a lone event in the middle of a pixel reads of itself, the unit of support."""
    middle = np.zeros(1) if contrast.scale == 1 else np.full(1, (contrast.scale - 1) / 2)
    return float(contrast.self_value(middle - contrast.padding_px, middle - contrast.padding_px)[0])


class JointBuffers(MapBuffers):
    """Arrays of one evaluation of the joint objective."""

    maps = ("image", "slope", "excess")
    slope: Floats  # (h, w) d J / d map
    excess: Floats  # (h, w)


@dataclass(frozen=True, slots=True, eq=False)
class JointProblem:
    """The joint objective J of one window, as a function of theta and W or of theta alone.

    Examples
    --------
    >>> import evcrisp
    >>> scene = evcrisp.simulate(duration_us=20_000, resolution=(64, 48), seed=1)
    >>> data = WindowData.of(evcrisp.Window(scene.events, 0, 20_000), scene.motion)
    >>> problem = JointProblem.of(data, RegretConfig())
    >>> theta = scene.theta(0, 20_000)
    >>> best = problem.solve(theta)
    >>> bool(abs(problem.value(theta, best.w_map()) - best.value) < 1e-12 * best.value)
    True
    >>> bool(best.value < problem.solve(np.zeros(2)).value)
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
    def of(cls, data: WindowData, config: RegretConfig) -> "JointProblem":
        """Return the problem with the config's map; b_ED is the variance of the unaligned map.

        The padding is raised by what the lens bends out of the sensor: an event that crosses the
        border of the map makes J jump.
        """
        contrast = config.contrast
        overhang = _overhang_px(data)
        if overhang:
            contrast = replace(contrast, padding_px=contrast.padding_px + overhang)
        start = np.zeros(len(data.warp.model.param_names))
        iwe = _built(data, contrast, *data.warp.warp(start))
        return cls(data, contrast, config.terms(iwe.size, float(np.var(iwe))))

    def iwe(self, theta: Floats) -> Floats:
        """Return the contrast map at ``theta``."""
        return _built(self.data, self.contrast, *self.data.warp.warp(theta))

    def value(self, theta: Floats, w_map: Floats) -> float:
        """Return J(theta, W) as the paper writes it."""
        iwe, terms = self.iwe(theta), self.terms
        kept = w_map * iwe
        worst = max(terms.baseline_ea - np.var(iwe), np.var(kept) - terms.baseline_ed)
        price = terms.alpha * np.abs(w_map).sum() + terms.beta * np.sum((kept - iwe) ** 2)
        return float(worst + price)

    def solve(self, theta: Floats, lam: float | None = None) -> Confidence:
        """Return the best W at ``theta``; see :func:`solve_confidence`."""
        return solve_confidence(self.iwe(theta), self.terms, lam)

    def value_and_gradient(self, theta: Floats, lam: float | None = None) -> tuple[float, Floats]:
        """Return V(theta) = min over W of J(theta, W), and its gradient, shape (m,).

        With ``lam`` the larger regret is replaced by the mixture ``(1 - lam) r_EA + lam r_ED``.
        """
        best, gradient = self.best_and_gradient(theta, lam)
        return best.value if lam is None else best.mixture(lam), gradient

    def best_and_gradient(
        self, theta: Floats, lam: float | None = None
    ) -> tuple[Confidence, Floats]:
        """Return the same with the best W, whose arrays the next evaluation overwrites."""
        best = self.best(theta, lam)
        return best, self.pull_back(theta, best.slope(out=self.buffers.slope))

    def best(self, theta: Floats, lam: float | None = None) -> Confidence:
        """Return the same as :meth:`solve`, on arrays that the next evaluation overwrites."""
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


def _built(data: WindowData, contrast: ContrastMap, x: Floats, y: Floats) -> Floats:
    return contrast.build(x, y, np.ones(x.size), data.resolution)


def _overhang_px(data: WindowData) -> int:
    """Return how far unmoved events lie outside the sensor, at most its smaller side."""
    x, y = data.warp.warp(np.zeros(len(data.warp.model.param_names)))
    width, height = data.resolution
    if not x.size:
        return 0
    furthest = max(-x.min(), x.max() - (width - 1), -y.min(), y.max() - (height - 1), 0.0)
    return math.ceil(min(furthest, min(data.resolution)))
