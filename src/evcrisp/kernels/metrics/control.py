"""Draw a fixed number of events at random, front to back."""

from evcrisp.kernels.compile import njit


@njit
def draw(uniform, n_left, n_wanted, out):
    """Mark events so that every choice of n_wanted among the n_left that come is equally likely.

    uniform : (n,) float64 in [0, 1)      out : (n,) bool, filled
    Returns how many are still wanted. A stream may be cut anywhere.
    """
    for k in range(uniform.size):
        out[k] = uniform[k] * (n_left - k) < n_wanted
        if out[k]:
            n_wanted -= 1
    return n_wanted
