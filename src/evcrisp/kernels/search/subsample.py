"""Copy a part of the events: an even subsample, or a selection."""

from evcrisp.kernels.compile import njit

#: Golden ratio: the fractions of its multiples are evenly distributed (Weyl sequence).
WEYL = 0.6180339887498949


@njit
def subsample(x, y, dt, interval, out_x, out_y, out_dt):
    """Copy one event of every interval of events, at varying positions within it.

    x, y, dt : (n,) float64      out_x, out_y, out_dt : (n // interval,) float64, overwritten
    """
    for i in range(out_x.size):
        phase = i * WEYL
        k = i * interval + int((phase - int(phase)) * interval)
        out_x[i] = x[k]
        out_y[i] = y[k]
        out_dt[i] = dt[k]


@njit
def select(x, y, dt, keep, out_x, out_y, out_dt):
    """Copy the events to keep, without a branch, which would be unpredictable.

    x, y, dt : (n,) float64      keep : (n,) bool
    out_x, out_y, out_dt : (m + 1,) float64, m = sum of keep, filled; the last entry is arbitrary
    """
    n_kept = 0
    for k in range(x.size):
        out_x[n_kept] = x[k]
        out_y[n_kept] = y[k]
        out_dt[n_kept] = dt[k]
        n_kept += keep[k]
