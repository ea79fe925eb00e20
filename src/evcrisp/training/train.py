"""Train a network on labeled recordings, validate it, and write the weights."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.core.validation import check_choice, check_number
from evcrisp.filters.learned.edncnn_network import find_device, import_torch
from evcrisp.filters.learned.weights import Arrays
from evcrisp.metrics import rank_auc, sensitivity, specificity
from evcrisp.training.lookup import EventTable
from evcrisp.training.networks import NETWORKS, Network
from evcrisp.training.recordings import LabeledRecordings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """Duration and device of a training.

    Parameters
    ----------
    epochs : int
        Number of epochs; the learning rate decreases to zero over all of them.
    samples : int
        Events per epoch, from all recordings equally, half signal and half noise.
    device : {"auto", "cpu", "cuda"}
        Device; "auto" is a GPU if available.
    seed : int
        Equal seed, recordings and CPU give equal weights; on a GPU the order of sums varies.
    test_events : int
        Maximum number of events per held-out recording in the validation.
    """

    epochs: int = 10
    samples: int = 1_000_000
    device: str = "auto"
    seed: int = 0
    test_events: int = 20_000

    def __post_init__(self) -> None:
        for name in ("epochs", "samples", "test_events"):
            check_number(name, getattr(self, name), 1)
        check_choice("device", self.device, ("auto", "cpu", "cuda"))


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Weights of a network, with a description of their training."""

    arrays: Arrays
    losses: tuple[float, ...]  # mean of each epoch
    card: dict[str, Any]


def train(
    name: str,
    recordings: LabeledRecordings,
    config: TrainingConfig | None = None,
    on_epoch: Callable[[int, float], None] | None = None,
) -> Trained:
    """Train the network of a filter.

    Parameters
    ----------
    name : str
        "mlpf" or "edncnn".
    recordings : LabeledRecordings
        Training and held-out recordings.
    config : TrainingConfig, optional
        Duration and device.
    on_epoch : callable, optional
        Called with the number of finished epochs and the mean loss of the last one.
    """
    network = lookup(NETWORKS, name, "network")
    config = TrainingConfig() if config is None else config
    torch = import_torch()
    device = find_device(config.device)
    accelerators = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.random.fork_rng(accelerators):
        torch.manual_seed(config.seed)
        model, losses = _fit(network, recordings.training, config, device, on_epoch)
    levels = _validate(network, model, recordings.held_out, config.test_events, device)
    card = {
        "about": f"Weights of the filter {name!r}, trained on simulated recordings of evcrisp alone.",
        "network": name,
        "parameters": sum(p.numel() for p in model.parameters()),
        "training": {**asdict(config), "device": device, "torch": str(torch.__version__)},
        "data": {
            "recordings": len(recordings.training),
            "events": sum(map(len, recordings.training.events)),
            "seed": recordings.seed,
        },
        "losses": [round(loss, 5) for loss in losses],
        "held_out": levels,
    }
    return Trained(network.arrays(model), tuple(losses), card)


def write_model(weights: Path, card: Path, trained: Trained) -> None:
    """Write the weights (NPZ) and the card (JSON)."""
    with weights.open("wb") as file:
        np.savez_compressed(file, **dict[str, Any](trained.arrays))
    card.write_text(json.dumps(trained.card, indent=2) + "\n")


def _fit(
    network: Network,
    recordings: LabeledRecordings,
    config: TrainingConfig,
    device: str,
    on_epoch: Callable[[int, float], None] | None,
) -> "tuple[torch.nn.Module, list[float]]":
    torch = import_torch()
    table = EventTable.build(recordings.events, network.radius, network.planes, device)
    sampler = _BalancedSampler.build(recordings, device)
    batch = min(network.batch, config.samples)
    model = network.build(network.inputs(table, sampler(16 * batch)[0])).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=network.learning_rate)
    n_steps = max(1, config.samples // batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.epochs * n_steps)
    losses = []
    for epoch in range(config.epochs):
        total = torch.zeros((), device=device)
        for _ in range(n_steps):
            index, signal = sampler(batch)
            inputs = network.augment(network.inputs(table, index), torch.randint(8, ()))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(inputs), signal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach()
        losses.append(float(total) / n_steps)
        if on_epoch is not None:
            on_epoch(epoch + 1, losses[-1])
    return model.eval(), losses


@dataclass(frozen=True, slots=True, eq=False)
class _BalancedSampler:
    """Samples all recordings equally often, and signal and noise equally often in each."""

    members: "torch.Tensor"  # (n,) events, grouped by recording and label
    start: "torch.Tensor"  # (n_recordings, 2), noise and signal
    count: "torch.Tensor"  # (n_recordings, 2)

    @classmethod
    def build(cls, recordings: LabeledRecordings, device: str) -> "_BalancedSampler":
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
        tensors = (torch.tensor(rows, device=device) for rows in (starts, counts))
        return cls(torch.from_numpy(np.concatenate(members)).to(device), *tensors)

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


def _validate(
    network: Network,
    model: "torch.nn.Module",
    recordings: LabeledRecordings,
    max_events: int,
    device: str,
) -> list[dict[str, float]]:
    """Return mean AUC and balanced accuracy per noise level."""
    torch = import_torch()
    rows: dict[float, list[tuple[float, float]]] = {}
    for events, level in zip(recordings.events, recordings.level_hz.tolist(), strict=True):
        table = EventTable.build([events], network.radius, network.planes, device)
        chosen = torch.arange(len(events), device=device)[:: max(1, len(events) // max_events)]
        with torch.inference_mode():
            parts = [model(network.inputs(table, part)) for part in chosen.split(network.batch)]
            score = torch.sigmoid(torch.cat(parts)).double().cpu().numpy()
        truth = np.asarray(events.signal)[chosen.cpu().numpy()]
        keep = score >= 0.5
        balanced = 0.5 * (sensitivity(keep, truth) + specificity(keep, truth))
        rows.setdefault(level, []).append((rank_auc(score, truth), balanced))
    return [
        {
            "noise_hz": level,
            "recordings": len(row),
            "auc": round(float(np.nanmean([auc for auc, _ in row])), 4),
            "balanced_accuracy": round(float(np.nanmean([balanced for _, balanced in row])), 4),
        }
        for level, row in sorted(rows.items())
    ]
