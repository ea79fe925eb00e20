"""Slow and obvious versions of the kernels of cells."""

import numpy as np
from scipy.ndimage import convolve
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

#: Larger ratios of support to its scale count as this.
LARGEST_RATIO = 64.0


def add_log_support(support, scale, cell, n_cells):
    """Return the sum of log(1 + support / scale) over the events of every cell."""
    out = np.zeros(n_cells)
    for value, at in zip(support, cell, strict=True):
        out[at] += np.log1p(min(value / scale, LARGEST_RATIO))
    return out


def blur_cells(values):
    """Return every cell with a half of its neighbors along each axis, and the products of that."""
    taps = np.array([0.5, 1.0, 0.5])
    kernel = taps[:, None, None] * taps[None, :, None] * taps[None, None, :]
    return convolve(values.astype(np.float64), kernel, mode="constant")


def neighbors(shape, s, r, c):
    """Return the neighbors of a cell, each with its weight: those in time, then those in space."""
    found = []
    for i, j, k in ((s - 1, r, c), (s + 1, r, c)):
        found.append(((i, j, k), 1.0))
    for j in (r - 1, r, r + 1):
        for k in (c - 1, c, c + 1):
            if (j, k) != (r, c):
                found.append(((s, j, k), 1.0 if j == r or k == c else 0.7))
    return [
        (at, weight)
        for at, weight in found
        if all(0 <= i < side for i, side in zip(at, shape, strict=True))
    ]


def total_of(gain, agreement, label, k, at):
    """Return the gain of label k in a cell, with that of its neighbors of the same label."""
    votes = 0.0
    for other, weight in neighbors(label.shape, *at):
        votes += weight if label[other] == k else 0.0
    return float(gain[(k, *at)]) + agreement * votes


def sweep(gain, agreement, used, n_sweeps, label):
    """Visit all cells in order, n_sweeps times; each takes the first label of the largest total."""
    for _ in range(n_sweeps):
        for at in np.ndindex(label.shape):
            totals = [total_of(gain, agreement, label, k, at) for k in used]
            label[at] = used[int(np.argmax(totals))]


def losses(gain, used, label):
    """Return what the cells of each label lose if they take the best other label."""
    out = []
    for k in used:
        others = gain[[i for i in used if i != k]].max(axis=0)
        out.append((gain[k].astype(np.float64) - others)[label == k].sum())
    return np.array(out)


def best_labels(gain, used):
    """Return the label of the largest gain of every cell."""
    return np.array(used)[gain[used].argmax(axis=0)]


def least_useful(gain, used, label, cost, handicap):
    """Return the label to remove, or None."""
    lost = losses(gain, used, label)
    ranked = np.where(lost < cost, lost - handicap[used], np.inf)
    return used[int(ranked.argmin())] if np.isfinite(ranked).any() else None


def choose_motions(gain, cost, handicap, agreement, first_sweeps, n_sweeps):
    """Return the labels that remain, and the label of every cell."""
    used = list(range(len(gain)))
    while len(used) > 1:
        least = least_useful(gain, used, best_labels(gain, used), cost, handicap)
        if least is None:
            break
        used.remove(least)
    label = best_labels(gain, used)
    sweep(gain, agreement, used, first_sweeps, label)
    while len(used) > 1:
        least = least_useful(gain, used, label, cost, handicap)
        if least is None:
            break
        used.remove(least)
        label = np.where(label == least, best_labels(gain, used), label)
        sweep(gain, agreement, used, first_sweeps, label)
    sweep(gain, agreement, used, n_sweeps, label)
    return used, label


def total(gain, agreement, label):
    """Return the sum of all gains, and of the agreement of all pairs of neighbors."""
    out = 0.0
    for at in np.ndindex(label.shape):
        out += float(gain[(label[at], *at)])
        for other, weight in neighbors(label.shape, *at):
            out += 0.5 * agreement * weight * (label[other] == label[at])
    return out


def best_of_two_labels(gain, agreement, resolution=1000):
    """Return the labels of the largest total of two labels, by a minimal cut.

    Capacities are whole numbers: totals are right within a cell count over ``resolution``.
    """
    shape = gain.shape[1:]
    n = int(np.prod(shape))
    number = np.arange(n).reshape(shape)
    source, sink = n, n + 1
    rows, columns, capacities = [], [], []
    for at in np.ndindex(shape):
        # Cells on the side of the source have label 0, and lose the gain of label 1.
        low = min(gain[(0, *at)], gain[(1, *at)])
        for k, (start, end) in enumerate(((source, number[at]), (number[at], sink))):
            rows.append(start)
            columns.append(end)
            capacities.append(gain[(k, *at)] - low)
        for other, weight in neighbors(shape, *at):
            rows.append(number[at])
            columns.append(number[other])
            capacities.append(agreement * weight)
    whole = np.rint(np.array(capacities) * resolution).astype(np.int32)
    graph = csr_matrix((whole, (rows, columns)), shape=(n + 2, n + 2))
    left = graph - maximum_flow(graph, source, sink).flow
    left.data[left.data < 0] = 0
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    label = np.ones(n + 2, np.int64)
    label[reached] = 0
    return label[:n].reshape(shape)
