"""Read the weights of networks: files of evcrisp, and public files of MLPF."""

import warnings
import zipfile
import zlib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.registry import require

Arrays = dict[str, NDArray[np.float32]]

#: Names of the tensors of public MLPF files (TorchScript), and ours.
_PUBLIC_NAMES = {
    "hidden_kernel": "fc1_kernel_read",
    "hidden_bias": "fc1_bias_read",
    "output_kernel": "output_kernel_read",
    "output_bias": "output_bias_read",
}


def shipped(name: str) -> Path:
    """Return the path of the weights that come with evcrisp."""
    return Path(str(resources.files("evcrisp").joinpath("weights", f"{name}.npz")))


def read_npz(path: Path, shapes: Mapping[str, tuple[int | None, ...]]) -> Arrays:
    """Read arrays of known names and shapes; None stands for any length."""
    _check_exists(path)
    return checked_arrays(path, read_archive(path, "weights"), shapes)


def read_archive(path: Path, what: str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an NPZ file."""
    try:
        # Opened here, since numpy leaves a damaged archive open.
        with path.open("rb") as opened:
            if not zipfile.is_zipfile(opened):
                raise ValueError("not a zip archive")
            opened.seek(0)
            with np.load(opened, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error, TypeError) as error:
        raise FormatError(f"no file of {what} ({error})", path=path) from error


def read_torchscript(path: Path, shapes: Mapping[str, tuple[int | None, ...]]) -> Arrays:
    """Read a public MLPF file, whose tensors are attributes of a TorchScript module."""
    torch = require("torch", extra="torch", purpose="Weights in TorchScript")
    _check_exists(path)
    try:
        with warnings.catch_warnings():
            # The public files are what they are, whatever comes after TorchScript.
            warnings.simplefilter("ignore", DeprecationWarning)
            module = torch.jit.load(str(path), map_location="cpu")
    except (RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise FormatError(f"no TorchScript file ({reason})", path=path) from error
    tensors = {name: getattr(module, public, None) for name, public in _PUBLIC_NAMES.items()}
    arrays = {
        name: tensor.detach().numpy()
        for name, tensor in tensors.items()
        if isinstance(tensor, torch.Tensor)
    }
    return checked_arrays(path, arrays, shapes)


def checked_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int | None, ...]]
) -> Arrays:
    """Return the arrays as float32, or say which one is missing or has another shape."""
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


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise ConfigError(f"`weights` must be a file; there is no {path}.")
