"""Warps of a motion model on tensors, with the numbers of each window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.motion import MotionModel
from evcrisp.motion.protocol import camera_of
from evcrisp.tensors.cuda.kernels import kernels_of
from evcrisp.tensors.lazy import Tensor, torch
from evcrisp.tensors.lens import Distort, distortion_of
from evcrisp.tensors.rows import Rows

#: Kernels that have a twin on tensors.
KERNELS = ("translation", "similarity", "affine", "homography", "rotation")

#: Motion models that they make.
MODELS = ("translation", "rotation", "rigid", "zoom", "similarity", "affine", "homography")

_STEP = 1e-5  # of a parameter, for differences; as in `search.scaling`

Columns = Sequence[Tensor]


@dataclass(frozen=True, slots=True, eq=False)
class ModelOperations:
    """A motion model for a batch of windows; every window has constants of its own."""

    warp_rows: Callable[..., Columns]
    unwarp_rows: Callable[..., Columns]
    pull_back_rows: Callable[..., Columns]
    kernel_name: str
    n_fixed: int
    n_fixed_last: int
    uses_rays: bool
    is_uniform: bool  # whether all points move alike
    can_collapse: bool
    distort: Distort | None  # of the lens
    constants: Tensor  # (b, c) of the kernels, such as a center

    @classmethod
    def of(cls, models: Sequence[MotionModel], device: Any) -> "ModelOperations":
        """Return the operations of the models of the windows, which differ in constants only."""
        first = models[0]
        name = getattr(first, "kernel_name", "") or first.name
        if name not in KERNELS or first.name not in MODELS:
            raise ConfigError(
                f"has no twin on this device; there are {', '.join(MODELS)}",
                parameter="motion", value=first.name, remedy="Use the device 'cpu'.",
            )  # fmt: skip
        kernel = import_module(f"evcrisp.tensors.motion.{name}")
        of_model = {m: np.concatenate([*m.kernel_constants(), ()]) for m in set(models)}
        constants = np.stack([of_model[m] for m in models])
        uniform = first.uniform_velocity(np.zeros(len(first.param_names))) is not None
        return cls(
            kernel.warp, kernel.unwarp, kernel.pull_back, name, first.n_fixed, first.n_fixed_last,
            first.uses_rays, uniform, first.can_collapse, distortion_of(camera_of(first)),
            torch.from_numpy(constants).to(device),
        )  # fmt: skip

    def taken(self, chosen: Tensor) -> "ModelOperations":
        """Return the operations of some of the windows, by number."""
        return replace(self, constants=self.constants.index_select(0, chosen))

    def warp(self, theta: Tensor, x: Tensor, y: Tensor, dt: Tensor, rows: Rows) -> Columns:
        """Return positions, px, of points at motions ``theta``, (b, m), of the rows."""
        return self.warp_rows(self._numbers(theta, rows), x, y, dt, self._constants(rows))

    def pull_back(
        self, theta: Tensor, x: Tensor, y: Tensor, dt: Tensor, rows: Rows, gx: Tensor, gy: Tensor
    ) -> Tensor:
        """Return the sum over each row of the gradient by ``theta``, shape (b, m)."""
        parts = self.pull_back_rows(
            self._numbers(theta, rows), x, y, dt, self._constants(rows), gx, gy
        )
        used = parts[self.n_fixed : len(parts) - self.n_fixed_last]
        return torch.stack([rows.sum(part) for part in used], 1)

    def warp_points(self, theta: Tensor, x: Tensor, y: Tensor, dt: Tensor) -> Columns:
        """Return positions of k points of every window, all of shape (b, k)."""
        columns = [column[:, None] for column in self.padded(theta).unbind(1)]
        return self.warp_rows(columns, x, y, dt, [c[:, None] for c in self.constants.unbind(1)])

    def inverse(self, theta: Tensor, x: Tensor, y: Tensor, dt: Tensor, rows: Rows) -> Columns:
        """Return the pixels at times ``dt``, s, of ideal pixels given at the reference time."""
        constants = self._constants(rows)
        x, y = self.unwarp_rows(self._numbers(theta, rows), x, y, dt, constants)
        if self.distort is None:
            return x, y
        fx, fy, cx, cy = constants
        x, y = self.distort((x - cx) / fx, (y - cy) / fy)
        return fx * x + cx, fy * y + cy

    def points(self, x: Tensor, y: Tensor) -> Columns:
        """Return ideal pixels, (b, k), as the kernels take them."""
        if not self.uses_rays:
            return x, y
        fx, fy, cx, cy = (column[:, None] for column in self.constants.unbind(1))
        return (x - cx) / fx, (y - cy) / fy

    def velocities(self, x: Tensor, y: Tensor, m: int) -> Columns:
        """Return velocities per unit of each parameter at ideal pixels, (b, k, m) along x and y."""
        points = self.points(x, y)
        kernels = kernels_of("placing.cu", x.device, MODEL=self.kernel_name.capitalize())
        if kernels is not None:
            b, k = points[0].shape
            out = torch.empty((2, b, k, m), dtype=torch.float64, device=x.device)
            kernels.launch_each(
                "velocities", b * k, points[0].contiguous(), points[1].contiguous(), b * k, k,
                self.constants.contiguous(), self.constants.shape[1], self.n_fixed, m, _STEP, out[0], out[1],
            )  # fmt: skip
            return tuple(out.unbind(0))
        one, columns = torch.ones_like(x), []
        for step in _STEP * torch.eye(m, dtype=x.dtype, device=x.device):
            theta = step.expand(x.shape[0], m)
            ahead = self.warp_points(-theta, *points, one)
            behind = self.warp_points(theta, *points, one)
            columns.append([(a - b) / (2.0 * _STEP) for a, b in zip(ahead, behind, strict=True)])
        return tuple(torch.stack([column[axis] for column in columns], -1) for axis in (0, 1))

    def padded(self, theta: Tensor) -> Tensor:
        """Return the parameters of the kernels, (b, k), of motions, (b, m)."""
        return torch.nn.functional.pad(theta, (self.n_fixed, self.n_fixed_last))

    def _numbers(self, theta: Tensor, rows: Rows) -> Columns:
        return [rows.spread(column) for column in self.padded(theta).unbind(1)]

    def _constants(self, rows: Rows) -> Columns:
        return [rows.spread(column) for column in self.constants.unbind(1)]
