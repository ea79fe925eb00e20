"""Cells of a window, in space and time: sums over their events, and their labels."""

import numpy as np

from evcrisp.kernels.compile import fused, njit

#: Table of log(1 + z) at z = i / _PER_UNIT; larger z count as the last.
_PER_UNIT, _MOST = 64, 64
_LOG_TABLE = np.log1p(np.arange(_PER_UNIT * _MOST + 1) / _PER_UNIT).astype(np.float32)


@fused
def add_log_support(support, scale, cell, out):
    """Add log(1 + support / scale) of every event to its cell, from a table, to within 0.01.

    support : (n,) float32, 0 or more      cell : (n,) int32      out : (n_cells,) float32, changed
    """
    factor, last = np.float32(_PER_UNIT / scale), np.float32(_PER_UNIT * _MOST)
    half = np.float32(0.5)
    for k in range(cell.size):
        z = min(support[k] * factor, last)
        out[cell[k]] += _LOG_TABLE[np.uint32(z + half)]


@fused
def blur_cells(values, out):
    """Add to every cell a half of its neighbors along each axis, and the products of that.

    values, out : (n_slices, rows, columns) float32; out is filled
    """
    n_slices, rows, columns = values.shape
    half = np.float32(0.5)
    across = np.empty_like(values)
    down = np.empty_like(values)
    for s in range(n_slices):
        for r in range(rows):
            for c in range(columns):
                left = values[s, r, c - 1] if c > 0 else np.float32(0.0)
                right = values[s, r, c + 1] if c < columns - 1 else np.float32(0.0)
                across[s, r, c] = values[s, r, c] + half * (left + right)
        for r in range(rows):
            for c in range(columns):
                above = across[s, r - 1, c] if r > 0 else np.float32(0.0)
                below = across[s, r + 1, c] if r < rows - 1 else np.float32(0.0)
                down[s, r, c] = across[s, r, c] + half * (above + below)
    for s in range(n_slices):
        for r in range(rows):
            for c in range(columns):
                before = down[s - 1, r, c] if s > 0 else np.float32(0.0)
                after = down[s + 1, r, c] if s < n_slices - 1 else np.float32(0.0)
                out[s, r, c] = down[s, r, c] + half * (before + after)


@njit
def label_cells(gain, agreement, n_sweeps, label):
    """Choose a label per cell: gain, plus `agreement` for every neighbor of the same label.

    Iterated conditional modes: one cell after the other takes the best label, given the others.
    Diagonal neighbors count 0.7. Neighbors in time count as those in space.

    gain : (n_labels, n_slices, rows, columns) float32      agreement : float
    label : (n_slices, rows, columns) int16, filled; it starts with the largest gain
    """
    n_labels, n_slices, rows, columns = gain.shape
    for s in range(n_slices):
        for r in range(rows):
            for c in range(columns):
                best = 0
                for k in range(1, n_labels):
                    if gain[k, s, r, c] > gain[best, s, r, c]:
                        best = k
                label[s, r, c] = best
    # A cell is visited again only after a neighbor has changed.
    is_due = np.ones(label.shape, np.bool_)
    votes = np.zeros(n_labels)
    for _ in range(n_sweeps):
        n_changed = 0
        for s in range(n_slices):
            for r in range(rows):
                for c in range(columns):
                    if not is_due[s, r, c]:
                        continue
                    is_due[s, r, c] = False
                    best = _best_label(gain, agreement, label, s, r, c, votes)
                    if label[s, r, c] != best:
                        label[s, r, c] = best
                        n_changed += 1
                        is_due[max(s - 1, 0) : s + 2, r, c] = True
                        is_due[s, max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2] = True
                        is_due[s, r, c] = False
        if n_changed == 0:
            break


@njit
def _best_label(gain, agreement, label, s, r, c, votes):
    """Return the best label of a cell, given its neighbors; votes : (n_labels,) is overwritten."""
    n_labels, n_slices, rows, columns = gain.shape
    votes[:] = 0.0
    if s > 0:
        votes[label[s - 1, r, c]] += 1.0
    if s < n_slices - 1:
        votes[label[s + 1, r, c]] += 1.0
    for i in range(max(r - 1, 0), min(r + 2, rows)):
        for j in range(max(c - 1, 0), min(c + 2, columns)):
            if i != r or j != c:
                votes[label[s, i, j]] += 1.0 if i == r or j == c else 0.7
    best, most = 0, gain[0, s, r, c] + agreement * votes[0]
    for k in range(1, n_labels):
        total = gain[k, s, r, c] + agreement * votes[k]
        if total > most:
            best, most = k, total
    return best


@njit
def removal_losses(gain, is_used, loss):
    """Sum over cells what is lost without a label: its gain minus that of the next best.

    gain : (n_labels, n_cells) float32      is_used : (n_labels,) bool, two or more of them
    loss : (n_labels,) float64, filled; 0 for labels that are not used
    """
    loss[:] = 0.0
    for i in range(gain.shape[1]):
        best, first, second = -1, -np.inf, -np.inf
        for k in range(gain.shape[0]):
            if is_used[k]:
                value = gain[k, i]
                if value > first:
                    best, first, second = k, value, first
                elif value > second:
                    second = value
        loss[best] += first - second


@njit
def region_losses(gain, label, loss):
    """Sum over the cells of each label what is lost without it: its gain minus the best other one.

    A cell that has its label only because its neighbors agree can count below zero.

    gain : (n_labels, n_cells) float32, two or more labels      label : (n_cells,) int16
    loss : (n_labels,) float64, filled
    """
    loss[:] = 0.0
    for i in range(label.size):
        best = -np.inf
        for k in range(gain.shape[0]):
            if k != label[i]:
                best = max(best, gain[k, i])
        loss[label[i]] += gain[label[i], i] - best
