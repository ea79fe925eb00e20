"""Numpy archives of columns that grow piece by piece, in bounded memory."""

import contextlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.io.atomic_output import naming
from evcrisp.io.zip_members import create_member


class NpzPacker:
    """Columns grow in temporary files beside the target, and are packed into it at the end."""

    def __init__(self, path: Path, *, compressed: bool = False) -> None:
        self._path = path
        self._method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        self._parts: dict[str, IO[bytes]] = {}
        self._dtypes: dict[str, np.dtype[Any]] = {}
        self._n_rows = 0

    @property
    def names(self) -> list[str]:
        """The columns so far."""
        return list(self._parts)

    def append(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Add rows; the columns are the same each time, of one length."""
        n_new = len(next(iter(columns.values())))
        if self._parts and columns.keys() != self._parts.keys():
            if n_new == 0:
                return
            raise ConfigError(
                f"All chunks must have the columns {sorted(self._parts)}; got {sorted(columns)}. "
                "Either all events or none have labels (`signal`)."
            )
        with naming(self._path):
            for name, column in columns.items():
                if name not in self._parts:
                    part = self._path.with_name(f"{self._path.name}.{name}")
                    self._parts[name] = part.open("w+b")
                    self._dtypes[name] = column.dtype
                self._parts[name].write(np.ascontiguousarray(column, self._dtypes[name]).data)
        self._n_rows += n_new

    def pack(self, constants: Mapping[str, NDArray[Any]]) -> None:
        """Write the archive: all columns, then small arrays."""
        with (
            naming(self._path),
            zipfile.ZipFile(self._path, "w", self._method, compresslevel=1) as archive,
        ):
            for name, part in self._parts.items():
                self._add_column(archive, name, part)
            for name, array in constants.items():
                with create_member(archive, f"{name}.npy") as file:
                    npy_format.write_array(file, array)
        self.remove()

    def remove(self) -> None:
        """Remove the temporary files."""
        for part in self._parts.values():
            with contextlib.suppress(OSError):  # what is buffered may not fit; it is not wanted
                part.close()
            Path(part.name).unlink(missing_ok=True)

    def _add_column(self, archive: zipfile.ZipFile, name: str, part: IO[bytes]) -> None:
        part.seek(0)
        with create_member(archive, f"{name}.npy") as file:
            header = {
                "descr": npy_format.dtype_to_descr(self._dtypes[name]),
                "fortran_order": False,
                "shape": (self._n_rows,),
            }
            npy_format.write_array_header_1_0(file, header)
            while block := part.read(1 << 22):
                file.write(block)
