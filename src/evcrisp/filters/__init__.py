"""Event-by-event denoisers: one file each, state carried across chunks."""

from evcrisp.filters._protocol import About, Denoiser, Labels, Stream
from evcrisp.filters.activity import Activity
from evcrisp.filters.baf import Baf
from evcrisp.filters.dbscan import Dbscan
from evcrisp.filters.denoising import denoise, denoise_chunks, denoiser
from evcrisp.filters.density import Density
from evcrisp.filters.dwf import Dwf
from evcrisp.filters.edncnn import Edncnn
from evcrisp.filters.evflow import EvFlow
from evcrisp.filters.fastdecay import FastDecay
from evcrisp.filters.hashheat import HashHeat
from evcrisp.filters.hot_pixel import HotPixel
from evcrisp.filters.iets import Iets
from evcrisp.filters.knoise import KNoise
from evcrisp.filters.mlpf import Mlpf
from evcrisp.filters.padala import Padala
from evcrisp.filters.pugm import Pugm
from evcrisp.filters.raw import Raw
from evcrisp.filters.red import Red
from evcrisp.filters.refractory import Refractory
from evcrisp.filters.stc import Stc
from evcrisp.filters.stcf import Stcf
from evcrisp.filters.table import DENOISERS
from evcrisp.filters.trail import Trail
from evcrisp.filters.ts import Ts
from evcrisp.filters.ynoise import YNoise

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
