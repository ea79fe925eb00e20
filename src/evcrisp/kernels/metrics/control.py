"""Draw a fixed number of events at random, in order."""

from evcrisp.kernels.compile import njit


@njit
def draw(uniform, n_left, n_wanted, out):
    """Mark events so that every subset of n_wanted of the n_left events is equally likely.

    uniform : (n,) float64 in [0, 1)      out : (n,) bool, filled
    Returns the number still to be drawn from the rest of the stream.
    """
    for k in range(uniform.size):
        out[k] = uniform[k] * (n_left - k) < n_wanted
        if out[k]:
            n_wanted -= 1
    return n_wanted
