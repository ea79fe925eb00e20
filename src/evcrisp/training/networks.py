"""Networks that can be trained: inputs, layers, settings and arrays of weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.filters.learned.edncnn_network import fold, import_torch, layers
from evcrisp.filters.learned.encoding import MLPF_RADIUS, PATCH_RADIUS, TAU_US
from evcrisp.filters.learned.weights import Arrays
from evcrisp.training.lookup import EventTable, edncnn_inputs, mlpf_inputs

if TYPE_CHECKING:
    import torch

_N_HIDDEN = 20


@dataclass(frozen=True, slots=True)
class Network:
    """Settings and functions to train one network."""

    radius: int  # of the patch, px
    planes: int  # 2 if the histories of ON and OFF are separate
    batch: int
    learning_rate: float
    inputs: "Callable[[EventTable, torch.Tensor], torch.Tensor]"
    augment: "Callable[[torch.Tensor, torch.Tensor], torch.Tensor]"  # mirror or transpose inputs
    build: "Callable[[torch.Tensor], torch.nn.Module]"  # from example inputs; its outputs are logits (b,)
    arrays: "Callable[[torch.nn.Module], Arrays]"


def _mlpf(inputs: "torch.Tensor") -> "torch.nn.Module":
    nn = import_torch().nn
    return nn.Sequential(
        nn.Linear(inputs.shape[1], _N_HIDDEN), nn.ReLU(), nn.Linear(_N_HIDDEN, 1), nn.Flatten(0)
    )


def _mlpf_arrays(model: Any) -> Arrays:
    tensors = {}
    for name, layer in (("hidden", model[0]), ("output", model[2])):
        tensors |= {f"{name}_kernel": layer.weight.T, f"{name}_bias": layer.bias}
    return {name: np.ascontiguousarray(a.detach().cpu().numpy()) for name, a in tensors.items()}


def _augment_mlpf(inputs: "torch.Tensor", code: "torch.Tensor") -> "torch.Tensor":
    side = 2 * MLPF_RADIUS + 1
    return _augment(inputs.reshape(-1, 2, side, side), code).reshape(inputs.shape)


def _edncnn(inputs: "torch.Tensor") -> "torch.nn.Module":
    """Return the layers with normalized inputs; the output is signal minus noise."""
    torch = import_torch()

    class Edncnn(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = layers()
            self.register_buffer("mean", inputs.mean(0))
            self.register_buffer("scale", inputs.std(0).clamp_min(0.1))

        def forward(self, patches: "torch.Tensor") -> "torch.Tensor":
            scores = self.layers((patches - self.mean) / self.scale)
            return scores[:, 1] - scores[:, 0]

    return Edncnn().to(inputs.device)


def _edncnn_arrays(model: Any) -> Arrays:
    return fold(model.layers, model.mean, model.scale)


def _augment(images: "torch.Tensor", code: "torch.Tensor") -> "torch.Tensor":
    """Mirror and transpose (b, c, h, w), because scenes can move in any direction."""
    axes = [axis for axis in (2, 3) if int(code) >> (axis - 2) & 1]
    images = images.flip(axes) if axes else images
    return images.transpose(2, 3) if int(code) & 4 else images


#: Networks by the name of their filter.
NETWORKS: dict[str, Network] = {
    "mlpf": Network(
        radius=MLPF_RADIUS,
        planes=1,
        batch=4096,
        learning_rate=5e-3,
        inputs=lambda table, index: mlpf_inputs(table, index, TAU_US),
        augment=_augment_mlpf,
        build=_mlpf,
        arrays=_mlpf_arrays,
    ),
    "edncnn": Network(
        radius=PATCH_RADIUS,
        planes=2,
        batch=2048,
        learning_rate=1e-3,
        inputs=edncnn_inputs,
        augment=_augment,
        build=_edncnn,
        arrays=_edncnn_arrays,
    ),
}
