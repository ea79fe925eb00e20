"""What noise would look like in a window: probes, the background rate, and the threshold.

A probe is an event that uniform noise could have made: a pixel, a time and a polarity, spread
evenly. Reading the support of thousands of probes shows how much support noise finds in this very
window, on its edges and between them, so that a false-alarm rate can be kept without knowing how
much noise there is.
"""

from dataclasses import dataclass
from functools import lru_cache

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
_CERTAINTY = 2.0

#: Steps of the evenly spread sequence in four dimensions; powers of the root of g^5 = g + 1.
_STEPS = 1.1673039782614187 ** -np.arange(1.0, 5.0)


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
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


def background_rate(support: Floats, probe_support: Floats, n_pixels: int) -> float:
    """Return the noise events per pixel and window that events and probes of one polarity show.

    Where the probes find least support there is hardly any signal, so that what events there are
    is noise. Probes do not add to what they read, and neither does an event's own pixel: taking
    the quietest places does not bias the rate.

    Parameters
    ----------
    support, probe_support : ndarray, shape (n,) and (n_probes,)
        Support of the events and of the probes.
    n_pixels : int
        Pixels of the sensor.
    """
    least = 0.5 / max(n_pixels, 1)
    if not probe_support.size:
        return least
    rank = int(QUIET_SHARE * probe_support.size)
    quiet = np.partition(probe_support, rank)[rank]
    share = np.count_nonzero(probe_support <= quiet) / probe_support.size
    return max(np.count_nonzero(support <= quiet) / (share * n_pixels), least)


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
    n_probes, n = probe_evidence.size, evidence.size
    if not n:
        return LEAST_EVIDENCE
    rank = int((1.0 - false_alarm) * n_probes)
    above = np.sort(probe_evidence[probe_evidence >= np.partition(probe_evidence, rank)[rank]])
    steps = np.unique(np.maximum(above, LEAST_EVIDENCE))
    kept_probes = 1.0 - np.searchsorted(above, steps, side="right") / above.size
    kept_probes *= above.size / n_probes
    counts = np.bincount(np.searchsorted(steps, evidence, side="left"), minlength=steps.size + 1)
    kept = 1.0 - np.cumsum(counts[:-1]) / n
    chance = np.maximum(kept_probes, 1.0 / n_probes) * (1.0 / n + 1.0 / n_probes)
    return float(steps[np.argmax(kept - kept_probes - _CERTAINTY * np.sqrt(chance))])
