"""Trail filter of the Metavision SDK: keep the first event of a burst."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evcrisp.filters.protocol import About, Filter, KernelStream, Presets, check_minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail(Filter):
    r"""Keep an event ``tau_us`` after the last event of its pixel, or if the polarity changes.

    This thins the bursts of contrast edges. Isolated events, such as noise, are kept: use it to
    sharpen edges, before or after a noise filter. If the last event has the same polarity, the
    score is :math:`a / (a + \tau)` with its age :math:`a`, at least 0.5 for kept events; else 1.

    Parameters
    ----------
    tau_us : int
        Minimum time since the last event, us. The SDK has no default; its programs use 10 ms.

    References
    ----------
    Prophesee, Metavision SDK, ``TrailFilterAlgorithm``.
    """

    name: ClassVar[str] = "trail"
    about: ClassVar[About] = About("Prophesee, Metavision SDK", "1 pixel", "1 number per pixel")
    presets: ClassVar[Presets] = {"metavision": {"tau_us": 10_000}}  # the SDK rounds to 2 us

    tau_us: int = 10_000

    def __post_init__(self) -> None:
        check_minimum(self, tau_us=1)

    def start(self, resolution: tuple[int, int]) -> KernelStream:
        """Start a recording."""
        from evcrisp.kernels.filters.bursts.bursts import UNSEEN, first_of_burst

        pixels = np.full(resolution[::-1], 4 * UNSEEN, np.int64)
        return KernelStream(resolution, first_of_burst, "xytp", (pixels, self.tau_us))
