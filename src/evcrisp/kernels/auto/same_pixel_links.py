"""Link each event to the previous and next event of the same pixel and polarity.

A source is a pixel and a polarity, as the number (p * height + y) * width + x. Events stay in the order
of time, without sorting. A loop over events follows links of different sources in turn, so that no step
waits for the one before.

Of n events, the index n means none; arrays that are indexed by links have one more element for it.
"""

from typing import NamedTuple

import numpy as np

from evcrisp.kernels.compile import njit


class Links(NamedTuple):
    """Links between events of a source."""

    before: np.ndarray  # (n + 1,) int32, the event before; n if there is none
    after: np.ndarray  # (n + 1,) int32, the event after
    rank: np.ndarray  # (n + 1,) int32, 1 for the first event of a source, 2 for its second; 0 at n
    last: np.ndarray  # (2 * height * width,) int32, the last event of every source


@njit
def link_events(x, y, p, height, width, links):
    """Link every event to those of its source before and after it.

    x, y : (n,) uint16      p : (n,) uint8      height, width : int64, of the sensor
    links : Links, filled
    """
    before, after, rank, last = links
    none = x.size
    last[:] = none
    before[none] = none
    rank[none] = 0
    rows, columns = np.uint64(height), np.uint64(width)
    for k in range(x.size):
        # Unsigned indices spare the check for negative ones.
        source = (np.uint64(p[k]) * rows + np.uint64(y[k])) * columns + np.uint64(x[k])
        m = np.uint64(last[source])
        last[source] = k
        before[k] = m
        after[k] = none
        after[m] = k
        rank[k] = rank[m] + 1
    after[none] = none


@njit
def link_samples(source, t, event_t, links, before, after):
    """Find the events of the same source before and after noise samples.

    source : (m,) int32      t : (m,) floats      event_t : (n + 1,) floats
    before, after : (m,) int32, filled
    """
    none = event_t.size - 1
    for k in range(t.size):
        later, m = none, links.last[source[k]]
        while m != none and event_t[m] > t[k]:
            later, m = m, links.before[m]
        before[k] = m
        after[k] = later
