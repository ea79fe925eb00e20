"""Event-by-event denoisers: one file each, state carried across chunks."""

from evcrisp.filters.bursts.hot_pixel import HotPixel
from evcrisp.filters.bursts.iets import Iets
from evcrisp.filters.bursts.refractory import Refractory
from evcrisp.filters.bursts.stc import Stc
from evcrisp.filters.bursts.trail import Trail
from evcrisp.filters.denoising import denoise, denoise_chunks, denoiser
from evcrisp.filters.density.dbscan import Dbscan
from evcrisp.filters.density.density import Density
from evcrisp.filters.density.fastdecay import FastDecay
from evcrisp.filters.density.hashheat import HashHeat
from evcrisp.filters.density.pugm import Pugm
from evcrisp.filters.density.red import Red
from evcrisp.filters.learned.edncnn import Edncnn
from evcrisp.filters.learned.mlpf import Mlpf
from evcrisp.filters.neighborhood.activity import Activity
from evcrisp.filters.neighborhood.baf import Baf
from evcrisp.filters.neighborhood.dwf import Dwf
from evcrisp.filters.neighborhood.evflow import EvFlow
from evcrisp.filters.neighborhood.knoise import KNoise
from evcrisp.filters.neighborhood.padala import Padala
from evcrisp.filters.neighborhood.stcf import Stcf
from evcrisp.filters.neighborhood.ts import Ts
from evcrisp.filters.neighborhood.ynoise import YNoise
from evcrisp.filters.protocol import About, Denoiser, Labels, Stream
from evcrisp.filters.raw import Raw
from evcrisp.filters.registry import DENOISERS

__all__ = [
    "DENOISERS",
    "About",
    "Activity",
    "Baf",
    "Dbscan",
    "Denoiser",
    "Density",
    "Dwf",
    "Edncnn",
    "EvFlow",
    "FastDecay",
    "HashHeat",
    "HotPixel",
    "Iets",
    "KNoise",
    "Labels",
    "Mlpf",
    "Padala",
    "Pugm",
    "Raw",
    "Red",
    "Refractory",
    "Stc",
    "Stcf",
    "Stream",
    "Trail",
    "Ts",
    "YNoise",
    "denoise",
    "denoise_chunks",
    "denoiser",
]
