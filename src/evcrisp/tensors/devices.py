"""Names of devices, and what they need.

======================  =============================================================
``"cpu"``               the compiled kernels; the default
``"cuda"``, "cuda:N"    an NVIDIA GPU, through torch
``"auto"``              a GPU if torch finds one, or else the CPU, which is said
``"torch-cpu"``         torch on the CPU: the reference of the GPU, for tests; slow
======================  =============================================================
"""

import logging
from functools import lru_cache
from typing import Any

from evcrisp.core.errors import ConfigError, MissingExtraError
from evcrisp.tensors.lazy import torch

_LOG = logging.getLogger(__name__)

#: Devices by name; "cuda:N" is the N-th GPU.
DEVICES = ("cpu", "cuda", "auto", "torch-cpu")


def torch_device(device: str) -> Any:
    """Return the torch device of a name, or None for the compiled kernels.

    >>> torch_device("cpu") is None
    True
    """
    kind, colon, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if kind not in DEVICES or (colon and not (kind == "cuda" and number.isdecimal())):
        known = "must be one of " + ", ".join(map(repr, DEVICES)) + ", or 'cuda:N'"
        raise ConfigError(known, parameter="device", value=device)
    if kind == "cpu":
        return None
    if kind == "auto":
        reason = _why_no_gpu()
        if reason is not None:
            say_once(f"Device 'auto' is the CPU: {reason}.")
            return None
        return torch.device("cuda")
    if kind == "torch-cpu":
        return torch.device("cpu")
    _check_gpu(device, int(number or 0))
    return torch.device(device)


def _why_no_gpu() -> str | None:
    """Return why there is no GPU to use, or None."""
    try:
        n_devices = torch.cuda.device_count()
    except MissingExtraError as error:
        return str(error).rstrip(".")
    return None if n_devices else "torch finds no CUDA device"


def _check_gpu(device: str, number: int) -> None:
    n_devices = torch.cuda.device_count()
    if number < n_devices:
        return
    found = "no CUDA device" if not n_devices else f"{n_devices} CUDA device(s)"
    raise ConfigError(
        f"needs a GPU that is not there: torch finds {found}",
        parameter="device", value=device,
        remedy="Use 'cpu', or 'auto', which takes a GPU if there is one. A build of torch without "
        "CUDA finds none.",
    )  # fmt: skip


@lru_cache(maxsize=16)
def say_once(text: str) -> None:
    """Log a warning once, not for every window."""
    _LOG.warning(text)
