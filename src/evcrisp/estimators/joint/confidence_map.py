"""The confidence map W that minimizes the joint objective for one contrast map, exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.types import Floats
from evcrisp.core.validation import check_number
from evcrisp.estimators.result import Regret


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTerms:
    r"""Constants of the paper's joint objective of alignment and denoising; eq. (25).

    .. math:: J = \max(b_{EA} - \mathrm{Var}\,M,\ \mathrm{Var}(W \circ M) - b_{ED})
              + \alpha \|W\|_1 + \beta \|W \circ M - M\|^2 .
    """

    alpha: float  # 0 or more
    beta: float  # positive; with 0, W = 0 would be optimal for every map
    baseline_ea: float
    baseline_ed: float

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0)
        remedy = "With `beta=0` the confidence map is 0 everywhere, for all events."
        check_number("beta", self.beta, 0, open_low=True, remedy=remedy)
        check_number("baseline_ea", self.baseline_ea)
        check_number("baseline_ed", self.baseline_ed)

    @property
    def squared_threshold(self) -> float:
        """A = alpha / (2 beta): at lam = 0, w = 0 for map values up to its square root."""
        return self.alpha / (2.0 * self.beta)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Confidence:
    """The best W for one contrast map, given by a few numbers."""

    terms: JointTerms
    iwe: Floats  # (h, w)
    excess: Floats  # (h, w), m - A / m
    lam: float  # multiplier of the larger regret; see `Regret`
    kappa: float  # lam / (beta P)
    mean: float  # of the map
    mu: float  # mean of the weighted map
    f_ea: float  # variance of the map
    f_ed: float  # variance of the weighted map
    penalty: float  # J without the regret: alpha |W| + beta |W M - M|^2

    @property
    def value(self) -> float:
        """The joint objective J at this W, its minimum over all W."""
        return self.regret().value

    @property
    def gap(self) -> float:
        """Duality gap: J minus a lower bound of its minimum; 0 up to rounding."""
        return self.value - self.mixture(self.lam)

    def mixture(self, lam: float) -> float:
        """Return the objective with ``(1 - lam) r_EA + lam r_ED`` instead of the larger regret."""
        regret_ea = self.terms.baseline_ea - self.f_ea
        regret_ed = self.f_ed - self.terms.baseline_ed
        return (1.0 - lam) * regret_ea + lam * regret_ed + self.penalty

    def regret(self) -> Regret:
        """Return objectives, baselines, multiplier and value."""
        baseline_ea, baseline_ed = self.terms.baseline_ea, self.terms.baseline_ed
        larger = max(baseline_ea - self.f_ea, self.f_ed - baseline_ed)
        return Regret(
            f_ea=self.f_ea, f_ed=self.f_ed, baseline_ea=baseline_ea, baseline_ed=baseline_ed,
            lam=self.lam, value=larger + self.penalty,
        )  # fmt: skip

    def w_map(self) -> Floats:
        """Return W, shape (h, w)."""
        from evcrisp.kernels.joint import confidence_map as kernels

        out = np.empty(self.iwe.shape)
        kernels.fill_confidence(self.iwe.ravel(), self.excess.ravel(), *self._line(), out.ravel())
        return out

    def slope(self, out: Floats | None = None) -> Floats:
        """Return d :attr:`value` / d map, shape (h, w); W and lam count as constants, eq. (29)."""
        from evcrisp.kernels.joint import confidence_map as kernels

        out = np.empty(self.iwe.shape) if out is None else out
        means, beta = (self.mean, self.mu), self.terms.beta
        kernels.fill_slope(
            self.iwe.ravel(), self.excess.ravel(), *self._line(), means, self.lam, beta, out.ravel()
        )
        return out

    def at(self, values: ArrayLike) -> Floats:
        """Return the confidence w(m) for any values m of the map.

        >>> terms = JointTerms(alpha=0.5, beta=0.25, baseline_ea=9.0, baseline_ed=1.0)
        >>> best = solve_confidence(np.array([[0.0, 1.0], [2.0, 4.0]]), terms)
        >>> best.at([0.0, 1.0, 2.0, 4.0])
        array([0.    , 0.    , 0.75  , 0.9375])
        """
        m = np.maximum(np.asarray(values, np.float64), 0.0)
        shift, gain = self._line()
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            excess = np.where(m > 0.0, m - self.terms.squared_threshold / m, -np.inf)
            w = np.clip((excess + shift) * gain, 0.0, m) / m
        return np.where(m > 0.0, w, 0.0)

    def _line(self) -> tuple[float, float]:
        """Return shift and gain of ``w m = clip((excess + shift) gain, 0, m)``."""
        return self.kappa * self.mu, 1.0 / (1.0 + self.kappa)


def solve_confidence(
    iwe: Floats, terms: JointTerms, lam: float | None = None, *, excess: Floats | None = None
) -> Confidence:
    r"""Minimize the joint objective over W in [0, 1] for one contrast map.

    With :math:`\kappa = \lambda / (\beta P)` and :math:`A = \alpha / (2 \beta)` the minimum is

    .. math:: w_p = \mathrm{clip}\Bigl(\frac{1 + \kappa \mu / m_p - A / m_p^2}{1 + \kappa},
              0, 1\Bigr), \qquad \mu = \frac{1}{P} \sum_p w_p m_p,

    and w = 0 where m = 0; eqs. (26) to (28). The multiplier is 0 if alignment has the larger
    regret, 1 if denoising has it, and otherwise the root at which both are equal.

    ``iwe`` is the contrast map, shape (h, w), 0 or more everywhere. With a fixed ``lam`` in 0..1, the
    mixture ``(1 - lam) r_EA + lam r_ED`` replaces the larger regret. ``excess``, shape (h, w), is a
    buffer for the field of the result. Newton steps on two monotone scalar equations, each a pass
    over the pixels: about 1 pass for lam = 0 and 8 otherwise.
    """
    from evcrisp.kernels.joint import confidence_map as kernels

    iwe = np.ascontiguousarray(iwe, np.float64)
    flat, excess = iwe.ravel(), np.empty(iwe.shape) if excess is None else excess
    flat_excess = excess.ravel()
    mean, f_ea, mu, variance = kernels.fill_excess(
        flat, terms.squared_threshold, float(iwe.mean()), flat_excess
    )
    max_kappa = 1.0 / (terms.beta * iwe.size)
    kappa = 0.0
    target = terms.baseline_ed + terms.baseline_ea - f_ea
    if lam is not None and lam > 0.0:
        kappa = lam * max_kappa
        mu = kernels.solve_mean(flat, flat_excess, kappa, mu, mean)[0]
    elif lam is None and variance > target:
        kappa, mu = kernels.solve_kappa(flat, flat_excess, max_kappa, target, mean)
    f_ed, total, misfit = kernels.value_sums(flat, flat_excess, kappa * mu, 1.0 / (1.0 + kappa), mu)
    return Confidence(
        terms=terms, iwe=iwe, excess=excess, lam=kappa / max_kappa if lam is None else lam,
        kappa=kappa, mean=mean, mu=mu, f_ea=f_ea, f_ed=f_ed,
        penalty=terms.alpha * total + terms.beta * misfit,
    )  # fmt: skip
