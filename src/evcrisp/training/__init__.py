"""Train the networks among the denoisers on simulated recordings whose labels are known.

::

    scenes (random, by seed) -> recordings (one file) -> lookup (inputs of the networks, in torch)
                                                         -> mlpf | edncnn -> weights and model card

Simulating needs the compiled kernels; everything after the file of recordings needs numpy and torch
only, so that it runs on a machine with an accelerator and little else.
"""

from evcrisp.training.recordings import LabeledRecordings, simulate_recordings
from evcrisp.training.train import NETWORKS, TrainingConfig, train, write_model

__all__ = [
    "NETWORKS",
    "LabeledRecordings",
    "TrainingConfig",
    "simulate_recordings",
    "train",
    "write_model",
]
