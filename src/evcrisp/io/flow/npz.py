"""``.npz``: a numpy archive with velocity, valid, t_start and t_end; nothing is lost."""

import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.lib import format as npy_format

from evcrisp.core.errors import FormatError
from evcrisp.core.flow import Flow
from evcrisp.io.arrays.npy import NpyColumn
from evcrisp.io.atomic_output import naming
from evcrisp.io.byte_blocks import ZIP_ERRORS, create_member, open_archive
from evcrisp.io.flow.stored_flow import StoredFlow, check_size

_MEMBERS = ("velocity", "valid", "t_start", "t_end")


class NpzFormat:
    """Archive that `numpy.load` reads too."""

    name: ClassVar[str] = "npz"
    suffix: ClassVar[str] = ".npz"
    least_px: ClassVar[float] = -np.inf
    most_px: ClassVar[float] = np.inf

    def read(self, path: Path) -> StoredFlow:
        """Read velocities; shapes are checked before memory is taken."""
        with path.open("rb"):
            pass  # a missing or unreadable file is no damage
        try:
            with open_archive(path) as archive:
                missing = [name for name in _MEMBERS if f"{name}.npy" not in archive.namelist()]
                if missing:
                    raise FormatError(f"the archive has no {', '.join(missing)}; it is no flow")
                return _read_members(archive)
        except FormatError:
            raise
        except ZIP_ERRORS as error:
            raise FormatError(f"the archive is damaged: {error}".rstrip(".")) from error

    def write(self, path: Path, flow: Flow) -> None:
        """Write the archive; the same flow gives the same bytes."""
        arrays = {
            "velocity": flow.velocity,
            "valid": flow.valid,
            "t_start": np.array(flow.t_start, np.int64),
            "t_end": np.array(flow.t_end, np.int64),
        }
        method = zipfile.ZIP_DEFLATED
        with naming(path), zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
            for name, array in arrays.items():
                with create_member(archive, f"{name}.npy") as file:
                    npy_format.write_array(file, array)


def _read_members(archive: zipfile.ZipFile) -> StoredFlow:
    arrays = {}
    shape: tuple[int, ...] = ()
    wanted = {"velocity": "f", "valid": "b", "t_start": "iu", "t_end": "iu"}
    for name, kinds in wanted.items():
        with archive.open(f"{name}.npy") as file:
            column = NpyColumn(name, file)
            if name == "velocity":
                shape = column.shape
                if len(shape) != 3 or shape[2] != 2:
                    raise FormatError(f"`velocity` must have shape (h, w, 2); got {shape}")
                check_size(shape[1], shape[0])
            fitting = {"velocity": shape, "valid": shape[:2]}.get(name, ())
            if column.shape != fitting or column.dtype.kind not in kinds:
                found = f"{column.dtype} of shape {column.shape}"
                raise FormatError(f"`{name}` does not fit a flow of shape {shape}; got {found}")
            arrays[name] = column.read(len(column)).reshape(-1)
            if arrays[name].size != np.prod(fitting, dtype=np.int64):
                raise FormatError(f"`{name}` ends early")
    span = int(arrays["t_start"][0]), int(arrays["t_end"][0])
    with np.errstate(over="ignore"):
        velocity = arrays["velocity"].astype(np.float32).reshape(shape)
    return StoredFlow(velocity, arrays["valid"].reshape(shape[:2]), span, is_velocity=True)
