"""Convert events to and from other packages, without a copy where the layouts allow it.

Torch and Arrow store columns, as :class:`Events` does, and share memory. A structured array stores
records. Its fields can be viewed as events, and such events give back their records without a copy.
Labels (``signal``) are lost: none of the layouts has a field for them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.events import COLUMN_ALIASES, RECORD_DTYPE, Events
from evcrisp.core.registry import require

if TYPE_CHECKING:
    import pyarrow
    import torch


def to_structured(events: Events) -> NDArray[Any]:
    """Return records with the fields t, x, y, p (16 bytes each).

    Events from :func:`from_structured` share memory with their records.

    >>> records = np.zeros(3, RECORD_DTYPE)
    >>> events = from_structured(records, (8, 4))
    >>> np.shares_memory(to_structured(events), records)
    True
    """
    shared = _shared_records(events)
    if shared is not None:
        return shared
    records: NDArray[Any] = np.zeros(len(events), RECORD_DTYPE)
    for name in ("t", "x", "y", "p"):
        records[name] = getattr(events, name)
    return records


def _shared_records(events: Events) -> NDArray[Any] | None:
    """Return the records of which the four columns are fields, or None."""
    start = events.t.__array_interface__["data"][0]
    fields = RECORD_DTYPE.fields
    if fields is None or len(events) == 0:
        return None
    for name, (dtype, offset, *_) in fields.items():
        column = getattr(events, name)
        at_offset = column.__array_interface__["data"][0] - start == offset
        if column.dtype != dtype or column.strides != (RECORD_DTYPE.itemsize,) or not at_offset:
            return None
    base = events.t.base
    while isinstance(base, np.ndarray) and base.dtype.names is None:
        base = base.base
    if not isinstance(base, np.ndarray) or base.ndim != 1:
        return None
    if base.dtype.itemsize != RECORD_DTYPE.itemsize or not base.flags.c_contiguous:
        return None
    # In other layouts `t` is not the first field, and our records would not align with theirs.
    first, rest = divmod(start - base.__array_interface__["data"][0], RECORD_DTYPE.itemsize)
    if rest:
        return None
    shared = base[first : first + len(events)].view(RECORD_DTYPE)
    shared.flags.writeable = False
    return shared


def from_structured(records: NDArray[Any], resolution: Sequence[int]) -> Events:
    """View a structured array as events; fields may have any name of `COLUMN_ALIASES`.

    Fields of the right width (t 8 bytes, x and y 2, p 1) are viewed, others are converted.
    """
    names = records.dtype.names
    if names is None or records.ndim != 1:
        raise EventDataError(
            f"`records` must be a 1-d structured array; got {records.dtype} of shape "
            f"{records.shape}. For plain columns use Events(x=, y=, t=, p=, resolution=)."
        )
    columns: dict[str, NDArray[Any]] = {}
    for column, aliases in COLUMN_ALIASES.items():
        found = next((name for name in names if name.lower() in aliases), None)
        if found is not None:
            columns[column] = records[found]
        elif column != "signal":
            raise EventDataError(
                f"`records` must have a field for {column!r} ({', '.join(aliases)}); got {names}."
            )
    for name in ("x", "y"):
        if columns[name].dtype == np.int16 and columns[name].min(initial=0) >= 0:
            columns[name] = columns[name].view(np.uint16)
    if columns["p"].dtype == np.int8 and columns["p"].min(initial=0) >= 0:
        columns["p"] = columns["p"].view(np.uint8)
    return Events(**columns, resolution=resolution)


def to_torch(events: Events) -> "dict[str, torch.Tensor]":
    """Return tensors x, y (uint16), t (int64), p (bool) that share memory; do not write to them."""
    torch = require("torch", extra="torch", purpose="Torch tensors")
    columns = {name: getattr(events, name) for name in ("x", "y", "t", "p")}
    return {name: torch.from_numpy(np.asarray(_Writable(c))) for name, c in columns.items()}


class _Writable:
    """Memory of an array without its read-only flag, about which torch would warn."""

    def __init__(self, column: NDArray[Any]) -> None:
        self._column = column  # keeps the memory alive
        interface = dict(column.__array_interface__)
        address, _ = interface["data"]
        self.__array_interface__ = {**interface, "data": (address, False)}


def to_arrow(events: Events) -> "pyarrow.Table":
    """Return an Arrow table of t, x, y, p that shares memory; p is uint8, not packed to bits."""
    pyarrow = require("pyarrow", extra=None, purpose="Arrow tables")
    events = events.contiguous()
    columns = {"t": events.t, "x": events.x, "y": events.y, "p": events.p.view(np.uint8)}
    width, height = events.resolution
    return pyarrow.table(
        {name: pyarrow.array(column) for name, column in columns.items()},
        metadata={"width": str(width), "height": str(height)},
    )


def to_eventcv(events: Events) -> Any:
    """Return an ``eventcv.EventStream``."""
    eventcv = require("eventcv", extra=None, purpose="Streams of eventcv")
    table = np.empty((len(events), 4), np.int64)
    for i, name in enumerate(("x", "y", "t", "p")):
        table[:, i] = getattr(events, name)
    return eventcv.from_numpy(table, sensor_size=events.resolution, time_unit="us", order="xytp")


def from_eventcv(stream: Any, resolution: Sequence[int] | None = None) -> Events:
    """Build events from an ``eventcv.EventStream``; its own sensor size is the default."""
    table = stream.numpy()
    size = stream.sensor_size if resolution is None else resolution
    x, y, t, p = table.T
    return Events(x=x, y=y, t=t.astype(np.int64), p=p > 0, resolution=size)


def to_dv(events: Events) -> Any:
    """Return a ``dv_processing.EventStore``, filled event by event as its API requires."""
    dv = require("dv_processing", extra=None, purpose="Event stores of dv-processing")
    store = dv.EventStore()
    columns = (events.t.tolist(), events.x.tolist(), events.y.tolist(), events.p.tolist())
    for event in zip(*columns, strict=True):
        store.push_back(*event)
    return store


def from_dv(store: Any, resolution: Sequence[int]) -> Events:
    """View the memory of a ``dv_processing.EventStore`` as events."""
    return from_structured(store.numpy(), resolution)
