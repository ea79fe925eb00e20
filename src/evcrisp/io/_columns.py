"""Recognize event columns by their usual names, and turn them into packets."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.events import COLUMN_ALIASES
from evcrisp.io._protocol import Packet


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
                f"{', '.join(sorted(lowered.values())) or 'none'}"
            )
    return found


def column_packet(columns: Mapping[str, NDArray[Any]], offset: int) -> Packet:
    """Convert columns of any usual type to a packet, or raise if a value does not fit."""
    signal = columns.get("signal")
    return Packet(
        x=as_coordinate("x", columns["x"], offset),
        y=as_coordinate("y", columns["y"], offset),
        t=as_microseconds(columns["t"], offset),
        p=as_polarity(columns["p"], offset),
        offset=offset,
        signal=None if signal is None else as_flag("signal", signal, offset),
    )


def as_coordinate(name: str, values: NDArray[Any], offset: int) -> NDArray[np.uint16]:
    """Return pixel coordinates as uint16."""
    if values.dtype == np.uint16 or values.size == 0:
        return np.ascontiguousarray(values, np.uint16)
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= 65_535):  # also catches NaN
        raise FormatError(f"{name} must lie in 0..65535; found {low} to {high}", offset=offset)
    whole = values.astype(np.uint16)
    if values.dtype.kind == "f" and not np.array_equal(whole, values):
        raise FormatError(f"{name} holds fractions of pixels, such as {values[0]}", offset=offset)
    return whole


def as_microseconds(values: NDArray[Any], offset: int) -> NDArray[np.int64]:
    """Return time as int64 us; floating-point time is taken as seconds."""
    if values.dtype.kind != "f":
        return np.ascontiguousarray(values, np.int64)
    scaled = np.rint(values.astype(np.float64) * 1e6)
    if values.size and not np.all(np.abs(scaled) < 2**62):  # also catches NaN
        raise FormatError("time is not a finite number of seconds", offset=offset)
    return scaled.astype(np.int64)


def as_flag(name: str, values: NDArray[Any], offset: int) -> NDArray[np.bool_]:
    """Return bool; bytes of a damaged file that are neither 0 nor 1 must not pass for True."""
    flags = np.ascontiguousarray(values, np.bool_)
    if values.dtype == np.bool_ and flags.size and flags.view(np.uint8).max() > 1:
        raise FormatError(
            f"{name} must be 0 or 1; found {flags.view(np.uint8).max()}", offset=offset
        )
    return flags


def as_polarity(values: NDArray[Any], offset: int) -> NDArray[np.bool_]:
    """Return polarity as bool; accepts bool, 0/1 and -1/+1."""
    if values.dtype == np.bool_ or values.size == 0:
        return as_flag("polarity", values, offset)
    positive = values > 0
    fitting = positive & (values == 1) | ~positive & ((values == 0) | (values == -1))
    if not fitting.all():
        wrong = values[int(np.argmin(fitting))]
        raise FormatError(f"polarity must be 0/1 or -1/+1; found {wrong}", offset=offset)
    return positive
