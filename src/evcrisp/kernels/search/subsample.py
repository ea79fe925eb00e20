"""Take some of many events: spread evenly over time, or chosen."""

from evcrisp.kernels.compile import njit

#: Golden ratio: its multiples fall evenly between the events that they choose from.
WEYL = 0.6180339887498949


@njit
def subsample(x, y, dt, stretch, out_x, out_y, out_dt):
    """Copy one event out of every stretch of events, not always at the same place within it.

    x, y, dt : (n,) float64      out_x, out_y, out_dt : (n // stretch,) float64, overwritten
    """
    for i in range(out_x.size):
        place = i * WEYL
        k = i * stretch + int((place - int(place)) * stretch)
        out_x[i] = x[k]
        out_y[i] = y[k]
        out_dt[i] = dt[k]


@njit
def select(x, y, dt, keep, out_x, out_y, out_dt):
    """Copy the events that are kept, without a branch that nobody could guess.

    x, y, dt : (n,) float64      keep : (n,) bool
    out_x, out_y, out_dt : (m + 1,) float64, filled, with m = sum of keep; the last place is only a scratch
    """
    place = 0
    for k in range(x.size):
        out_x[place] = x[k]
        out_y[place] = y[k]
        out_dt[place] = dt[k]
        place += keep[k]
