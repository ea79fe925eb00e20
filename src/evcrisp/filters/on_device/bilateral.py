"""Sum of the linear weights of the last events around; see `kernels.filters.neighborhood.ebf`."""

from dataclasses import dataclass
from typing import Any

from evcrisp.filters.neighborhood.ebf import Ebf
from evcrisp.filters.on_device.last_events import NEVER, Chunk, LastEvents
from evcrisp.tensors.lazy import Tensor, torch


@dataclass(frozen=True, slots=True, eq=False)
class BilateralScores:
    """Scores of `Ebf`."""

    config: Ebf

    def state(self, resolution: tuple[int, int], device: Any) -> LastEvents:
        """Return the state before a recording."""
        return LastEvents(resolution, self.config.radius, device)

    def label(self, chunk: Chunk) -> tuple[Tensor, Tensor]:
        """Return signal and score of the events of a chunk."""
        radius, tau = self.config.radius, float(self.config.tau_us)
        total = torch.zeros_like(chunk.t, dtype=torch.float64)
        steps = range(-radius, radius + 1)
        for dx, dy in ((dx, dy) for dy in steps for dx in steps if dx or dy):
            time, polarity = chunk.before(dx, dy)
            counts = (time != NEVER) & (polarity == chunk.p)
            rest = (tau - (chunk.t - time).to(torch.float64)).clamp(min=0.0)
            total += torch.where(counts, rest, 0.0)
        score = total / torch.tensor(tau, dtype=torch.float64, device=total.device)  # rounded once
        return score > self.config.threshold, score
