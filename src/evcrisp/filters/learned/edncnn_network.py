"""Layers of EDnCNN: for training, and an equivalent function with fewer operations."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import require
from evcrisp.filters.learned.encoding import PATCH_RADIUS
from evcrisp.filters.learned.weights import Arrays

if TYPE_CHECKING:
    import torch

#: Shapes of the arrays of a weights file.
SHAPES: dict[str, tuple[int, ...]] = {
    "mean": (4, 25, 25), "scale": (4, 25, 25),
    "conv1_weight": (16, 4, 3, 3), "conv1_bias": (16,),
    "conv2_weight": (32, 16, 3, 3), "conv2_bias": (32,),
    "conv3_weight": (64, 32, 3, 3), "conv3_bias": (64,),
    "dense_weight": (1, 2304), "dense_bias": (1,),
}  # fmt: skip


def layers(dropout: float = 0.5) -> "torch.nn.Sequential":
    """Return the network to train: from normalized inputs to scores of noise and of signal."""
    nn = import_torch().nn
    side = 2 * PATCH_RADIUS + 1
    blocks: list[Any] = []
    for n_in, n_out in ((4, 16), (16, 32), (32, 64)):
        blocks += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU()]
        if n_out < 64:
            blocks.append(nn.MaxPool2d(2))
    features = 64 * (side // 4) ** 2
    blocks += [nn.Dropout(dropout), nn.Flatten(), nn.Linear(features, 256), nn.Linear(256, 2)]
    return nn.Sequential(*blocks)


def fold(network: "torch.nn.Sequential", mean: "torch.Tensor", scale: "torch.Tensor") -> Arrays:
    """Return the arrays of an equivalent function with fewer operations.

    Batch normalization is merged into the convolutions. The two dense layers have no activation
    between them and only the difference of their outputs is used, so they are merged into one
    vector: 26 thousand parameters instead of 614 thousand.
    """
    nn, double = import_torch().nn, import_torch().float64
    convolutions = [layer for layer in network if isinstance(layer, nn.Conv2d)]
    norms = [layer for layer in network if isinstance(layer, nn.BatchNorm2d)]
    first, second = (layer for layer in network if isinstance(layer, nn.Linear))
    arrays = {"mean": mean, "scale": scale}
    for i, (convolution, norm) in enumerate(zip(convolutions, norms, strict=True), 1):
        factor = norm.weight.to(double) / (norm.running_var.to(double) + norm.eps).sqrt()
        arrays[f"conv{i}_weight"] = convolution.weight.to(double) * factor[:, None, None, None]
        shifted = convolution.bias.to(double) - norm.running_mean.to(double)
        arrays[f"conv{i}_bias"] = shifted * factor + norm.bias.to(double)
    signal_minus_noise = (second.weight[1] - second.weight[0]).to(double)
    arrays["dense_weight"] = (signal_minus_noise @ first.weight.to(double))[None]
    arrays["dense_bias"] = (
        signal_minus_noise @ first.bias.to(double) + second.bias[1] - second.bias[0]
    )[None]
    return {name: a.detach().cpu().numpy().astype(np.float32) for name, a in arrays.items()}


def score(arrays: "dict[str, torch.Tensor]", patches: "torch.Tensor") -> "torch.Tensor":
    """Return the probability of signal, (b,), of patches (b, 4, 25, 25)."""
    torch = import_torch()
    f = torch.nn.functional
    with torch.inference_mode(), _deterministic(patches.is_cpu):
        x = (patches - arrays["mean"]) / arrays["scale"]
        if x.is_cpu:
            # Channels last is three times as fast on the CPU and a fifth slower on a GPU.
            x = x.contiguous(memory_format=torch.channels_last)
        for i in (1, 2, 3):
            x = f.conv2d(x, arrays[f"conv{i}_weight"], arrays[f"conv{i}_bias"], padding=1)
            # Pooling before the activation gives the same result and is faster.
            x = (f.max_pool2d(x, 2) if i < 3 else x).relu_()
        x = f.linear(x.flatten(1), arrays["dense_weight"], arrays["dense_bias"])
        return torch.sigmoid(x[:, 0])


@contextmanager
def _deterministic(on_cpu: bool) -> Generator[None]:
    """Make results of torch deterministic; restore its settings afterwards."""
    torch = import_torch()
    if not on_cpu:
        with torch.backends.cudnn.flags(
            enabled=True, benchmark=False, deterministic=True, allow_tf32=False
        ):
            yield
        return
    threads = torch.get_num_threads()
    # Batches are small, so several threads are slower than one on a busy machine.
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def find_device(device: str) -> str:
    """Return a device of torch by name; "auto" is a GPU if available."""
    torch = import_torch()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        problem = "must be auto, cpu or a device that torch finds"
        remedy = f"torch reports: {str(error).splitlines()[0]}"
        raise ConfigError(problem, parameter="device", value=device, remedy=remedy) from error
    return device


def import_torch() -> Any:
    """Return the package torch; raise an error with the extra to install if it is missing."""
    return require("torch", extra="torch", purpose="Training and 'edncnn'")
