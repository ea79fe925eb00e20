"""Event-by-event denoisers: one file each, state carried across chunks."""

from evcrisp.filters._protocol import About, Denoiser, Labels, Stream
from evcrisp.filters.baf import Baf
from evcrisp.filters.denoising import denoise, denoiser
from evcrisp.filters.raw import Raw
from evcrisp.filters.table import DENOISERS

__all__ = [
    "DENOISERS",
    "About",
    "Baf",
    "Denoiser",
    "Labels",
    "Raw",
    "Stream",
    "denoise",
    "denoiser",
]
