"""Take some of many events, spread evenly over time."""

from evcrisp.kernels import njit

#: Golden ratio: its multiples fall evenly between the events that they choose from.
WEYL = 0.6180339887498949


@njit
def thin(x, y, dt, stretch, out_x, out_y, out_dt):
    """Copy one event out of every stretch of events, not always at the same place within it.

    x, y, dt : (n,) float64      out_x, out_y, out_dt : (n // stretch,) float64, overwritten
    """
    for i in range(out_x.size):
        place = i * WEYL
        k = i * stretch + int((place - int(place)) * stretch)
        out_x[i] = x[k]
        out_y[i] = y[k]
        out_dt[i] = dt[k]
