"""Copy selected events."""

from evcrisp.kernels.compile import njit


@njit
def copy_kept(x, y, t, p, signal, out_x, out_y, out_t, out_p):
    """Copy four columns where `signal` is True, without a branch, which would be unpredictable.

    x, y : (n,) uint16      t : (n,) int64      p : (n,) bool      signal : (n,) bool
    out_x, out_y, out_t, out_p : (m + 1,) of the same types, filled, with m = sum of signal; the
        last element is undefined
    """
    place = 0
    for i in range(t.size):
        out_x[place] = x[i]
        out_y[place] = y[i]
        out_t[place] = t[i]
        out_p[place] = p[i]
        place += signal[i]
