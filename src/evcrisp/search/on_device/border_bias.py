"""Contrast that is lost at the border of the view, of many windows; see `search.border_bias`."""

from dataclasses import dataclass, replace

from evcrisp.search.on_device.problem import Problem
from evcrisp.tensors.lazy import Tensor, torch

_PER_SIDE = 8  # segments of each side of the border


@dataclass(frozen=True, slots=True, eq=False)
class BorderBiases:
    """Loss of contrast at the border, as a function of scaled parameters, of each window."""

    rows: Tensor  # (b, k, m) displacement of border segments along their normal
    loss_per_px: Tensor  # (b, k)
    soft_px: Tensor  # (b,) smaller displacements lose nothing

    @classmethod
    def of(cls, problem: Problem, scale: Tensor) -> "BorderBiases":
        """Return the loss for the views of the events, on maps of a scale, (b,)."""
        left, top, right, bottom = problem.sides.unbind(1)
        size = torch.stack((bottom - top, right - left), 1)
        rate = torch.repeat_interleave(1.0 / (6.0 * size), 2, 1) * problem.density_at_sides()
        per_px = torch.repeat_interleave(rate / _PER_SIDE, _PER_SIDE, 1)
        return cls(_side_rows(problem), per_px, 2.0 * (0.5 * scale.double()))

    def taken(self, chosen: Tensor) -> "BorderBiases":
        """Return those of some of the windows, by number."""
        columns = self.rows, self.loss_per_px, self.soft_px
        return BorderBiases(*(column.index_select(0, chosen) for column in columns))

    def where(self, mask: Tensor) -> "BorderBiases":
        """Return no loss for the windows that are not marked, (b,) bool."""
        return replace(self, loss_per_px=torch.where(mask[:, None], self.loss_per_px, 0.0))

    def loss(self, scaled: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss at ``scaled``, (b,), and its gradient, (b, m)."""
        moved = (self.rows @ scaled[:, :, None])[:, :, 0]
        soft = self.soft_px[:, None]
        size = torch.sqrt(moved * moved + soft * soft)
        slope = (self.loss_per_px * moved / size)[:, None] @ self.rows
        return (self.loss_per_px * (size - soft)).sum(1), slope[:, 0]


def _side_rows(problem: Problem) -> Tensor:
    """Return the displacement of segments of the upper, lower, left and right side, (b, k, m)."""
    left, top, right, bottom = (side[:, None] for side in problem.sides.unbind(1))
    steps = (torch.arange(_PER_SIDE, dtype=left.dtype, device=left.device) + 0.5) / _PER_SIDE
    across, down = left + steps * (right - left), top + steps * (bottom - top)
    m, ones = problem.frames.rates.shape[1], torch.ones_like(across)
    # The normal of a side points along y or x.
    upright = torch.cat((left * ones, right * ones), 1), torch.cat((down, down), 1)
    level = torch.cat((across, across), 1), torch.cat((top * ones, bottom * ones), 1)
    along_x, _ = problem.model.velocities(*upright, m)
    _, along_y = problem.model.velocities(*level, m)
    return torch.cat((along_y, along_x), 1) @ problem.frames.inverse_rates
