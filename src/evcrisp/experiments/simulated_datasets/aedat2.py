"""AEDAT 2.0 of a DAVIS346, as jAER writes it; for twins only, the library reads the format."""

from pathlib import Path

import numpy as np

from evcrisp.core.events import Events
from evcrisp.io.atomic_output import replacing

DAVIS346 = (346, 260)

_HEADER = (
    b"#!AER-DAT2.0\r\n"
    b"# This is a raw AE data file, simulated by evcrisp\r\n"
    b"# AEChip: eu.seebetter.ini.chips.davis.Davis346blue\r\n"
)


def write_aedat2(path: Path, events: Events) -> None:
    """Write 8 bytes per event: address and time, big-endian; rows from below, columns from the right."""
    width, height = DAVIS346
    column = (width - 1 - events.x.astype(np.int64)).astype(np.uint32)
    row = (height - 1 - events.y.astype(np.int64)).astype(np.uint32)
    words = np.empty((len(events), 2), ">u4")
    words[:, 0] = row << 22 | column << 12 | events.p.astype(np.uint32) << 11
    words[:, 1] = events.t & 0xFFFFFFFF
    with replacing(path, overwrite=True) as temporary:
        temporary.write_bytes(_HEADER + words.tobytes())
