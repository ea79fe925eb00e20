"""Balanced samples of events for training."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.filters.learned.edncnn_network import import_torch
from evcrisp.training.recordings import LabeledRecordings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class BalancedSampler:
    """Samples all recordings equally often, and signal and noise equally often in each."""

    members: "torch.Tensor"  # (n,) events, grouped by recording and label
    start: "torch.Tensor"  # (n_recordings, 2), noise and signal
    count: "torch.Tensor"  # (n_recordings, 2)

    @classmethod
    def build(cls, recordings: LabeledRecordings, device: str) -> "BalancedSampler":
        """Group the events by label; skip recordings without signal or without noise."""
        torch = import_torch()
        members, starts, counts, offset, start = [], [], [], 0, 0
        for events in recordings.events:
            groups = [np.flatnonzero(np.asarray(events.signal) == label) for label in (0, 1)]
            if all(group.size for group in groups):
                members += [offset + group for group in groups]
                starts.append((start, start + groups[0].size))
                counts.append([group.size for group in groups])
                start += len(events)
            offset += len(events)
        if not members:
            raise ConfigError("`recordings` must have signal and noise; got only one of them.")
        return cls(
            torch.from_numpy(np.concatenate(members)).to(device),
            torch.tensor(starts, device=device),
            torch.tensor(counts, device=device),
        )

    def __call__(self, n: int) -> "tuple[torch.Tensor, torch.Tensor]":
        """Return n random events, and their labels as float32."""
        torch = import_torch()
        device = self.members.device
        # Random numbers come from the CPU generator, so that they are equal on all devices.
        recording = torch.randint(len(self.start), (n,)).to(device)
        signal = torch.randint(2, (n,)).to(device)
        place = torch.rand(n, dtype=torch.float64).to(device)
        count = self.count[recording, signal]
        which = self.start[recording, signal] + (place * count).long()
        return self.members[which], signal.float()
