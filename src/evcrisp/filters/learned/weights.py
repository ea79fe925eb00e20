"""Read network weights: files of evcrisp, and public files of MLPF."""

import warnings
import zipfile
from collections.abc import Mapping
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.registry import require
from evcrisp.core.types import Singles

Arrays = dict[str, Singles]

#: Shapes of arrays by name; None stands for any length.
Shapes = Mapping[str, tuple[int | None, ...]]

#: Names of the arrays in evcrisp and in public MLPF files (TorchScript).
_PUBLIC_NAMES = {
    "hidden_kernel": "fc1_kernel_read",
    "hidden_bias": "fc1_bias_read",
    "output_kernel": "output_kernel_read",
    "output_bias": "output_bias_read",
}


def weights_file(name: str, path: str | Path | None) -> tuple[Path, int]:
    """Return a weights file, by default the one of evcrisp, and its time of modification."""
    if path is None:
        path = str(resources.files("evcrisp").joinpath("weights", f"{name}.npz"))
    if not isinstance(path, (str, PathLike)) or "\0" in str(path):
        raise ConfigError("must be the path of a file", parameter="weights", value=path)
    path = Path(path)
    if not path.is_file():
        raise ConfigError("must be an existing file", parameter="weights", value=str(path))
    return path, path.stat().st_mtime_ns


def read_npz(path: Path, shapes: Shapes) -> Arrays:
    """Read arrays of known names and shapes."""
    return _check_arrays(path, read_archive(path, "weights"), shapes)


def read_archive(path: Path, what: str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an NPZ file."""
    try:
        # numpy does not close a damaged archive that it opened itself.
        with path.open("rb") as opened:
            if not zipfile.is_zipfile(opened):
                raise ValueError("not a zip archive")
            opened.seek(0)
            with np.load(opened, allow_pickle=False) as file:
                members = {name: file[name] for name in file.files}
                # Members that are no arrays come as bytes.
                return {k: array for k, array in members.items() if isinstance(array, np.ndarray)}
    except FileNotFoundError:
        raise
    except Exception as error:
        # numpy evaluates headers as literals: damage causes any error of its tokenizer.
        raise FormatError(f"not a file of {what} ({error})", path=path) from error


def read_torchscript(path: Path, shapes: Shapes) -> Arrays:
    """Read a public MLPF file: a TorchScript module with the arrays as attributes."""
    torch = require("torch", extra="torch", purpose="Weights in TorchScript")
    try:
        with warnings.catch_warnings():
            # The format of the public files is fixed, although torch deprecates TorchScript.
            warnings.simplefilter("ignore", DeprecationWarning)
            module = torch.jit.load(str(path), map_location="cpu")
    except (RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise FormatError(f"not a TorchScript file ({reason})", path=path) from error
    tensors = {name: getattr(module, public, None) for name, public in _PUBLIC_NAMES.items()}
    arrays = {
        name: tensor.detach().numpy()
        for name, tensor in tensors.items()
        if isinstance(tensor, torch.Tensor)
    }
    return _check_arrays(path, arrays, shapes)


def _check_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], shapes: Shapes) -> Arrays:
    """Return the arrays as float32; raise if one is missing, not finite or of another shape."""
    for name, shape in shapes.items():
        if name not in arrays:
            raise FormatError(f"the weights {name!r} are missing", path=path)
        found = arrays[name].shape
        if len(found) != len(shape) or any(
            want not in (None, have) for want, have in zip(shape, found, strict=True)
        ):
            wanted = tuple("any" if side is None else side for side in shape)
            raise FormatError(f"the weights {name!r} must be {wanted}; got {found}", path=path)
        if arrays[name].dtype.kind != "f" or not np.isfinite(arrays[name]).all():
            raise FormatError(f"the weights {name!r} are not finite numbers", path=path)
    return {name: np.ascontiguousarray(arrays[name], np.float32) for name in shapes}
