"""The confidence map W that minimizes the joint objective for a given contrast map, exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import ConfigError
from evcrisp.core.types import Floats
from evcrisp.estimators.result import Regret


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTerms:
    r"""Constants of the joint objective of alignment and denoising, as the paper has it; eq. (25).

    .. math:: J = \max(b_{EA} - \mathrm{Var}\,M,\ \mathrm{Var}(W \circ M) - b_{ED})
              + \alpha \|W\|_1 + \beta \|W \circ M - M\|^2 .

    Parameters
    ----------
    alpha : float
        Price of confidence; 0 or more.
    beta : float
        Price of a weighted map that differs from the map; more than 0, because W = 0 would be
        best for every map without it.
    baseline_ea, baseline_ed : float
        Where the regrets of alignment and of denoising start.
    """

    alpha: float
    beta: float
    baseline_ea: float
    baseline_ed: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha < np.inf:
            raise ConfigError(f"`alpha` must be 0 or more; got {self.alpha}.")
        if not 0.0 < self.beta < np.inf:
            raise ConfigError(
                f"`beta` must be more than 0; got {self.beta}. Without it the confidence map is 0 "
                "everywhere, whatever the events."
            )
        if not (np.isfinite(self.baseline_ea) and np.isfinite(self.baseline_ed)):
            raise ConfigError(
                "Baselines must be finite numbers; "
                f"got b_EA = {self.baseline_ea} and b_ED = {self.baseline_ed}."
            )

    @property
    def area(self) -> float:
        """A = alpha / (2 beta): the square of the map's value up to which w = 0 if lam = 0."""
        return self.alpha / (2.0 * self.beta)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Confidence:
    """The best W for one contrast map, as the few numbers that decide it.

    ``lam`` is the multiplier of the larger regret; see :class:`evcrisp.estimators.result.Regret`.
    ``penalty`` is the part of the value that is no regret.
    """

    terms: JointTerms
    iwe: Floats  # (h, w)
    excess: Floats  # (h, w), m - A / m
    lam: float
    kappa: float  # lam / (beta P)
    mean: float  # of the map
    mu: float  # of the weighted map
    f_ea: float  # variance of the map
    f_ed: float  # variance of the weighted map
    penalty: float

    @property
    def value(self) -> float:
        """The joint objective J at this W, its minimum over all W."""
        return self.regret().value

    @property
    def gap(self) -> float:
        """J minus a lower bound of its minimum: 0 up to rounding, whatever the map."""
        return self.value - self.mixture(self.lam)

    def mixture(self, lam: float) -> float:
        """Return the objective with ``(1 - lam) r_EA + lam r_ED`` in place of the larger regret."""
        regret_ea = self.terms.baseline_ea - self.f_ea
        regret_ed = self.f_ed - self.terms.baseline_ed
        return (1.0 - lam) * regret_ea + lam * regret_ed + self.penalty

    def regret(self) -> Regret:
        """Return objectives, baselines, multiplier and value."""
        baseline_ea, baseline_ed = self.terms.baseline_ea, self.terms.baseline_ed
        worst = max(baseline_ea - self.f_ea, self.f_ed - baseline_ed)
        return Regret(
            f_ea=self.f_ea,
            f_ed=self.f_ed,
            baseline_ea=baseline_ea,
            baseline_ed=baseline_ed,
            lam=self.lam,
            value=worst + self.penalty,
        )

    def w_map(self) -> Floats:
        """Return W, shape (h, w)."""
        from evcrisp.kernels.joint import confidence_map as kernels

        out = np.empty(self.iwe.shape)
        kernels.fill_confidence(self.iwe.ravel(), self.excess.ravel(), *self._line(), out.ravel())
        return out

    def slope(self, out: Floats | None = None) -> Floats:
        """Return the derivative of :attr:`value` with respect to the map, shape (h, w).

        It is the derivative of ``mixture(lam)`` with W and lam held fixed; eq. (29).
        """
        from evcrisp.kernels.joint import confidence_map as kernels

        out = np.empty(self.iwe.shape) if out is None else out
        kernels.fill_slope(
            self.iwe.ravel(),
            self.excess.ravel(),
            *self._line(),
            (self.mean, self.mu),
            self.lam,
            self.terms.beta,
            out.ravel(),
        )
        return out

    def at(self, values: ArrayLike) -> Floats:
        """Return the confidence that belongs to values of the map, wherever they were read.

        Examples
        --------
        >>> terms = JointTerms(alpha=0.5, beta=0.25, baseline_ea=9.0, baseline_ed=1.0)
        >>> best = solve_confidence(np.array([[0.0, 1.0], [2.0, 4.0]]), terms)
        >>> best.at([0.0, 1.0, 2.0, 4.0])
        array([0.    , 0.    , 0.75  , 0.9375])
        """
        m = np.maximum(np.asarray(values, np.float64), 0.0)
        shift, gain = self._line()
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            excess = np.where(m > 0.0, m - self.terms.area / m, -np.inf)
            w = np.clip((excess + shift) * gain, 0.0, m) / m
        return np.where(m > 0.0, w, 0.0)

    def _line(self) -> tuple[float, float]:
        """Return shift and gain of ``y = clip((excess + shift) gain, 0, m)``."""
        return self.kappa * self.mu, 1.0 / (1.0 + self.kappa)


def solve_confidence(
    iwe: Floats, terms: JointTerms, lam: float | None = None, *, excess: Floats | None = None
) -> Confidence:
    r"""Minimize the joint objective over W in [0, 1] for one contrast map.

    With :math:`\kappa = \lambda / (\beta P)` and :math:`A = \alpha / (2 \beta)` the minimum is

    .. math:: w_p = \mathrm{clip}\Bigl(\frac{1 + \kappa \mu / m_p - A / m_p^2}{1 + \kappa},
              0, 1\Bigr), \qquad \mu = \frac{1}{P} \sum_p w_p m_p,

    and w = 0 where m = 0; eqs. (26) to (28). The multiplier is 0 where the regret of alignment is the larger one,
    1 where that of denoising is, and otherwise the root at which both are equal.

    Parameters
    ----------
    iwe : ndarray, shape (h, w), float64
        The contrast map; 0 or more everywhere.
    terms : JointTerms
        Constants of the objective.
    lam : float, optional
        A multiplier in 0..1 to be kept instead: minimizes the mixture
        ``(1 - lam) r_EA + lam r_ED`` plus penalties.
    excess : ndarray, shape (h, w), optional
        Space that the result may use.

    Notes
    -----
    Newton steps on two monotone scalar equations, each a pass over the pixels: about 1 pass for
    lam = 0 and 8 otherwise.
    """
    from evcrisp.kernels.joint import confidence_map as kernels

    iwe = np.ascontiguousarray(iwe, np.float64)
    flat, excess = iwe.ravel(), np.empty(iwe.shape) if excess is None else excess
    mean, f_ea, mu, variance = kernels.fill_excess(
        flat, terms.area, float(iwe.mean()), excess.ravel()
    )
    limit = 1.0 / (terms.beta * iwe.size)
    kappa = 0.0
    target = terms.baseline_ed + terms.baseline_ea - f_ea
    if lam is not None and lam > 0.0:
        kappa = lam * limit
        mu = kernels.mean_at(flat, excess.ravel(), kappa, mu, mean)[0]
    elif lam is None and variance > target:
        kappa, mu = kernels.balance(flat, excess.ravel(), limit, target, mean)
    f_ed, total, misfit = kernels.value_sums(
        flat, excess.ravel(), kappa * mu, 1.0 / (1.0 + kappa), mu
    )
    return Confidence(
        terms=terms,
        iwe=iwe,
        excess=excess,
        lam=kappa / limit if lam is None else lam,
        kappa=kappa,
        mean=mean,
        mu=mu,
        f_ea=f_ea,
        f_ed=f_ed,
        penalty=terms.alpha * total + terms.beta * misfit,
    )
