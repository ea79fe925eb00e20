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

from evcrisp.core.types import Floats

Reals = NDArray[np.float32] | Floats
Polarities = NDArray[np.uint8]

#: Most probes; a false-alarm rate of 10 % is then known to within 0.3 %.
MOST_PROBES = 8192

#: Share of the quietest probes by which the background rate is told.
QUIET_SHARE = 0.2

#: Evidence below this is none: less than what one event at a distance of 1.5 px gives.
LEAST_EVIDENCE = 0.02

#: Standard deviations by which the kept share of events has to exceed that of probes.
_CERTAINTY = 3.0

#: Steps of the evenly spread sequence in four dimensions; powers of the root of g^5 = g + 1.
_STEPS = 1.1673039782614187 ** -np.arange(1.0, 5.0)


class Probes(NamedTuple):
    """Noise that could have been, sorted by source; all arrays have shape (n,)."""

    x: Floats  # px
    y: Floats  # px
    t: NDArray[np.float32]  # -0.5 to 0.5, in windows from the reference time
    p: NDArray[np.uint8]
    source: NDArray[np.int32]  # pixel and polarity: (p * height + y) * width + x


def n_probes_for(n_events: int) -> int:
    """Return how many probes a window is worth: about a twentieth of its events, 2048 to 8192."""
    n = MOST_PROBES // 4
    while n < MOST_PROBES and 20 * n < n_events:
        n *= 2
    return n


@lru_cache(maxsize=32)
def uniform_probes(resolution: tuple[int, int], n: int) -> Probes:
    """Return n probes for a sensor; the same ones each time.

    Examples
    --------
    >>> probes = uniform_probes((346, 260), 8192)
    >>> bool(abs(probes.t.mean()) < 0.001), bool(abs(probes.x.mean() - 172.5) < 0.5)
    (True, True)
    """
    unit = np.mod(0.5 + np.arange(1, n + 1)[:, None] * _STEPS, 1.0)
    width, height = resolution
    x, y, p = (np.floor(unit[:, i] * n) for i, n in enumerate((width, height, 2)))
    source = ((p * height + y) * width + x).astype(np.int32)
    order = np.argsort(source, kind="stable")
    t = (unit[order, 3] - 0.5).astype(np.float32)
    columns = x[order], y[order], t, p[order].astype(np.uint8), source[order]
    for column in columns:
        column.flags.writeable = False
    return Probes(*columns)


def background_rates(
    support: Reals, p: Polarities, probe_support: Reals, probe_p: Polarities, n_pixels: int
) -> Floats:
    """Return the noise events per pixel and window, OFF and ON, shape (2,); above 0.

    Where the probes find least support there is hardly any signal, so that what events there are
    is noise. Probes do not add to what they read, and neither does an event's own pixel: taking
    the quietest places does not bias the rate.

    Parameters
    ----------
    support, probe_support : ndarray, shape (n,) and (n_probes,)
        Support of the events and of the probes.
    p, probe_p : ndarray of uint8, of the same shapes
        Their polarity; OFF probes come first.
    n_pixels : int
        Pixels of the sensor.
    """
    from evcrisp.kernels.auto.event_evidence import count_quiet

    quiet, share = np.empty(2, support.dtype), np.empty(2)
    first_on = int(np.searchsorted(probe_p, 1))
    for q, part in enumerate((probe_support[:first_on], probe_support[first_on:])):
        ranked = np.sort(part)  # of many equal numbers, a partition takes ten times as long
        quiet[q] = ranked[int(QUIET_SHARE * ranked.size)]
        share[q] = np.searchsorted(ranked, quiet[q], side="right") / ranked.size
    counts = np.empty(2, np.int64)
    count_quiet(support, p, quiet, counts)
    return np.maximum(counts, 0.5 * share) / (share * n_pixels)


def evidence_threshold(evidence: Reals, probe_evidence: Reals, false_alarm: float) -> float:
    """Return the evidence above which an event is signal.

    Of all thresholds that keep at most ``false_alarm`` of the probes, it is the one with the largest
    difference between the kept shares of events and of probes; of those that cannot be told from it, the
    one in the middle, which changes least from window to window. That difference is proportional to
    sensitivity + specificity - 1, whatever the amount of noise. Differences that may be chance are
    not sought, so that of noise alone next to nothing is kept.

    Parameters
    ----------
    evidence, probe_evidence : ndarray, shape (n,) and (n_probes,)
        Evidence of the events and of the probes; of more than twice as many events as probes, an
        even selection decides.
    false_alarm : float
        Largest share of the probes that may be kept.
    """
    if not evidence.size:
        return LEAST_EVIDENCE
    n_probes = probe_evidence.size
    some = np.sort(evidence[:: -(-evidence.size // (2 * n_probes))])
    first = min(int((1.0 - false_alarm) * n_probes), n_probes - 1)
    top = np.sort(probe_evidence)[first:]
    steps = np.maximum(top, LEAST_EVIDENCE)
    kept_probes = (top.size - np.searchsorted(top, steps, side="right")) / n_probes
    kept = 1.0 - np.searchsorted(some, steps, side="right") / some.size
    variance = np.maximum(kept_probes, 1.0 / n_probes) * (1.0 / some.size + 1.0 / n_probes)
    doubt = np.sqrt(variance)
    gain = kept - kept_probes - _CERTAINTY * doubt
    best = int(np.argmax(gain))
    alike = np.flatnonzero(gain >= gain[best] - doubt[best])
    return float(steps[alike[alike.size // 2]])
