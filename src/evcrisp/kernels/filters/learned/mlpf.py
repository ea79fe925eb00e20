"""Multilayer perceptron filter: encode the pixels around each event and evaluate the network.

Events are processed in blocks of fixed size, so that products with the weights are long loops over
events, which vectorize. All events of a block have the same operations in the same order, so the
score of an event does not depend on its block.
"""

import numpy as np

from evcrisp.kernels.compile import compiled

RADIUS = 3
SIDE = 2 * RADIUS + 1
CELLS = SIDE * SIDE
CENTER = CELLS // 2

#: Map value of a pixel that has not fired; otherwise four times the time, plus 0, 1, 2 for OFF,
#: unknown, ON.
NEVER = -(2**62)

#: Events per block, and length of a row of its inputs. Rows with a power of two as length would
#: map to the same cache lines.
BLOCK = 128
ROW = BLOCK + 16

#: Encodings of the patch.
INTENDED, KUGAMAS, JAER = 0, 1, 2

#: Fused products and sums change the score by about 1e-7. Inputs are finite.
_fused = compiled(fastmath={"reassoc", "contract", "nsz", "afn"}, error_model="numpy")


@_fused
def set_polarity(inputs, b, sign, mode, n_right):
    """Write the polarity of event b to its inputs; `n_right` columns are right of it.

    INTENDED: in the center. KUGAMAS: at all recent pixels. JAER: in the center, and clear the last
    column of the sensor.
    """
    zero = np.float32(0.0)
    if mode == KUGAMAS:
        for k in range(CELLS, 2 * CELLS):
            inputs[k, b] = sign if inputs[k, b] != zero else zero
        return
    inputs[CELLS + CENTER, b] = sign
    if mode == JAER and n_right <= RADIUS:
        first = (RADIUS + n_right) * SIDE
        for k in range(first, first + SIDE):
            inputs[k, b] = zero
            inputs[CELLS + k, b] = zero


@_fused
def encode(x, y, t, p, last, tau, mode, inputs, skip):
    """Fill the inputs of up to BLOCK events; write each event into the map after its inputs.

    last : (w + 2 RADIUS, h + 2 RADIUS) int64, see NEVER; its border stays NEVER
    inputs : (2 CELLS, ROW) float32, ages and then polarities, x outside and y inside
    skip : (BLOCK,) bool, filled; events that are noise without the network
    """
    rate = np.float32(1.0 / tau)
    one, zero = np.float32(1.0), np.float32(0.0)
    limit = tau + 1 if mode == KUGAMAS else tau
    for b in range(t.size):
        c, r, now = np.int64(x[b]), np.int64(y[b]), t[b]
        sign = 2 * np.int64(p[b]) - 1
        is_first = last[c + RADIUS, r + RADIUS] == NEVER
        if mode == KUGAMAS and is_first:
            last[c + RADIUS, r + RADIUS] = 4 * now
        for i in range(SIDE):
            for j in range(SIDE):
                code = last[c + i, r + j]
                dt = now - (code >> 2)
                is_recent = dt < limit
                k = i * SIDE + j
                inputs[k, b] = one - np.float32(dt) * rate if is_recent else zero
                inputs[CELLS + k, b] = np.float32((code & 3) - 1) if is_recent else zero
        set_polarity(inputs, b, np.float32(sign), mode, last.shape[0] - 2 * RADIUS - 1 - c)
        skip[b] = mode == JAER and is_first
        last[c + RADIUS, r + RADIUS] = 4 * now + 1 + (0 if skip[b] else sign)


@_fused
def forward(inputs, hidden_kernel, hidden_bias, output_kernel, output_bias, work, score):
    """Evaluate the network on a block: ReLU hidden layer, then the sigmoid of one output.

    Two hidden units and seven inputs at a time need fewer loads, which is twice as fast as one unit.

    inputs : (2 CELLS, ROW) float32      hidden_kernel : (n_hidden, 2 CELLS) float32, n_hidden even
    hidden_bias, output_kernel : (n_hidden,) float32      output_bias : float32
    work : (2, BLOCK) float32      score : (BLOCK,) float32, filled
    """
    zero, one = np.float32(0.0), np.float32(1.0)
    one_unit, other_unit = work[0], work[1]
    for b in range(BLOCK):
        score[b] = output_bias
    for u in range(0, hidden_bias.size, 2):
        for b in range(BLOCK):
            one_unit[b] = hidden_bias[u]
            other_unit[b] = hidden_bias[u + 1]
        for k in range(0, 2 * CELLS, SIDE):
            v, w = hidden_kernel[u, k : k + SIDE], hidden_kernel[u + 1, k : k + SIDE]
            v0, v1, v2, v3, v4, v5, v6 = v[0], v[1], v[2], v[3], v[4], v[5], v[6]
            w0, w1, w2, w3, w4, w5, w6 = w[0], w[1], w[2], w[3], w[4], w[5], w[6]
            for b in range(BLOCK):
                a0, a1, a2 = inputs[k, b], inputs[k + 1, b], inputs[k + 2, b]
                a3, a4, a5 = inputs[k + 3, b], inputs[k + 4, b], inputs[k + 5, b]
                a6 = inputs[k + 6, b]
                one_unit[b] += v0 * a0 + v1 * a1 + v2 * a2 + v3 * a3 + v4 * a4 + v5 * a5 + v6 * a6
                other_unit[b] += w0 * a0 + w1 * a1 + w2 * a2 + w3 * a3 + w4 * a4 + w5 * a5 + w6 * a6
        for b in range(BLOCK):
            score[b] += max(one_unit[b], zero) * output_kernel[u]
            score[b] += max(other_unit[b], zero) * output_kernel[u + 1]
    for b in range(BLOCK):
        score[b] = one / (one + np.exp(-score[b]))


@_fused
def score_events(x, y, t, p, last, tau, mode, weights, score):
    """Score events in order; `last` is updated in place, so chunks can have any size.

    weights : (hidden_kernel, hidden_bias, output_kernel, output_bias), see `forward`
    """
    hidden_kernel, hidden_bias, output_kernel, output_bias = weights
    inputs = np.zeros((2 * CELLS, ROW), np.float32)
    skip = np.zeros(BLOCK, np.bool_)
    work = np.empty((2, BLOCK), np.float32)
    found = np.empty(BLOCK, np.float32)
    for first in range(0, t.size, BLOCK):
        part = slice(first, min(first + BLOCK, t.size))
        encode(x[part], y[part], t[part], p[part], last, tau, mode, inputs, skip)
        forward(inputs, hidden_kernel, hidden_bias, output_kernel, output_bias, work, found)
        for b in range(part.stop - first):
            score[first + b] = 0.0 if skip[b] else found[b]
