"""Validation of a network on held-out recordings."""

from typing import TYPE_CHECKING

import numpy as np

from evcrisp.filters.learned.edncnn_network import import_torch
from evcrisp.metrics import rank_auc, sensitivity, specificity
from evcrisp.training.lookup import EventTable
from evcrisp.training.networks import Network
from evcrisp.training.recordings import LabeledRecordings

if TYPE_CHECKING:
    import torch


def validate(
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
