"""Age of the k-th newest last event of the neighbors; see `kernels.filters.neighborhood`."""

from dataclasses import dataclass
from typing import Any

from evcrisp.filters.neighborhood.recent_neighbors import NeighborRule
from evcrisp.filters.on_device.last_events import NEVER, Chunk, LastEvents
from evcrisp.tensors.lazy import Tensor, torch


@dataclass(frozen=True, slots=True, eq=False)
class NeighborScores:
    """Scores of a `NeighborRule`."""

    rule: NeighborRule

    def state(self, resolution: tuple[int, int], device: Any) -> LastEvents:
        """Return the state before a recording."""
        return LastEvents(resolution, self.rule.radius, device, self.rule.zero_start)

    def label(self, chunk: Chunk) -> tuple[Tensor, Tensor]:
        """Return signal and score of the events of a chunk."""
        rule = self.rule
        newest = [torch.full_like(chunk.t, NEVER) for _ in range(rule.k)]
        for dx, dy in rule.offsets():
            time, polarity = chunk.before(dx, dy)
            if rule.same_polarity:
                time = torch.where(polarity == chunk.p, time, NEVER)
            for k, known in enumerate(newest):  # newest first; the older of two moves on
                newest[k], time = torch.maximum(known, time), torch.minimum(known, time)
        # As a tensor: torch divides a number by a tensor by a reciprocal, which rounds twice.
        found = newest[-1]
        tau = torch.tensor(float(rule.tau_us), dtype=torch.float64, device=found.device)
        score = tau / (tau + (chunk.t - found).to(torch.float64))
        score = torch.where((found != NEVER) & self._passes(chunk), score, 0.0)
        return score >= 0.5, score

    def _passes(self, chunk: Chunk) -> Tensor:
        """Return whether events pass the tests on the last event of their own pixel."""
        rule = self.rule
        passed = torch.ones_like(chunk.t, dtype=torch.bool)
        if not (rule.drop_first or rule.refractory_us or rule.pair_us):
            return passed
        last, polarity = chunk.before(0, 0)
        is_first, age = last == NEVER, chunk.t - last
        if rule.drop_first:
            passed &= ~is_first
        if rule.refractory_us:
            passed &= is_first | (age > rule.refractory_us)
        if rule.pair_us:
            passed &= is_first | (polarity == chunk.p) | (age > rule.pair_us)
        return passed
