"""Spatio-temporal contrast filter of the Metavision SDK: keep the second event of a burst."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Stc(Filter):
    r"""Keep an event that repeats the polarity of its pixel's last event within ``tau_us``.

    A contrast edge makes a pixel fire several times with one polarity; noise rarely does. The first
    event of such a burst is dropped and the second is kept. With ``cut_trail`` the others are
    dropped until the polarity changes. The score is :math:`\tau / (\tau + \mathrm{age})`, at least
    0.5 for kept events; a quarter of that in the trail; and 0 for the first event of a burst.

    Parameters
    ----------
    tau_us : int
        Maximum age of the pixel's last event, us. The SDK has no default; its programs use 10 ms.
    cut_trail : bool
        Keep only the second event of a burst.
    off_start : bool
        Start as if every pixel had fired OFF and been kept, like the SDK: if the first burst of a
        pixel is OFF and its trail is cut, it is lost.

    References
    ----------
    Prophesee, Metavision SDK, ``SpatioTemporalContrastAlgorithm``.
    """

    name: ClassVar[str] = "stc"
    about: ClassVar[About] = About("Prophesee, Metavision SDK", "1 pixel", "1 number per pixel")
    # The SDK rounds times to 4 us.
    presets: ClassVar[Presets] = {"metavision": {"tau_us": 10_000, "off_start": True}}

    tau_us: int = 10_000
    cut_trail: bool = True
    off_start: bool = False

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.bursts.bursts import ARMED, UNSEEN, second_of_burst

        has_passed = self.off_start and self.cut_trail
        pixels = np.full(resolution[::-1], 4 * UNSEEN + (0 if has_passed else ARMED), np.int64)
        state = (pixels, self.tau_us, self.cut_trail)
        return KernelStream(resolution, second_of_burst, "xytp", state)
