"""Counts of events per column and row of the sensor."""

from evcrisp.kernels.compile import njit


@njit
def count_lines(x, y, columns, rows):
    """Count the events of every column and row.

    x, y : (n,) uint16      columns : (width,) int64, increased      rows : (height,) int64, increased
    """
    for k in range(x.size):
        columns[x[k]] += 1
        rows[y[k]] += 1
