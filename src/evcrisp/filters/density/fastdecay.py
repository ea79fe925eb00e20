"""Fast decay filter of dv-processing: a decaying count of the events of a cell of pixels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class FastDecay(Filter):
    r"""Keep an event if the decaying count of events in its cell is large.

    The sensor is divided into square cells. Each event multiplies the count of its cell by
    :math:`2^{-\Delta t / T}` and adds 1. The score is this count in single precision; kept events
    have more than ``threshold``.

    Parameters
    ----------
    half_life_us : int
        Time T in which a count decays to one half, us.
    cell_px : int
        Side of a cell, px.
    threshold : float
        Count above which events are kept.

    References
    ----------
    iniVation, dv-processing, ``FastDecayNoiseFilter``.
    """

    name: ClassVar[str] = "fastdecay"
    about: ClassVar[About] = About(
        "iniVation, dv-processing",
        "1 cell, 1 power of two",
        "1 time and 1 count per cell",
        compared=("dv",),
    )
    presets: ClassVar[Presets] = {"dv": {"half_life_us": 10_000, "cell_px": 4, "threshold": 6.0}}

    half_life_us: int = 10_000
    cell_px: int = 4
    threshold: float = 6.0

    def __post_init__(self) -> None:
        check_minimum(self, half_life_us=1, cell_px=1, threshold=0)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.density.fastdecay import fast_decay

        shape = tuple(-(-size // self.cell_px) for size in reversed(resolution))
        cells = (np.zeros(shape, np.int64), np.zeros(shape, np.float32))
        cell_of = np.arange(max(resolution)) // self.cell_px
        rule = (cell_of, np.float32(self.half_life_us), np.float32(self.threshold))
        return KernelStream(resolution, fast_decay, "xyt", (*cells, *rule))
