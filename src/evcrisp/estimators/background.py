"""What noise would look like in a window: probes, the background rate, and the threshold.

A probe is an event that uniform noise could have made: a pixel, a time and a polarity, spread
evenly. Reading the support of thousands of probes shows how much support noise finds in this very
window, on its edges and between them, so that a false-alarm rate can be kept without knowing how
much noise there is.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: How many probes; a false-alarm rate of 10 % is known to within 0.3 %.
N_PROBES = 8192

#: Share of the quietest probes by which the background rate is told.
QUIET_SHARE = 0.2

#: Evidence below this is none: less than what one event at a distance of 1.5 px gives.
LEAST_EVIDENCE = 0.02

#: A step of the threshold is taken if it gains more than this many standard deviations.
_CERTAINTY = 3.0

#: Steps of the evenly spread sequence in four dimensions; powers of the root of g^5 = g + 1.
_STEPS = 1.1673039782614187 ** -np.arange(1.0, 5.0)


class Probes(NamedTuple):
    """Pixels, times and polarities of noise that could have been, sorted by time."""

    x: NDArray[np.uint16]  # (n,) px
    y: NDArray[np.uint16]  # (n,) px
    t: Floats  # (n,) -0.5 to 0.5, in windows from the reference time
    p: NDArray[np.uint8]  # (n,) 0 or 1


@lru_cache(maxsize=16)
def uniform_probes(resolution: tuple[int, int], n: int = N_PROBES) -> Probes:
    """Return n probes for a sensor; the same ones each time.

    Examples
    --------
    >>> probes = uniform_probes((346, 260))
    >>> bool(abs(probes.p.mean() - 0.5) < 0.001), bool(abs(probes.x.mean() - 172.5) < 0.5)
    (True, True)
    """
    unit = np.mod(0.5 + np.arange(1, n + 1)[:, None] * _STEPS, 1.0)
    unit = unit[np.argsort(unit[:, 3], kind="stable")]
    width, height = resolution
    columns = (
        (unit[:, 0] * width).astype(np.uint16),
        (unit[:, 1] * height).astype(np.uint16),
        unit[:, 3] - 0.5,
        (unit[:, 2] < 0.5).astype(np.uint8),
    )
    for column in columns:
        column.flags.writeable = False
    return Probes(*columns)


def background_rates(
    support: Floats,
    p: NDArray[np.uint8],
    probe_support: Floats,
    probe_p: NDArray[np.uint8],
    n_pixels: int,
) -> Floats:
    """Return the noise events per pixel and window, OFF and ON, shape (2,); above 0.

    Where the probes find least support there is hardly any signal, so that what events there are
    is noise. Probes do not add to what they read, and neither does an event's own pixel: taking
    the quietest places does not bias the rate.

    Parameters
    ----------
    support, probe_support : ndarray, shape (n,) and (n_probes,)
        Support of the events and of the probes.
    p, probe_p : ndarray of uint8, shape (n,) and (n_probes,)
        Their polarities.
    n_pixels : int
        Pixels of the sensor.
    """
    from evcrisp.kernels.support import count_quiet

    quiet, share = np.empty(2), np.empty(2)
    for q in (0, 1):
        ranked = np.sort(probe_support[probe_p == q])
        quiet[q] = ranked[int(QUIET_SHARE * ranked.size)]
        share[q] = np.searchsorted(ranked, quiet[q], side="right") / ranked.size
    counts = np.zeros(2, np.int64)
    count_quiet(support, p, quiet, counts)
    return np.maximum(counts, 0.5 * share) / (share * n_pixels)


def evidence_threshold(evidence: Floats, probe_evidence: Floats, false_alarm: float) -> float:
    """Return the evidence above which an event is signal.

    Of all thresholds that keep at most ``false_alarm`` of the probes, it is the one with the largest
    difference between the kept shares of events and of probes. That difference is proportional to
    sensitivity + specificity - 1, whatever the amount of noise. Differences that may be chance are
    not sought, so that of noise alone next to nothing is kept.

    Parameters
    ----------
    evidence, probe_evidence : ndarray, shape (n,) and (n_probes,)
        Evidence of the events and of the probes.
    false_alarm : float
        Largest share of the probes that may be kept.
    """
    if not evidence.size:
        return LEAST_EVIDENCE
    some = evidence[:: -(-evidence.size // N_PROBES)]
    n_probes, n = probe_evidence.size, some.size
    ranked = np.sort(probe_evidence)
    steps = np.unique(np.maximum(ranked[int((1.0 - false_alarm) * n_probes) :], LEAST_EVIDENCE))
    kept_probes = 1.0 - np.searchsorted(ranked, steps, side="right") / n_probes
    kept = 1.0 - np.searchsorted(np.sort(some), steps, side="right") / n
    chance = np.maximum(kept_probes, 1.0 / n_probes) * (1.0 / n + 1.0 / n_probes)
    return float(steps[np.argmax(kept - kept_probes - _CERTAINTY * np.sqrt(chance))])
