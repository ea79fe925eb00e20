"""Events of each layer, in one pass."""

import numpy as np

from evcrisp.kernels.compile import njit


@njit
def group_by_layer(label, cell, support, supporting, least, order, starts):
    """Sort the numbers of events by layer, and leave out events with little support.

    label : (n_cells,) int16      cell : (n,) int32
    support : (k, n) float32, of every event under the motion of every layer
    supporting : (n,) bool, others are left out      least : support must be larger
    order : (n,) int64, filled: events, those of a layer in their order; last those that are left out
    starts : (k + 1,) int64, filled: first event of every layer in `order`, and their number
    """
    n_layers = np.uint64(starts.size - 1)
    # Events that are left out are a last layer, so that no branch has to be guessed.
    layer, following = np.empty(cell.size, np.uint16), np.zeros(starts.size, np.int64)
    starts[:] = 0
    for i in range(cell.size):
        k = np.uint64(label[np.uint32(cell[i])])
        is_kept = supporting[i] & (support[k, i] > least)
        layer[i] = k if is_kept else n_layers
        following[np.uint64(layer[i])] += 1
    for k in range(starts.size - 1):
        starts[k + 1] = starts[k] + following[k]
    following[:] = starts
    for i in range(cell.size):
        k = np.uint64(layer[i])
        order[np.uint64(following[k])] = i
        following[k] += 1
