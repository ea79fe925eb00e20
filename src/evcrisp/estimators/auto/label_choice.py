"""Choose the evidence of labels: events that a motion aligns, or neighbors in space and time.

A motion may be wrong, or none can be determined: one edge, stripes whose period is near the
displacement, two motions where one was asked for. Then neighbors shortly before and after an event
separate signal from noise better, which a subsample of the events shows.

Noise may come in pairs and clusters, which support each other at any motion. An edge supports its
events over the whole window. So the support by a motion is tested without neighbors at almost the same
time. If most of it is gone, it was no motion, and only events with more neighbors than a cluster of
noise has are signal.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.live_area import Box
from evcrisp.core.types import Bools, Integers, Singles
from evcrisp.estimators.auto.aligned_maps import IndexedWindow
from evcrisp.estimators.auto.noise_model import (
    LEAST_EVIDENCE,
    best_threshold,
    noise_samples_in,
)
from evcrisp.estimators.auto.short_evidence import (
    Part,
    SamplesInTime,
    ShortSupport,
    in_time,
    short_support,
)

#: Times over which the support of neighbors fades, s. Dense scenes need a short one, slow edges a long
#: one.
REACHES_S = (0.002, 0.006, 0.03)

#: The test takes this share of a window, and about so many events and noise samples.
TESTED_SHARE, TESTED_EVENTS, TESTED_SAMPLES = 0.5, 2048, 1024

#: Windows with fewer events are tested as a whole: slow edges show over all of their time.
FEW_EVENTS = 30_000

#: Share of the signal that keeps its support without neighbors at almost the same time. In 60 simulated
#: scenes it is above 0.8, also at a wrong motion; in pairs and clusters of noise below 0.6.
MIN_LASTING = 0.7

#: Fewer events of the test do not tell that share.
LEAST_KEPT = 20

#: Neighbors above those of uniform noise that clusters of noise do not have: in a cluster of five
#: events in 3x3 px they are 2.2 on average, and at most 4.
CLUSTER = 4.0

#: Share of the separation that is left beyond clusters: 0.77 to 1 with uniform noise in simulated scenes,
#: at most 0.7 with as many clusters or pairs as 5 Hz/px.
MIN_BEYOND = 0.75

#: Share of the separation beyond clusters above which there are hardly any, whatever the motion.
SURELY_BEYOND = 0.7

#: Factor by which neighbors must separate better than a motion; less is no reason to drop it.
MIN_GAIN = 1.01

#: Where neighbors alone give the labels, this share of noise may be kept, if that separates better by so
#: much: signal is dense there, and would be lost with the noise.
MOST_KEPT, CLEARLY = 0.5, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class ByMotion:
    """Evidence by a motion, as far as the choice needs it."""

    part: Part  # of the window that is tested
    support: Singles  # (k,) of its events
    kept: Bools  # (k,) whether their support makes them signal
    threshold: float  # of that support
    evidence: Singles  # (k,) of the same events, from which the labels come
    sample_evidence: Singles  # (m,)
    rates: Singles  # (2,) of noise, OFF and ON
    weight: Singles | None  # (m,) density of noise at the samples
    supporting: Bools  # (n,) events that support others, in the order of the window


@dataclass(frozen=True, slots=True, eq=False)
class ByNeighbors:
    """Evidence of all events by neighbors in space and time."""

    evidence: Singles  # (n,) neighbors
    threshold: float


class WideSupport(NamedTuple):
    """Support by the 24 neighbors in space, over the longest reach."""

    events: Singles  # (n,)
    samples: Singles  # (m,)

    def without_clusters(self, found: ShortSupport) -> "WideSupport":
        """Return what clusters of noise do not have; the eight neighbors are about half of theirs."""
        twice = np.float32(2.0)
        return WideSupport(
            _without_clusters(self.events, twice * found.near[1]),
            _without_clusters(self.samples, twice * found.sample_near[1]),
        )


def part_to_test(
    window: IndexedWindow, order: Integers | None = None, share: float = TESTED_SHARE
) -> Part:
    """Return the part of a window that is tested: a share of its time, around the middle.

    ``order`` is that of `short_support`.
    """
    n = window.p.size
    t = window.t[:n] if order is None else in_time(window.t[:n], order)
    half = np.float32(0.5 * share)
    first, last = np.searchsorted(t, (-half, half)).tolist()
    is_whole = n < FEW_EVENTS or last - first < TESTED_SAMPLES or share >= 1.0
    if is_whole:
        first, last = 0, n
    samples, in_order = _tested_samples(*window.samples_key, 1.0 if is_whole else share)
    rank = window.rank if order is None else in_time(window.rank, order)
    limit = (2**32 - 1) // max((last - first) // TESTED_EVENTS, 1)
    return Part(first, last, first + np.flatnonzero(rank[first:last] <= limit), samples, in_order)


@lru_cache(maxsize=32)
def _tested_samples(
    box: Box, resolution: tuple[int, int], n: int, share: float
) -> tuple[NDArray[np.intp], SamplesInTime]:
    """Return the tested ones of n noise samples in a box, of a share of the window around its middle."""
    samples = noise_samples_in(box, resolution, n)
    chosen = np.arange(n)
    if share < 1.0:
        chosen = np.flatnonzero(np.abs(samples.t) < np.float32(0.5 * share))
    # Whole groups, so that a mirrored window has the mirrored samples.
    chosen = chosen[samples.group[chosen] % max(chosen.size // TESTED_SAMPLES, 1) == 0]
    in_order = SamplesInTime.of(samples, chosen)
    for column in (chosen, *in_order):
        column.flags.writeable = False
    return chosen, in_order


def neighbors_instead(
    window: IndexedWindow,
    motion: ByMotion,
    false_alarm: float,
    order: Integers | None = None,
    wide: WideSupport | None = None,
) -> ByNeighbors | None:
    """Return the evidence by neighbors if it is better than that by a motion; else None.

    ``order``, shape (n,), is that of the events of the window in time, if they are not in it. ``wide``
    is tried too.
    """
    if not window.p.size:
        return None
    weight = None if motion.weight is None else motion.weight[motion.part.samples]
    test = short_support(window, REACHES_S, motion.supporting, order, motion.part)
    separation = [_best(test, k, false_alarm, weight, beyond_clusters=False)[1] for k in range(3)]
    lasts = _lasts(window, motion, test.near[0], order)
    needed = MIN_GAIN * _separation(motion, weight, false_alarm) if lasts else -1.0
    far = None
    if wide is not None:
        far = WideSupport(motion.part.of(wide.events), wide.samples[motion.part.samples])
        separation.append(best_threshold(*far, false_alarm, weight)[1])
    if max(separation) < needed:
        return None
    beyond = [_best(test, k, false_alarm, weight, beyond_clusters=True)[1] for k in range(3)]
    share_beyond = max(beyond) / max(max(separation[:3]), 1e-9)
    has_clusters = not lasts or share_beyond < MIN_BEYOND
    if far is not None:
        is_told = not has_clusters or share_beyond > SURELY_BEYOND
        found = best_threshold(*far.without_clusters(test), false_alarm, weight)[1]
        beyond.append(found if is_told else -1.0)
    # Few clusters do not show: what they do not have counts twice then.
    if (max(beyond) if has_clusters else 0.5 * (max(beyond) + max(separation))) < needed:
        return None
    best = int(np.argmax(beyond if has_clusters else separation))
    if wide is not None and best == len(REACHES_S):
        if has_clusters:
            wide = wide.without_clusters(
                short_support(window, REACHES_S[-1:], motion.supporting, order)
            )
        events, samples, least = *wide, LEAST_EVIDENCE
    else:
        found = short_support(window, REACHES_S[best : best + 1], motion.supporting, order)
        events, samples, least = _compared(
            found, 0, motion.weight, beyond_clusters=has_clusters, is_long=best == 2
        )
    return ByNeighbors(events, _lenient(events, samples, false_alarm, motion.weight, least))


def _lenient(
    events: Singles, samples: Singles, false_alarm: float, weight: Singles | None, least: float
) -> float:
    """Return the threshold of neighbors alone: where signal is dense, more noise may be kept."""
    strict, loose = (
        best_threshold(events, samples, share, weight, least)
        for share in (false_alarm, max(false_alarm, MOST_KEPT))
    )
    return (loose if loose[1] > strict[1] + CLEARLY else strict)[0]


def _best(
    found: ShortSupport,
    k: int,
    false_alarm: float,
    weight: Singles | None,
    *,
    beyond_clusters: bool,
) -> tuple[float, float]:
    """Return threshold and separation of the support of reach k, or of what clusters do not have."""
    compared = _compared(found, k, weight, beyond_clusters=beyond_clusters, is_long=k == 2)
    return best_threshold(*compared[:2], false_alarm, weight, compared[2])


def _compared(
    found: ShortSupport, k: int, weight: Singles | None, *, beyond_clusters: bool, is_long: bool
) -> tuple[Singles, Singles, float]:
    """Return the support of events and samples of reach k, and the least threshold."""
    events, samples, least = found.events[k], found.samples[k], LEAST_EVIDENCE
    if beyond_clusters and is_long:
        events = _without_clusters(events, found.near[1])
        samples = _without_clusters(samples, found.sample_near[1])
    elif beyond_clusters:
        least = float(np.average(samples, weights=weight)) + CLUSTER
    return events, samples, least


def _without_clusters(support: Singles, n_near: Singles) -> Singles:
    """Return the support by neighbors at other times, or beyond what a cluster has."""
    return np.maximum(support - np.minimum(n_near, np.float32(CLUSTER)), np.float32(0.0))


def _separation(motion: ByMotion, weight: Singles | None, false_alarm: float) -> float:
    """Return how well the evidence by a motion separates the tested events."""
    samples = motion.sample_evidence[motion.part.samples]
    return best_threshold(motion.evidence, samples, false_alarm, weight)[1]


def _lasts(window: IndexedWindow, motion: ByMotion, near: Singles, order: Integers | None) -> bool:
    """Return whether the support by a motion comes from all over the window."""
    kept = motion.kept
    if np.count_nonzero(kept) < LEAST_KEPT:
        return False
    p = motion.part.of(window.p if order is None else in_time(window.p, order))
    far = motion.support - near - motion.rates[p]
    return float((far[kept] > motion.threshold).mean()) > MIN_LASTING
