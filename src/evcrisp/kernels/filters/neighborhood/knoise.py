"""Last event of each column and row, with memory of width plus height."""

import numpy as np

from evcrisp.kernels.compile import comparing, compiled
from evcrisp.kernels.filters.neighborhood.recent_neighbors import NEVER_FLOAT, larger, smaller

fused = compiled(fastmath={"nnan", "nsz", "contract"})

#: Subtracted from the time of an event that is not adjacent, so that it is never the newest.
PENALTY = 2.0**63


@comparing
def row_column_neighbors(x, y, t, p, columns, rows, planes, rule, signal, score):
    """Label events by the k-th newest adjacent event of three columns and three rows.

    columns : ((w + 2) * planes * 2,) float64, time, us, and y of the last event; the outermost
        cells and those of the other polarity hold NEVER
    rows : ((h + 2) * planes * 2,) float64, the same with x
    planes : 2 = a cell per polarity, else 1
    rule : (k, tau_us, origin_us, include_self), int64 each    score : tau / (tau + age), 0 if none
    """
    k, tau_us, origin_us, include_self = rule
    tau = np.float64(tau_us)
    step = np.uint64(2 * planes)
    found = np.empty(6)
    for i in range(t.size):
        now, column, row = np.float64(t[i] - origin_us), np.float64(x[i]), np.float64(y[i])
        plane = np.uint64(2 * (p[i] & (planes - 1)))
        c = np.uint64(x[i]) * step + plane
        r = np.uint64(y[i]) * step + plane
        left, right = _near(columns, c, row), _near(columns, c + step + step, row)
        above, below = _near(rows, r, column), _near(rows, r + step + step, column)
        if include_self:
            in_column, in_row = _near(columns, c + step, row), _near(rows, r + step, column)
        else:
            in_column, in_row = _adjacent(columns, c + step, row), _adjacent(rows, r + step, column)
        sides, ends = larger(left, right), larger(above, below)
        newest = larger(larger(sides, ends), larger(in_column, in_row))
        if k > 1:
            found[0], found[1], found[2] = left, right, in_column
            found[3], found[4], found[5] = above, below, in_row
            newest = _kth_largest(found, k)
        value = tau / (tau + (now - newest))
        score[i] = value if newest > NEVER_FLOAT else 0.0
        signal[i] = score[i] >= 0.5
        _store(columns, c + step, planes, now, row)
        _store(rows, r + step, planes, now, column)


@fused
def _near(line, cell, place):
    """Return the time of a cell if its event is at most one pixel away, else less than NEVER."""
    offset = line[cell + np.uint64(1)] - place
    return line[cell] - PENALTY * larger(offset * offset - 1.0, 0.0)


@fused
def _adjacent(line, cell, place):
    """Return the time of a cell if its event is exactly one pixel away, else less than NEVER."""
    offset = line[cell + np.uint64(1)] - place
    return line[cell] - PENALTY * abs(offset * offset - 1.0)


@comparing
def _store(line, cell, planes, now, place):
    # Clear the other polarity, if it has a cell.
    line[cell ^ np.uint64(2 * (planes - 1))] = NEVER_FLOAT
    line[cell] = now
    line[cell + np.uint64(1)] = place


@comparing
def _kth_largest(values, k):
    """Return the k-th largest value; reorders the values."""
    for i in range(k):
        for j in range(i + 1, values.size):
            high, low = larger(values[i], values[j]), smaller(values[i], values[j])
            values[i], values[j] = high, low
    return values[k - 1]
