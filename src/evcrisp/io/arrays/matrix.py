"""Four unnamed columns: find out which is which, or refuse."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.event_columns import widened

Order = tuple[str, str, str, str]

#: The orders that public files use.
ORDERS: tuple[Order, ...] = (("x", "y", "p", "t"), ("x", "y", "t", "p"), ("t", "x", "y", "p"))

#: Where no order fits all rows, this many of the first ones must tell; the next one is damaged.
_MIN_ROWS = 16


def best_orders(rows: NDArray[Any]) -> list[Order]:
    """Return the orders that fit the most of the first rows; none if that is too few.

    rows : (n, 4), numbers. An order fits while polarity is -1, 0 or 1, pixels are whole and in
    range, and time does not decrease.
    """
    rows = widened(rows)
    n_fitting = {order: _n_fitting(rows, order) for order in ORDERS}
    most = max(n_fitting.values())
    if most < min(len(rows), _MIN_ROWS):
        return []
    return [order for order, n in n_fitting.items() if n == most]


def find_order(rows: NDArray[Any], offset: int) -> Order:
    """Return the one order that fits, or raise."""
    if rows.dtype.kind not in "iufb" or rows.ndim != 2 or rows.shape[1] != 4:
        raise FormatError(
            f"expected four columns of numbers; got {rows.dtype} of shape {rows.shape}",
            offset=offset,
        )
    best = best_orders(rows)
    if len(best) != 1:
        tried = ", ".join(" ".join(order) for order in ORDERS)
        how_many = "more than one" if best else "none"
        raise FormatError(
            f"the four columns have no names, and {how_many} of the usual orders ({tried}) "
            "fits them. Save the columns under their names, such as a structured array with "
            "the fields t, x, y, p",
            offset=offset,
        )
    return best[0]


def _n_fitting(rows: NDArray[Any], order: Order) -> int:
    column = dict(zip(order, rows.T, strict=True))
    fits = np.isin(column["p"], (-1, 0, 1)) & _are_pixels(column["x"]) & _are_pixels(column["y"])
    fits[1:] &= column["t"][1:] >= column["t"][:-1]
    return len(rows) if fits.all() else int(np.argmin(fits))


def _are_pixels(values: NDArray[Any]) -> NDArray[np.bool_]:
    return (values >= 0) & (values <= 65_535) & (values == np.floor(values))
