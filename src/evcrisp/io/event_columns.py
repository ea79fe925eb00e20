"""Recognize event columns by their usual names, and turn them into packets.

Time in whole numbers is in microseconds. Time in floating-point numbers is in seconds if any of the
first rows (those of the first packet) has a fraction, else in microseconds; a fraction that comes
later contradicts that and is damage.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.core.events import COLUMN_ALIASES
from evcrisp.io.protocol import Packet

_INT64 = np.iinfo(np.int64)
#: Floating-point time beyond this is no time, us.
_MAX_US = 2**62
_SHOWN_NAMES, _SHOWN_CHARACTERS = 12, 30

#: The first row with a value that does not fit, and what is wrong with it.
_Wrong = tuple[int, str]


def find_columns(names: Iterable[str]) -> dict[str, str]:
    """Return which of ``names`` is x, y, t, p (and signal), or raise."""
    lowered = {name.lower(): name for name in names}
    found = {}
    for column, aliases in COLUMN_ALIASES.items():
        name = next((lowered[alias] for alias in aliases if alias in lowered), None)
        if name is not None:
            found[column] = name
        elif column != "signal":
            raise FormatError(
                f"no column for {column!r} ({', '.join(aliases)}); the file has "
                f"{_listing(sorted(lowered.values()))}"
            )
    return found


def _listing(names: list[str]) -> str:
    """Return names for a message, however many, long and strange they are."""
    shown = [
        name if name.isprintable() and len(name) <= _SHOWN_CHARACTERS else repr(name)[:60]
        for name in names[:_SHOWN_NAMES]
    ]
    n_more = len(names) - len(shown)
    return (", ".join(shown) or "none") + (f" and {n_more} more" if n_more else "")


def widened(values: NDArray[Any]) -> NDArray[Any]:
    """Return half-precision numbers as single ones: our limits lie beyond their range."""
    return values.astype(np.float32) if values.dtype == np.float16 else values


class ColumnConverter:
    """Turn columns of any usual type into packets; remembers what the first rows say about time.

    Parameters
    ----------
    seconds : bool, optional
        Whether floating-point time is in seconds, where the format says it.
    t_offset : int
        Added to all times, us.
    """

    def __init__(self, *, seconds: bool | None = None, t_offset: int = 0) -> None:
        self._seconds = seconds
        self._t_offset = t_offset

    def packets(self, columns: Mapping[str, NDArray[Any]], offset: int) -> Iterator[Packet]:
        """Yield the rows as a packet, or those before the first bad value, and then raise.

        Parameters
        ----------
        columns : mapping of str to ndarray, shape (n,)
            x, y, t, p and, where known, signal: numbers of any type.
        offset : int
            Byte of the file at which they begin.
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
        yield Packet(
            x=np.ascontiguousarray(good["x"], np.uint16),
            y=np.ascontiguousarray(good["y"], np.uint16),
            t=t[:n_good],
            p=_as_flag(good["p"]),
            offset=offset,
            signal=_as_flag(good["signal"]) if "signal" in good else None,
        )
        if wrong is not None:
            raise FormatError(wrong[1], offset=offset)

    def _converted_time(self, values: NDArray[Any]) -> tuple[NDArray[np.int64], _Wrong | None]:
        """Return time in us as far as it is good, and what is wrong with the next one."""
        if values.dtype.kind != "f":
            good, wrong = _whole_time(values, self._t_offset)
        else:
            if self._seconds is None and values.size:
                self._seconds = _has_fraction(values)
            good, wrong = _float_time(values, seconds=bool(self._seconds))
            good, late = _whole_time(good, self._t_offset)
            wrong = late or wrong
        return (good + self._t_offset if self._t_offset else good), wrong


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
    with np.errstate(all="ignore"):  # what overflows or is no number is found below
        exact = values.astype(np.float64) * 1e6 if seconds else values
        rounded = np.rint(exact)
        fits = np.abs(rounded) < _MAX_US
        whole = fits if seconds else fits & (rounded == exact)
    if whole.all():
        return rounded.astype(np.int64), None
    row = int(np.argmin(whole))
    if fits[row]:
        reason = f"t must be whole microseconds, as it is in the rows before; found {values[row]}"
    else:
        unit = "seconds" if seconds else "microseconds"
        reason = f"t is not a finite number of {unit}; found {values[row]}"
    return rounded[:row].astype(np.int64), (row, reason)


def _has_fraction(values: NDArray[Any]) -> bool:
    """Say whether a number is not whole; what is no number says nothing."""
    return bool((np.isfinite(values) & (values != np.rint(values))).any())


def as_microseconds(seconds: NDArray[Any], offset: int) -> NDArray[np.int64]:
    """Return a column of seconds as us, or raise if a value is no time."""
    values, wrong = (
        _float_time(seconds, seconds=True)
        if seconds.dtype.kind == "f"
        else _whole_time(seconds, t_offset=0)
    )
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
    value = values[row]
    if 0 <= value <= 65_535:
        return row, f"{name} holds fractions of pixels, such as {value}"
    return row, f"{name} must lie in 0..65535; found {value}"


def _wrong_flag(title: str, values: NDArray[Any]) -> _Wrong | None:
    if values.dtype == np.bool_:
        # Bytes of a damaged file that are neither 0 nor 1 must not pass for True.
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


def _as_flag(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.ascontiguousarray(values) if values.dtype == np.bool_ else values > 0
