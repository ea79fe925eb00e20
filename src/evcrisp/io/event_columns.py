"""Find event columns by name or by value, and convert them to packets.

Integer time is in microseconds. Floating-point time is in seconds if at least half of the rows of
the first packet have a fraction, else in microseconds. A fraction is damage then.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.events import COLUMN_ALIASES
from evcrisp.core.types import Bools
from evcrisp.io.protocol import Packet

_INT64 = np.iinfo(np.int64)
#: Limit of floating-point time, us, so that sums fit into int64.
_MAX_US = 2**62
#: Limits for messages: names, and characters of a name.
_SHOWN_NAMES, _SHOWN_CHARACTERS = 12, 30

#: The first row with a wrong value, and its problem.
_Wrong = tuple[int, str]

#: Makes an array of a number of elements and a type.
Empty = Callable[[int, DTypeLike], NDArray[Any]]

Order = tuple[str, str, str, str]
#: Orders of four unnamed columns in public files.
ORDERS: tuple[Order, ...] = (("x", "y", "p", "t"), ("x", "y", "t", "p"), ("t", "x", "y", "p"))
#: If no order fits all rows, it must fit this many of the first ones; the next row is damaged.
_MIN_ROWS = 16


def find_columns(names: Iterable[str]) -> dict[str, str]:
    """Return the names of x, y, t, p (and signal) among ``names``, or raise."""
    lowered = {name.lower(): name for name in names}
    found = {}
    for column, aliases in COLUMN_ALIASES.items():
        name = next((lowered[alias] for alias in aliases if alias in lowered), None)
        if name is not None:
            found[column] = name
        elif column != "signal":
            known, present = ", ".join(aliases), _listing(sorted(lowered.values()))
            raise FormatError(f"no column for {column!r} ({known}); the file has {present}")
    return found


def _listing(names: list[str]) -> str:
    """Return names for a message, shortened and escaped."""
    shown = [
        name if name.isprintable() and len(name) <= _SHOWN_CHARACTERS else repr(name)[:60]
        for name in names[:_SHOWN_NAMES]
    ]
    n_more = len(names) - len(shown)
    return (", ".join(shown) or "none") + (f" and {n_more} more" if n_more else "")


def widened(values: NDArray[Any]) -> NDArray[Any]:
    """Convert half precision to single precision, whose range contains all limits."""
    return values.astype(np.float32) if values.dtype == np.float16 else values


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
    """Return the only order that fits, or raise."""
    if rows.dtype.kind not in "iufb" or rows.ndim != 2 or rows.shape[1] != 4:
        reason = f"expected four columns of numbers; got {rows.dtype} of shape {rows.shape}"
        raise FormatError(reason, offset=offset)
    best = best_orders(rows)
    if len(best) != 1:
        tried = ", ".join(" ".join(order) for order in ORDERS)
        raise FormatError(
            f"the four columns have no names, and {'more than one' if best else 'none'} of the "
            f"usual orders ({tried}) fits them. Save the columns under their names, such as a "
            "structured array with the fields t, x, y, p",
            offset=offset,
        )
    return best[0]


def _n_fitting(rows: NDArray[Any], order: Order) -> int:
    column = dict(zip(order, rows.T, strict=True))
    fits = np.isin(column["p"], (-1, 0, 1)) & _are_pixels(column["x"]) & _are_pixels(column["y"])
    fits[1:] &= column["t"][1:] >= column["t"][:-1]
    return len(rows) if fits.all() else int(np.argmin(fits))


def _are_pixels(values: NDArray[Any]) -> Bools:
    return (values >= 0) & (values <= 65_535) & (values == np.floor(values))


def row_before(t: int, n: int, time_of: Callable[[int], int | None]) -> int:
    """Return the last row before time ``t``, by bisection over ``n`` rows; 0 if there is none.

    ``time_of`` returns the time of a row, us; None for a wrong one, from which on nothing is skipped.
    """
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        found = time_of(middle)
        if found is not None and found < t:
            low = middle
        else:
            high = middle
    return low


class ColumnConverter:
    """Convert columns of any usual type to packets; ``t_offset`` (us) is added to all times.

    ``seconds`` states the unit of floating-point time; if it is None, the first rows decide.
    ``empty(n, dtype)`` makes the arrays of packets that differ from the columns.
    """

    def __init__(
        self, *, seconds: bool | None = None, t_offset: int = 0, empty: Empty = np.empty
    ) -> None:
        self._seconds = seconds
        self._t_offset = t_offset
        self._empty = empty

    def packets(self, columns: Mapping[str, NDArray[Any]], offset: int) -> Iterator[Packet]:
        """Yield the rows before the first wrong value as a packet, then raise if there is one.

        The columns are x, y, t, p and optionally signal: numbers of any type, shape (n,).
        """
        columns = {name: widened(column) for name, column in columns.items()}
        flags = {"p": "polarity"} | ({"signal": "signal"} if "signal" in columns else {})
        t, wrong_time = self._converted_time(columns["t"])
        candidates = [
            wrong_time,
            *(_wrong_coordinate(name, columns[name]) for name in "xy"),
            *(_wrong_flag(title, columns[name]) for name, title in flags.items()),
        ]
        wrong = min((found for found in candidates if found is not None), default=None)
        n_good = t.size if wrong is None else wrong[0]
        good = {name: column[:n_good] for name, column in columns.items()}
        x, y = (self._as_kind(good[name], np.uint16) for name in "xy")
        signal = self._as_flag(good["signal"]) if "signal" in good else None
        yield Packet(x, y, t[:n_good], self._as_flag(good["p"]), offset, signal)
        if wrong is not None:
            raise FormatError(wrong[1], offset=offset)

    def time(self, values: NDArray[Any]) -> int | None:
        """Return the first of some times, us; None if there is none, or it is wrong."""
        times, _ = self._converted_time(widened(values))
        return int(times[0]) if times.size else None

    def _as_kind(self, values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
        """Return values as a contiguous array of a type; in a new array if they are not."""
        if values.dtype == dtype and values.flags.c_contiguous:
            return values
        converted = self._empty(values.size, dtype)
        np.copyto(converted, values, casting="unsafe")
        return converted

    def _as_flag(self, values: NDArray[Any]) -> Bools:
        if values.dtype == np.bool_:
            return self._as_kind(values, np.bool_)
        return np.greater(values, 0, out=self._empty(values.size, np.bool_))

    def _converted_time(self, values: NDArray[Any]) -> tuple[NDArray[np.int64], _Wrong | None]:
        """Return the good times, us, and the problem of the next one."""
        if values.dtype.kind != "f":
            good, wrong = _whole_time(values, self._t_offset)
        else:
            if self._seconds is None and values.size:
                self._seconds = are_seconds(values)
            good, wrong = _float_time(values, seconds=bool(self._seconds))
            good, late = _whole_time(good, self._t_offset)
            wrong = late or wrong
        if self._t_offset:
            good = np.add(good, self._t_offset, out=self._empty(good.size, np.int64))
        return good, wrong


def are_seconds(times: NDArray[Any]) -> bool:
    """Return whether at least half of the times have a fraction; one damaged row does not decide.

    Zeros do not count, because many recordings start with several events at 0.

    >>> are_seconds(np.array([0.0, 0.0, 0.25, 1.0])), are_seconds(np.array([1.0, 2.5, 3.0]))
    (True, False)
    """
    counted = np.isfinite(times) & (times != 0.0)
    has_fraction = counted & (times != np.rint(times))
    return 0 < int(counted.sum()) <= 2 * int(has_fraction.sum())


def _whole_time(values: NDArray[Any], t_offset: int) -> tuple[NDArray[np.int64], _Wrong | None]:
    fits_anyway = t_offset == 0 and np.can_cast(values.dtype, np.int64)
    if values.size == 0 or fits_anyway:
        return np.ascontiguousarray(values, np.int64), None
    low, high = _INT64.min - min(t_offset, 0), _INT64.max - max(t_offset, 0)
    if int(values.min()) >= low and int(values.max()) <= high:
        return np.ascontiguousarray(values, np.int64), None
    row = int(np.argmax((values < low) | (values > high)))
    wrong = row, f"t does not fit 64 bits; found {values[row]}"
    return np.ascontiguousarray(values[:row], np.int64), wrong


def _float_time(values: NDArray[Any], *, seconds: bool) -> tuple[NDArray[np.int64], _Wrong | None]:
    with np.errstate(all="ignore"):  # overflow and NaN are found below
        exact = values.astype(np.float64) * 1e6 if seconds else values
        rounded = np.rint(exact)
        fits = np.abs(rounded) < _MAX_US
        whole = fits if seconds else fits & (rounded == exact)
    if whole.all():
        return rounded.astype(np.int64), None
    row = int(np.argmin(whole))
    if fits[row]:
        reason = f"t must be whole microseconds, as in the rows before; found {values[row]}"
    else:
        unit = "seconds" if seconds else "microseconds"
        reason = f"t is not a finite number of {unit}; found {values[row]}"
    return rounded[:row].astype(np.int64), (row, reason)


def as_microseconds(seconds: NDArray[Any], offset: int) -> NDArray[np.int64]:
    """Convert a column of seconds to us, or raise if a value is not a time."""
    is_float = seconds.dtype.kind == "f"
    values, wrong = _float_time(seconds, seconds=True) if is_float else _whole_time(seconds, 0)
    if wrong is not None:
        raise FormatError(wrong[1], offset=offset)
    return values


def _wrong_coordinate(name: str, values: NDArray[Any]) -> _Wrong | None:
    if np.can_cast(values.dtype, np.uint16):
        return None
    fits = (values >= 0) & (values <= 65_535)  # also catches NaN
    if values.dtype.kind == "f":
        fits &= values == np.rint(values)
    if fits.all():
        return None
    row = int(np.argmin(fits))
    if 0 <= values[row] <= 65_535:
        return row, f"{name} has fractions of pixels, such as {values[row]}"
    return row, f"{name} must lie in 0..65535; found {values[row]}"


def _wrong_flag(title: str, values: NDArray[Any]) -> _Wrong | None:
    if values.dtype == np.bool_:
        # Bytes other than 0 and 1 are damage, not True.
        stored = np.ascontiguousarray(values).view(np.uint8)
        if values.size == 0 or stored.max() <= 1:
            return None
        row = int(np.argmax(stored > 1))
        return row, f"{title} must be 0 or 1; found {stored[row]}"
    fits = (values == 1) | (values == 0) | (values == -1)
    if fits.all():
        return None
    row = int(np.argmin(fits))
    return row, f"{title} must be 0/1 or -1/+1; found {values[row]}"
