"""Slow and obvious version of the agreement of events with the latest event around them."""


def count_agreement(x, y, p, chosen):
    """Return how many chosen events have an event around, agree with it, are ON, and it is ON."""
    n_pairs = n_equal = n_on = n_neighbors_on = 0
    for k in range(len(x)):
        if not chosen[k]:
            continue
        for other in range(k - 1, -1, -1):
            dx, dy = abs(int(x[k]) - int(x[other])), abs(int(y[k]) - int(y[other]))
            # Only the latest event of a pixel counts, and that is the first one met backwards.
            if max(dx, dy) == 1:
                n_pairs += 1
                n_equal += p[k] == p[other]
                n_on += p[k]
                n_neighbors_on += p[other]
                break
    return n_pairs, n_equal, n_on, n_neighbors_on
