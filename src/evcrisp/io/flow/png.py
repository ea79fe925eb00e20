"""``.png``: the flow images of DSEC; displacements as 16-bit RGB."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from evcrisp.core.errors import FormatError
from evcrisp.core.flow import Flow
from evcrisp.io.atomic_output import naming
from evcrisp.io.flow.rgb48 import read_rgb48, write_rgb48
from evcrisp.io.flow.stored_flow import Span, StoredFlow

_STEPS_PER_PX = 128  # KITTI has 64, in files that look the same
_ZERO = 1 << 15

#: Texts in the file. Other programs skip them.
_TIMES = ("t_start_us", "t_end_us")


class PngFormat:
    """DSEC: red and green are ``128 * displacement + 2**15``, blue is 1 at valid pixels."""

    name: ClassVar[str] = "png"
    suffix: ClassVar[str] = ".png"
    least_px: ClassVar[float] = -_ZERO / _STEPS_PER_PX
    most_px: ClassVar[float] = (_ZERO - 1) / _STEPS_PER_PX

    def read(self, path: Path) -> StoredFlow:
        """Read displacements, and the time if evcrisp has written the file."""
        pixels, texts = read_rgb48(path)
        values = (pixels[..., :2].astype(np.float32) - _ZERO) / np.float32(_STEPS_PER_PX)
        return StoredFlow(values, pixels[..., 2] != 0, _span(texts))

    def write(self, path: Path, flow: Flow) -> None:
        """Write displacements over the window, rounded to 1/128 px."""
        # Unknown pixels have no displacement: the program that scores submissions to DSEC reads
        # every pixel, and 0 in the file would be -256 px.
        known = np.where(flow.valid[..., None], flow.displacement_px, 0.0)
        pixels = np.empty((*flow.valid.shape, 3), np.uint16)
        pixels[..., :2] = np.rint(_STEPS_PER_PX * known.astype(np.float64)) + _ZERO
        pixels[..., 2] = flow.valid
        texts = dict(zip(_TIMES, (str(flow.t_start), str(flow.t_end)), strict=True))
        with naming(path):
            write_rgb48(path, pixels, texts)


def _span(texts: dict[str, str]) -> Span | None:
    if not all(name in texts for name in _TIMES):
        return None
    try:
        t_start, t_end = (int(texts[name]) for name in _TIMES)
    except ValueError:
        raise FormatError(f"its times are no whole numbers: {texts}") from None
    return t_start, t_end
