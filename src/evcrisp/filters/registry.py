"""The denoisers by name."""

from evcrisp.filters.bursts.hot_pixel import HotPixel
from evcrisp.filters.bursts.iets import Iets
from evcrisp.filters.bursts.refractory import Refractory
from evcrisp.filters.bursts.stc import Stc
from evcrisp.filters.bursts.trail import Trail
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
from evcrisp.filters.protocol import Denoiser
from evcrisp.filters.raw import Raw

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
