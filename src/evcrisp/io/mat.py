"""MATLAB files up to version 7, through scipy.

They are read whole: scipy offers nothing smaller than a variable.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evcrisp.errors import FormatError
from evcrisp.io._columns import column_packet, find_columns
from evcrisp.io._matrix import Matrix
from evcrisp.io._protocol import PACKET_EVENTS, Packet, Source
from evcrisp.io._sizes import ALL_SIZES
from evcrisp.registry import require

_HEADER_BYTES = 128
_NUMERIC = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"}
_NUMERIC |= {"double", "single", "logical"}


@dataclass(slots=True)
class MatSource(Source):
    """A MATLAB file, not yet read."""

    path: Path = field(kw_only=True)
    #: The variables that hold the events: one matrix or struct, or one per column.
    variables: list[str] = field(kw_only=True)

    def packets(self) -> Iterator[Packet]:
        """Yield the events in file order."""
        content = _scipy(self.path, "loadmat", variable_names=self.variables)
        missing = [name for name in self.variables if name not in content]
        if missing:
            raise FormatError(f"variable {missing[0]!r} cannot be read", offset=_HEADER_BYTES)
        if len(self.variables) == 1 and content[self.variables[0]].dtype.names is None:
            yield from _matrix_packets(content[self.variables[0]])
            return
        if len(self.variables) == 1:
            record = content[self.variables[0]].ravel()[0]
            content = {name: record[name] for name in record.dtype.names}
        yield from _column_packets(content)


def _matrix_packets(matrix: NDArray[Any]) -> Iterator[Packet]:
    rows = matrix.T if matrix.shape[0] == 4 != matrix.shape[1] else matrix
    if len(rows) == 0:
        return
    meaning = Matrix(rows[:PACKET_EVENTS], _HEADER_BYTES)
    for first in range(0, len(rows), PACKET_EVENTS):
        yield meaning.packet(rows[first : first + PACKET_EVENTS], _HEADER_BYTES)


def _column_packets(content: dict[str, Any]) -> Iterator[Packet]:
    found = find_columns(name for name in content if not name.startswith("__"))
    columns = {column: np.asarray(content[name]).ravel() for column, name in found.items()}
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1 or any(c.dtype.kind not in "iufb" for c in columns.values()):
        raise FormatError(f"the columns must be numbers of one length; got lengths {lengths}")
    t = columns["t"]
    if t.dtype.kind == "f" and bool((np.abs(t) < 2**62).all()) and bool((t == np.rint(t)).all()):
        columns["t"] = t.astype(np.int64)  # MATLAB keeps whole microseconds as double
    for first in range(0, t.size, PACKET_EVENTS):
        part = slice(first, first + PACKET_EVENTS)
        yield column_packet({name: c[part] for name, c in columns.items()}, _HEADER_BYTES)


def _scipy(path: Path, call: str, **options: Any) -> Any:
    scipy_io: ModuleType = require("scipy.io", extra="mat", purpose="MATLAB files")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(scipy_io, call)(path, appendmat=False, **options)
    except Exception as error:
        # Damage shows as any error of scipy's parser, from IndexError to zlib.error.
        reason = str(error) or type(error).__name__
        raise FormatError(f"not readable as a MATLAB file: {reason.rstrip('.')}") from error


@dataclass(frozen=True, slots=True)
class MatReader:
    """Read MATLAB files with a matrix of four columns, a struct of columns, or one variable each."""

    name: ClassVar[str] = "mat"
    title: ClassVar[str] = "MATLAB (.mat)"
    suffixes: ClassVar[tuple[str, ...]] = (".mat",)
    standard_sizes: ClassVar[tuple[tuple[int, int], ...]] = ALL_SIZES
    foreign_errors: ClassVar[tuple[type[Exception], ...]] = ()

    def recognizes(self, head: bytes, path: Path) -> bool:
        """Look for the first words of versions 5 and 7."""
        return head.startswith((b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"))

    def open(self, path: Path) -> MatSource:
        """Find the variables that hold events."""
        with path.open("rb") as file:
            if file.read(10) == b"MATLAB 7.3":
                raise FormatError("MATLAB 7.3 files are not read; save it with the option '-v7'")
        listed = _scipy(path, "whosmat")
        shapes = {name: (shape, kind) for name, shape, kind in listed}
        return MatSource(
            metadata={"variables": sorted(shapes)}, path=path, variables=_choose(shapes)
        )


def _choose(shapes: dict[str, tuple[tuple[int, ...], str]]) -> list[str]:
    """Return the one variable, or the four, that hold the events."""
    wholes = [
        name
        for name, (shape, kind) in shapes.items()
        if (kind in _NUMERIC and len(shape) == 2 and 4 in shape)
        or (kind == "struct" and all(side == 1 for side in shape))
    ]
    if "events" in wholes:
        return ["events"]
    if len(wholes) == 1:
        return wholes
    vectors = [name for name, (shape, kind) in shapes.items() if kind in _NUMERIC and 1 in shape]
    try:
        return list(find_columns(vectors).values())
    except FormatError:
        listing = ", ".join(f"{name} {shape}" for name, (shape, _) in sorted(shapes.items()))
        raise FormatError(
            "expected a variable `events` with four columns, a struct with x, y, t, p, or variables "
            f"of these names; the file has {listing or 'nothing'}"
        ) from None
