"""The denoisers by name."""

from evcrisp.filters._protocol import Denoiser
from evcrisp.filters.baf import Baf
from evcrisp.filters.raw import Raw

_ALL: tuple[type[Denoiser], ...] = (
    Raw,
    Baf,
)

#: Denoisers by name.
DENOISERS: dict[str, type[Denoiser]] = {kind.name: kind for kind in _ALL}
