"""Choice of motions and of their cells: a gain per cell and motion, and a cost per motion.

A label is the number of a motion. Iterated conditional modes: one cell after the other takes the best
label, given those of its neighbors.
"""

import numpy as np

from evcrisp.kernels.compile import njit

#: Weight of a diagonal neighbor; neighbors along an axis, in space and time, count 1.
_DIAGONAL = 0.7

_N_NEIGHBORS = 10

#: What rounding can change in differences of gains.
_ROUNDING = 0.1


@njit
def choose_motions(gain, cost, handicap, agreement, first_sweeps, n_sweeps, is_used, label):
    """Remove motions that gain less than their cost; choose the motion of every cell.

    Motions are removed one by one, the least useful first: at first each cell has the motion of its
    largest gain; then neighbors agree, and the cells of a removed motion take the next best.

    gain : (n_labels, n_slices, rows, columns) float32      cost : float
    handicap : (n_labels,) float64, subtracted from the loss when the least useful is chosen
    agreement : float, gain of a cell for every neighbor of the same label
    first_sweeps, n_sweeps : over the cells after each removal, and at the end
    is_used : (n_labels,) bool, filled: motions that remain
    label : (n_slices, rows, columns) int16, filled
    """
    n_labels, n_slices, rows, columns = gain.shape
    flat = gain.reshape(n_labels, -1)
    n_cells, n_used = flat.shape[1], n_labels
    top, second = np.empty(n_cells, np.int16), np.empty(n_cells, np.int16)
    lead = np.empty(n_cells, np.float32)  # of the largest gain over the second one
    loss = np.empty(n_labels)
    is_used[:] = True
    _find_two_of_all(flat, top, second, lead)
    while n_used > 1:
        loss[:] = 0.0
        for i in range(n_cells):
            loss[top[i]] += lead[i]
        least = _least_useful(loss, is_used, cost, handicap)
        if least < 0:
            break
        n_used -= 1
        _remove(flat, is_used, least, top, second, lead)
    # A border of cells with a label of their own, so that all cells have as many neighbors.
    wide, deep = columns + 2, (rows + 2) * (columns + 2)
    bordered = np.full((n_slices + 2) * deep, n_labels, np.int16)
    is_due = np.zeros(bordered.size, np.bool_)
    place = np.empty(n_cells, np.int32)
    for i in range(n_cells):
        s, r, c = i // (rows * columns), i // columns % rows, i % columns
        place[i] = (s + 1) * deep + (r + 1) * wide + c + 1
        bordered[place[i]], is_due[place[i]] = top[i], True
    around = np.array(
        (-deep, deep, -wide - 1, -wide, -wide + 1, -1, 1, wide - 1, wide, wide + 1), np.int32
    )
    labels = np.empty(n_cells, np.int16)
    while True:
        _sweep(flat, agreement, first_sweeps, top, lead, place, around, is_due, bordered)
        if n_used == 1:
            break
        # Without the agreement of neighbors, chance alone would give every motion some cells.
        for i in range(n_cells):
            labels[i] = bordered[place[i]]
        _region_losses(flat, labels, top, lead, loss)
        least = _least_useful(loss, is_used, cost, handicap)
        if least < 0:
            break
        n_used -= 1
        _remove(flat, is_used, least, top, second, lead)
        for i in range(n_cells):
            if labels[i] == least:
                bordered[place[i]] = top[i]
                _mark_around(is_due, place[i], around)
    _sweep(flat, agreement, n_sweeps, top, lead, place, around, is_due, bordered)
    out = label.reshape(-1)
    for i in range(n_cells):
        out[i] = bordered[place[i]]


@njit
def _find_two_of_all(gain, top, second, lead):
    """Fill in the labels of the two largest gains of every cell; see `_find_two`. It vectorizes."""
    n_labels, n_cells = gain.shape
    first, runner_up = np.empty(n_cells, np.float32), np.empty(n_cells, np.float32)
    first[:] = runner_up[:] = np.float32(-np.inf)
    top[:] = second[:] = -1
    for k in range(n_labels):
        label, of_label = np.int16(k), gain[k]
        for i in range(n_cells):
            value, most, best = of_label[i], first[i], top[i]
            is_most, is_next = value > most, value > runner_up[i]
            second[i] = best if is_most else (label if is_next else second[i])
            runner_up[i] = most if is_most else (value if is_next else runner_up[i])
            top[i] = label if is_most else best
            first[i] = value if is_most else most
    for i in range(n_cells):
        lead[i] = first[i] - runner_up[i]


@njit
def _find_two(gain, is_used, i, top, second, lead):
    """Fill in the labels of the two largest gains of a cell; -1 if there is no second one."""
    best, next_best = -1, -1
    first = runner_up = np.float32(-np.inf)
    for k in range(gain.shape[0]):
        value = gain[k, i]
        if not is_used[k]:
            continue
        if value > first:
            best, next_best, first, runner_up = k, best, value, first
        elif value > runner_up:
            next_best, runner_up = k, value
    top[i], second[i], lead[i] = best, next_best, first - runner_up


@njit
def _region_losses(gain, label, top, lead, loss):
    """Sum over the cells of each label what is lost without it: its gain minus the best other one.

    A cell that has its label only because its neighbors agree can count below zero.
    """
    loss[:] = 0.0
    for i in range(label.size):
        k = label[i]
        loss[k] += lead[i] if top[i] == k else gain[k, i] - gain[top[i], i]


@njit
def _least_useful(loss, is_used, cost, handicap):
    """Return the label to remove first among those that gain less than their cost; -1 if none does.

    Of labels that replace each other, the one with the larger handicap goes first.
    """
    least, lowest = -1, np.inf
    for k in range(loss.size):
        if is_used[k] and loss[k] < cost and loss[k] - handicap[k] < lowest:
            least, lowest = k, loss[k] - handicap[k]
    return least


@njit
def _remove(gain, is_used, removed, top, second, lead):
    is_used[removed] = False
    for i in range(top.size):
        if top[i] == removed or second[i] == removed:
            _find_two(gain, is_used, i, top, second, lead)


@njit
def _mark_around(is_due, at, around):
    """Mark a cell and its neighbors; marks on the border mean nothing."""
    is_due[np.uint32(at)] = True
    for q in range(_N_NEIGHBORS):
        is_due[np.uint32(at + around[q])] = True


@njit
def _sweep(gain, agreement, n_sweeps, top, lead, place, around, is_due, bordered):
    """Visit the cells that are due: all at first, then those with a neighbor that has changed."""
    votes = np.zeros(gain.shape[0] + 1)
    for _ in range(n_sweeps):
        n_changed = 0
        for i in range(place.size):
            at = place[i]
            if not is_due[np.uint32(at)]:
                continue
            is_due[np.uint32(at)] = False
            held = bordered[np.uint32(at)]
            n_other = 0
            for q in range(_N_NEIGHBORS):
                n_other += bordered[np.uint32(at + around[q])] != held
            # Every neighbor with the label counts for it, at least as a diagonal one; all others count at
            # most 1 each for one label.
            behind = -lead[i] if top[i] == held else gain[top[i], i] - gain[held, i]
            ahead = agreement * (_N_NEIGHBORS * _DIAGONAL - (1.0 + _DIAGONAL) * n_other)
            if (n_other == 0 and top[i] == held) or ahead > behind + _ROUNDING:
                continue
            best = _best_label(gain, agreement, top[i], i, at, around, bordered, votes)
            if held != best:
                bordered[np.uint32(at)] = best
                n_changed += 1
                _mark_around(is_due, at, around)
                is_due[np.uint32(at)] = False
        if n_changed == 0:
            break


@njit
def _best_label(gain, agreement, top, i, at, around, bordered, votes):
    """Return the best label of a cell, given its neighbors; the lowest of equal ones.

    Only the labels of neighbors, and that of the largest gain, can be the best.

    votes : (n_labels + 1,) float64, zero, and zero again at the end
    """
    for q in range(_N_NEIGHBORS):
        is_diagonal = q > 1 and (q - 2) % 8 in (0, 2, 5, 7)
        votes[np.uint32(bordered[np.uint32(at + around[q])])] += _DIAGONAL if is_diagonal else 1.0
    votes[votes.size - 1] = 0.0  # of the border
    best, most = top, gain[top, i] + agreement * votes[top]
    votes[top] = 0.0
    for q in range(_N_NEIGHBORS):
        k = bordered[np.uint32(at + around[q])]
        # Zero: compared already, or the border.
        if votes[k] > 0.0:
            total = gain[k, i] + agreement * votes[k]
            votes[k] = 0.0
            if total > most or (total == most and k < best):
                best, most = k, total
    return best
