"""Train a network on labeled recordings, judge it on held-out ones, and write what came out."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.registry import lookup
from evcrisp.filters.learned.edncnn_network import checked_device
from evcrisp.training.lookup import EventTable
from evcrisp.training.networks import NETWORKS, Arrays, Network
from evcrisp.training.recordings import LabeledRecordings
from evcrisp.training.sampler import BalancedDraws
from evcrisp.filters.learned.torch_import import import_torch
from evcrisp.training.validation import judged

if TYPE_CHECKING:
    import torch

__all__ = ["NETWORKS", "Trained", "TrainingConfig", "train", "write_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """How long and where to train.

    Parameters
    ----------
    epochs : int
        Number of epochs; the learning rate falls to zero over all of them.
    samples : int
        Events that are drawn in each epoch: recordings in equal parts, half signal, half noise.
    device : {"auto", "cpu", "cuda"}
        Where to train; "auto" takes an accelerator if there is one.
    seed : int
        Same seed, recordings and machine, same weights. (On an accelerator, sums of gradients are
        not always added in one order.)
    test_events : int
        Greatest number of events of a held-out recording that are judged.
    """

    epochs: int = 10
    samples: int = 1_000_000
    device: str = "auto"
    seed: int = 0
    test_events: int = 20_000

    def __post_init__(self) -> None:
        for name in ("epochs", "samples", "test_events"):
            if getattr(self, name) < 1:
                raise ConfigError(f"`{name}` must be 1 or more; got {getattr(self, name)}.")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ConfigError(f"`device` must be auto, cpu or cuda; got {self.device!r}.")


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Weights, and everything about how they came to be."""

    arrays: Arrays
    losses: tuple[float, ...]  # mean of each epoch
    card: dict[str, Any]


def train(
    name: str,
    recordings: LabeledRecordings,
    config: TrainingConfig | None = None,
    on_epoch: Callable[[int, float], None] | None = None,
) -> Trained:
    """Train the network of a denoiser.

    Parameters
    ----------
    name : str
        "mlpf" or "edncnn".
    recordings : LabeledRecordings
        To learn from and to be judged on.
    config : TrainingConfig, optional
        How long and where.
    on_epoch : callable, optional
        Told the number of epochs done, and the mean loss of the last one.
    """
    network = lookup(NETWORKS, name, "network")
    config = TrainingConfig() if config is None else config
    torch = import_torch()
    device = checked_device(config.device)
    accelerators = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.random.fork_rng(accelerators):
        torch.manual_seed(config.seed)
        model, losses = _fitted(network, recordings.training, config, device, on_epoch)
    levels = judged(network, model, recordings.held_out, config.test_events, device)
    card = {
        "about": f"Weights of the denoiser {name!r}, trained on simulated recordings of evcrisp alone.",
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


def _fitted(
    network: Network,
    recordings: LabeledRecordings,
    config: TrainingConfig,
    device: str,
    on_epoch: Callable[[int, float], None] | None,
) -> "tuple[torch.nn.Module, list[float]]":
    torch = import_torch()
    table = EventTable.build(recordings.events, network.radius, network.planes, device)
    draws = BalancedDraws.build(recordings, device)
    batch = min(network.batch, config.samples)
    model = network.build(network.inputs(table, draws(16 * batch)[0])).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=network.learning_rate)
    n_steps = max(1, config.samples // batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.epochs * n_steps)
    losses = []
    for epoch in range(config.epochs):
        total = torch.zeros((), device=device)
        for _ in range(n_steps):
            index, signal = draws(batch)
            inputs = network.turned(network.inputs(table, index), torch.randint(8, ()))
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
