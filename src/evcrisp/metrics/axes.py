"""Agreement of a measured with an estimated motion, axis by axis."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evcrisp.core.errors import EventDataError
from evcrisp.core.types import Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AxisAgreement:
    """Agreement of estimates with measurements, one number per axis; NaN where it is not defined.

    ``scale`` and ``offset`` are those of the line ``estimate = scale * truth + offset`` of least
    squares. Where the truth hardly changes, see ``truth_std``, correlation and scale mean little.
    """

    n: int  # number of windows
    correlation: Floats  # (m,)
    scale: Floats  # (m,)
    offset: Floats  # (m,) in the unit of the input
    rms: Floats  # (m,) root mean square of estimate minus truth
    truth_std: Floats  # (m,)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON types."""
        names = ("correlation", "scale", "offset", "rms", "truth_std")
        return {"n": self.n, **{name: getattr(self, name).tolist() for name in names}}


def axis_agreement(estimate: ArrayLike, truth: ArrayLike) -> AxisAgreement:
    """Compare an estimated with a measured motion over windows.

    Parameters
    ----------
    estimate, truth : array_like, shape (n, m)
        One row per window, one column per axis, in one unit and one frame of axes; no NaN.

    Examples
    --------
    >>> found = axis_agreement([[1.0], [2.2], [3.4]], [[1.0], [2.0], [3.0]])
    >>> found.correlation.round(6).tolist(), found.scale.round(6).tolist(), found.offset.round(6).tolist()
    ([1.0], [1.2], [-0.2])
    """
    ours, true = np.asarray(estimate, np.float64), np.asarray(truth, np.float64)
    if ours.shape != true.shape or ours.ndim != 2 or not np.isfinite((ours, true)).all():
        raise EventDataError(
            "`estimate` and `truth` must be finite and have one shape (windows, axes); got shapes "
            f"{ours.shape} and {true.shape}."
        )
    n, m = ours.shape
    unknown = np.full(m, np.nan)
    if n == 0:
        return AxisAgreement(
            n=0, correlation=unknown, scale=unknown, offset=unknown, rms=unknown, truth_std=unknown
        )
    own, known = ours - ours.mean(axis=0), true - true.mean(axis=0)
    own_std, known_std = ours.std(axis=0), true.std(axis=0)
    together = (own * known).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        has_line = (known_std > 0.0) & (n > 1)
        scale = np.where(has_line, together / known_std**2, np.nan)
        is_related = has_line & (own_std > 0.0) & (n > 2)
        correlation = np.where(is_related, together / (own_std * known_std), np.nan)
    return AxisAgreement(
        n=n,
        correlation=np.clip(correlation, -1.0, 1.0),
        scale=scale,
        offset=ours.mean(axis=0) - scale * true.mean(axis=0),
        rms=np.sqrt(((ours - true) ** 2).mean(axis=0)),
        truth_std=known_std,
    )
