"""Events of each layer, in one pass."""

from evcrisp.kernels.compile import njit


@njit
def group_by_layer(label, cell, support, supporting, least, order, starts):
    """Sort the numbers of events by layer, and leave out events with little support.

    label : (n_cells,) int16      cell : (n,) int32
    support : (k, n) float32, of every event under the motion of every layer
    supporting : (n,) bool, others are left out      least : support must be larger
    order : (n,) int64, filled up to ``starts[k]`` with events, those of a layer in their order
    starts : (k + 1,) int64, filled: first event of every layer in `order`, and their number
    """
    starts[:] = 0
    for i in range(cell.size):
        k = label[cell[i]]
        starts[k + 1] += supporting[i] and support[k, i] > least
    for k in range(1, starts.size):
        starts[k] += starts[k - 1]
    for i in range(cell.size):
        k = label[cell[i]]
        if supporting[i] and support[k, i] > least:
            order[starts[k]] = i
            starts[k] += 1
    for k in range(starts.size - 1, 0, -1):
        starts[k] = starts[k - 1]
    starts[0] = 0
