"""Arrays of four unnamed columns: find out which is which, or refuse."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.io._columns import column_packet
from evcrisp.io._protocol import Packet

#: The orders that public files use.
ORDERS = (("x", "y", "p", "t"), ("x", "y", "t", "p"), ("t", "x", "y", "p"))


class Matrix:
    """The meaning of the columns, found out from the first rows.

    Time with a fraction anywhere in the first rows is in seconds, else in microseconds.
    """

    def __init__(self, rows: NDArray[Any], offset: int) -> None:
        if rows.dtype.kind not in "iufb" or rows.ndim != 2 or rows.shape[1] != 4:
            raise FormatError(
                f"expected four columns of numbers; got {rows.dtype} of shape {rows.shape}",
                offset=offset,
            )
        fitting = [order for order in ORDERS if len(rows) == 0 or _fits(rows, order)]
        if len(rows) and len(fitting) != 1:
            tried = ", ".join(" ".join(order) for order in ORDERS)
            how_many = "more than one" if fitting else "none"
            raise FormatError(
                f"the four columns have no names, and {how_many} of the usual orders ({tried}) "
                "fits them. Save the columns under their names, such as a structured array with "
                "the fields t, x, y, p",
                offset=offset,
            )
        self.order = fitting[0]
        times = rows[:, self.order.index("t")]
        self.seconds = bool((times != np.rint(times)).any())

    def packet(self, rows: NDArray[Any], offset: int) -> Packet:
        """Return rows as a packet."""
        columns = {name: rows[:, index] for index, name in enumerate(self.order)}
        if not self.seconds:
            columns["t"] = _as_whole(columns["t"], offset)
        return column_packet(columns, offset)


def whole_time(times: NDArray[Any], offset: int) -> NDArray[Any]:
    """Return time that is whole throughout as int64, us; other time as it is, seconds."""
    return times if (times != np.rint(times)).any() else _as_whole(times, offset)


def _as_whole(times: NDArray[Any], offset: int) -> NDArray[np.int64]:
    if not (np.abs(times.astype(np.float64)) < 2**62).all():  # also catches NaN
        raise FormatError("time is not a finite number of microseconds", offset=offset)
    return np.rint(times).astype(np.int64)


def _fits(rows: NDArray[Any], order: tuple[str, ...]) -> bool:
    column = {name: rows[:, index] for index, name in enumerate(order)}
    return bool(
        np.isin(column["p"], (-1, 0, 1)).all()
        and (column["t"][1:] >= column["t"][:-1]).all()
        and all(_are_pixels(column[name]) for name in "xy")
    )


def _are_pixels(values: NDArray[Any]) -> bool:
    inside = (values >= 0) & (values <= 65_535)
    return bool(inside.all() and (values == np.floor(values)).all())
