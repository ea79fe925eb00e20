"""Slow and obvious version of the groups of events by layer."""


def group_by_layer(label, cell, support, supporting, least):
    """Return the events of every layer that support others and have more support than `least`."""
    groups = [[] for _ in support]
    for i in range(len(cell)):
        k = label[cell[i]]
        if supporting[i] and support[k][i] > least:
            groups[k].append(i)
    return groups
