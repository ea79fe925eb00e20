"""Recursive event density: counts per pixel, filtered in time and blurred in space."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def _combine(i0, i1, i2, i3, o1, o2, o3, o4, forward, feedback, out):
    """Write forward @ inputs - feedback @ outputs to the row `out`."""
    f0, f1, f2, f3 = forward[0], forward[1], forward[2], forward[3]
    k1, k2, k3, k4 = feedback[0], feedback[1], feedback[2], feedback[3]
    for j in range(out.size):
        gain = (f0 * i0[j] + f1 * i1[j]) + (f2 * i2[j] + f3 * i3[j])
        out[j] = gain - ((k1 * o1[j] + k2 * o2[j]) + (k3 * o3[j] + k4 * o4[j]))


@njit
def _both_directions(source, down, up, causal, anticausal, recursion):
    """Filter recursively along the first axis in both directions; loops over rows vectorize.

    source, down, up : (4 + n + 4, m) float32; the first and last four rows are 0
    causal : (4,) float32, factors of the current input and the three previous ones
    anticausal : (4,) float32, factors of the next four inputs
    recursion : (4,) float32, factors of the previous, or next, four outputs
    """
    n = source.shape[0] - 8
    for i in range(4, n + 4):
        _combine(
            source[i], source[i - 1], source[i - 2], source[i - 3],
            down[i - 1], down[i - 2], down[i - 3], down[i - 4], causal, recursion, down[i],
        )  # fmt: skip
    for i in range(n + 3, 3, -1):
        _combine(
            source[i + 1], source[i + 2], source[i + 3], source[i + 4],
            up[i + 1], up[i + 2], up[i + 3], up[i + 4], anticausal, recursion, up[i],
        )  # fmt: skip


@njit
def _padded(buffer, n, m):
    """Return three images of 4 + n + 4 rows with outer rows of 0, as views of `buffer`."""
    size = (n + 8) * m
    for i in range(3):
        buffer[i, : 4 * m] = np.float32(0.0)
        buffer[i, size - 4 * m : size] = np.float32(0.0)
    return (
        buffer[0, :size].reshape(n + 8, m),
        buffer[1, :size].reshape(n + 8, m),
        buffer[2, :size].reshape(n + 8, m),
    )


@njit
def blur(image, causal, anticausal, recursion, buffer):
    """Blur along both axes in place, the second first; `_both_directions` explains the factors.

    image : (n, m) float32      buffer : (3, >= (n + 8) (m + 8)) float32
    """
    n, m = image.shape
    source, down, up = _padded(buffer, m, n)
    for i in range(n):
        for j in range(m):
            source[4 + j, i] = image[i, j]
    _both_directions(source, down, up, causal, anticausal, recursion)
    for i in range(n):
        for j in range(m):
            image[i, j] = down[4 + j, i] + up[4 + j, i]
    source, down, up = _padded(buffer, n, m)
    for i in range(n):
        for j in range(m):
            source[4 + i, j] = image[i, j]
    _both_directions(source, down, up, causal, anticausal, recursion)
    for i in range(n):
        for j in range(m):
            image[i, j] = down[4 + i, j] + up[4 + i, j]


@njit
def _mixed(row, entry, a, b, c, d, u):
    return entry * u + (((row[0] * a + row[1] * b) + row[2] * c) + row[3] * d)


@njit
def advance(state, counts, transition, entry):
    """Advance by one period: state = transition @ state + entry * counts; counts = 0.

    state : (4, size) float32      counts : (size,) float32      transition : (4, 4) float32
    """
    first, second, third, fourth = state[0], state[1], state[2], state[3]
    for k in range(counts.size):
        a, b, c, d, u = first[k], second[k], third[k], fourth[k], counts[k]
        first[k] = _mixed(transition[0], entry[0], a, b, c, d, u)
        second[k] = _mixed(transition[1], entry[1], a, b, c, d, u)
        third[k] = _mixed(transition[2], entry[2], a, b, c, d, u)
        fourth[k] = _mixed(transition[3], entry[3], a, b, c, d, u)
        counts[k] = np.float32(0.0)


@njit
def read_out(state, output, density):
    """Write output @ state to `density`."""
    for k in range(density.size):
        first = output[0] * state[0, k] + output[1] * state[1, k]
        density[k] = (first + output[2] * state[2, k]) + output[3] * state[3, k]


@njit
def red_labels(
    x, y, t, stride, rows, clock, period_us, horizon, late,
    state, counts, density, buffer, transition, entry, output, causal, anticausal, recursion,
    threshold, signal, score,
):  # fmt: skip
    """Label events by the density of events at their pixel, itself included.

    stride, rows : pixel (x, y) is at x + y * stride; the blur reads `rows` rows of size // rows
    clock : (2,) int64, start of the period, and 1 if it is set
    horizon : periods without events after which the past is negligible
    late : read the density before the last period enters, and advance by at most one period, which
        then starts at the event; otherwise periods are consecutive
    state, counts, density : float32, (4, size), (size,), (size,)      buffer : float32, see `blur`
    transition, entry, output, causal, anticausal, recursion : float32 factors
    """
    for k in range(t.size):
        if clock[1] == 0:
            clock[0], clock[1] = t[k], 1
        passed = (t[k] - clock[0]) // period_us
        if passed > 0:
            if late:
                read_out(state, output, density)
                advance(state, counts, transition, entry)
                clock[0] = t[k]
            else:
                if passed > horizon:
                    state[:] = np.float32(0.0)
                    counts[:] = np.float32(0.0)
                for _ in range(min(passed, horizon)):
                    advance(state, counts, transition, entry)
                read_out(state, output, density)
                clock[0] += passed * period_us
            image = density.reshape(rows, density.size // rows)
            blur(image, causal, anticausal, recursion, buffer)
        place = np.int64(x[k]) + np.int64(y[k]) * stride
        counts[place] += np.float32(1.0)
        value = density[place] + counts[place]
        signal[k] = value >= threshold
        score[k] = value
