"""Train a network on labeled recordings, validate it, and write the weights."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.registry import lookup
from evcrisp.core.validation import check_choice, check_number
from evcrisp.filters.learned.edncnn_network import find_device, import_torch
from evcrisp.filters.learned.weights import Arrays
from evcrisp.training.lookup import EventTable
from evcrisp.training.networks import NETWORKS, Network
from evcrisp.training.recordings import LabeledRecordings
from evcrisp.training.sampler import BalancedSampler
from evcrisp.training.validation import validate

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
        Seed. Equal seed, recordings and CPU give equal weights; on a GPU the order of summation of
        gradients varies.
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
    levels = validate(network, model, recordings.held_out, config.test_events, device)
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
    arrays: dict[str, Any] = dict(trained.arrays)
    with weights.open("wb") as file:
        np.savez_compressed(file, **arrays)
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
    sampler = BalancedSampler.build(recordings, device)
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
