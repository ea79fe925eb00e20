"""Train the networks of filters on simulated recordings with exact labels.

::

    scenes (random, by seed) -> recordings (one file) -> lookup (network inputs, in torch)
                                                         -> mlpf | edncnn -> weights and model card

Simulation needs the compiled kernels. Training from the file of recordings needs only numpy and
torch, so it also runs on a machine with a GPU and few packages.
"""

from evcrisp.training.networks import NETWORKS
from evcrisp.training.recordings import LabeledRecordings, simulate_recordings
from evcrisp.training.train import TrainingConfig, train, write_model

__all__ = [
    "NETWORKS", "LabeledRecordings", "TrainingConfig", "simulate_recordings", "train", "write_model",
]  # fmt: skip
