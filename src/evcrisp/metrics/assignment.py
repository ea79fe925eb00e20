"""Pairs of rows and columns with the largest sum of weights."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.types import Floats

Indices = NDArray[np.intp]


def best_pairs(weight: ArrayLike) -> tuple[Indices, Indices]:
    """Return the rows and columns of the assignment with the largest sum, in the order of rows.

    Every row and column is in at most one pair; as many pairs as the shorter side has. Shortest
    augmenting paths (Kuhn 1955, Jonker and Volgenant 1987): cubic in the shorter side.

    >>> rows, columns = best_pairs([[0.9, 0.8, 0.0], [0.8, 0.1, 0.0]])
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    values = np.asarray(weight, np.float64)
    is_tall = values.shape[0] > values.shape[1]
    values = values.T if is_tall else values
    row_of = _rows_of_columns(values.max(initial=0.0) - values)
    columns = np.flatnonzero(row_of >= 0)
    rows = row_of[columns]
    if is_tall:
        return columns, rows
    order = np.argsort(rows)
    return rows[order], columns[order]


def _rows_of_columns(cost: Floats) -> Indices:
    """Return the row of each column in the cheapest assignment; -1 for free columns.

    ``cost`` has at least as many columns as rows. Prices keep every reduced cost,
    ``cost - row_price - column_price``, at 0 or more, and at 0 for assigned pairs. Each row is
    added along the shortest path of reduced costs to a free column.
    """
    n_rows, n_columns = cost.shape
    row_price, column_price = np.zeros(n_rows), np.zeros(n_columns)
    row_of = np.full(n_columns, -1, np.intp)
    for new_row in range(n_rows):
        distance = np.full(n_columns, np.inf)
        previous = np.full(n_columns, -1, np.intp)  # column before, on the path
        is_done = np.zeros(n_columns, np.bool_)
        row, column, shortest = new_row, -1, 0.0
        while True:
            through = shortest + cost[row] - row_price[row] - column_price
            is_shorter = ~is_done & (through < distance)
            distance[is_shorter] = through[is_shorter]
            previous[is_shorter] = column
            column = int(np.argmin(np.where(is_done, np.inf, distance)))
            shortest = float(distance[column])
            if row_of[column] < 0:
                break
            is_done[column] = True
            row = int(row_of[column])
        row_price[new_row] += shortest
        slack = shortest - distance[is_done]
        row_price[row_of[is_done]] += slack
        column_price[is_done] -= slack
        while column >= 0:
            before = int(previous[column])
            row_of[column] = new_row if before < 0 else row_of[before]
            column = before
    return row_of
