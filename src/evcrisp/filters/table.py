"""The denoisers by name."""

from evcrisp.filters._protocol import Denoiser
from evcrisp.filters.activity import Activity
from evcrisp.filters.baf import Baf
from evcrisp.filters.dbscan import Dbscan
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
from evcrisp.filters.trail import Trail
from evcrisp.filters.ts import Ts
from evcrisp.filters.ynoise import YNoise

_ALL: tuple[type[Denoiser], ...] = (
    Raw,
    Baf,
    Stcf,
    Dwf,
    KNoise,
    YNoise,
    Density,
    Ts,
    Refractory,
    HotPixel,
    Padala,
    EvFlow,
    HashHeat,
    Activity,
    Stc,
    Trail,
    FastDecay,
    Red,
    Iets,
    Pugm,
    Dbscan,
    Mlpf,
    Edncnn,
)

#: Denoisers by name.
DENOISERS: dict[str, type[Denoiser]] = {kind.name: kind for kind in _ALL}
