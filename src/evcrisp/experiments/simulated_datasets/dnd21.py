"""Simulate DND21: clean sequences, and recordings of noise alone, in AEDAT 2.0."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evcrisp.core.events import Events
from evcrisp.experiments.datasets.dnd21 import NOISE_FOLDER
from evcrisp.experiments.simulated_datasets import SimulatedDataset, write_true_labels
from evcrisp.io.atomic_output import replacing
from evcrisp.simulation import simulate

DAVIS346 = (346, 260)

#: Real sequence -> parameters of its simulation.
SEQUENCES: dict[str, dict[str, Any]] = {
    "hotel-bar": {"texture": "shapes", "theta": (160.0, -60.0)},
    "driving": {"texture": "dots", "theta": (-240.0, 30.0)},
}

#: Real name of a noise file -> parameters of its simulation.
NOISE_FILES: dict[str, dict[str, Any]] = {
    "Davis346blue-2020-10-17T13-42-27+0200-00000002-0 light background activity.aedat": {
        "leak_hz": 0.3,
        "shot_hz": 0.5,
    },
    "Davis346blue-2020-10-19T19-50-42+0200-00000002-0 dark BA activity noise.aedat": {
        "shot_hz": 3.0
    },
    "Davis346blue-2021-06-14T20-09-08+0200-00000003-0 noise dark 5p3Hz.aedat": {"shot_hz": 5.3},
    "Davis346blue-2021-06-20T09-23-20+0200-00000003-0 50m leak noise light.aedat": {"leak_hz": 0.5},
}


def write_dnd21(folder: Path, simulated: SimulatedDataset) -> Iterator[Path]:
    """Write sequences and noise one by one, and yield their paths."""
    duration_us = 60_000 if simulated.small else 500_000
    sequences = dict(list(SEQUENCES.items())[:1]) if simulated.small else SEQUENCES
    for number, (name, scene_options) in enumerate(sequences.items()):
        (folder / name).mkdir(parents=True, exist_ok=True)
        shared = {"resolution": DAVIS346, "duration_us": duration_us}
        scene = simulate(**scene_options, **shared, seed=simulated.seed + number)
        path = folder / name / f"Davis346blue-{name}.aedat"
        write_aedat2(path, scene.events.with_signal(None))
        write_true_labels(path, scene.events)
        yield path
    (folder / NOISE_FOLDER).mkdir(parents=True, exist_ok=True)
    for number, (name, noise) in enumerate(NOISE_FILES.items()):
        still = simulate(
            **noise,
            theta=(0.0, 0.0),
            spread_decades=0.3,
            resolution=DAVIS346,
            duration_us=400_000 if simulated.small else 2_000_000,
            seed=simulated.seed + 100 + number,
        )
        write_aedat2(folder / NOISE_FOLDER / name, still.events.with_signal(None))
        yield folder / NOISE_FOLDER / name


_AEDAT2_HEADER = (
    b"#!AER-DAT2.0\r\n"
    b"# This is a raw AE data file, simulated by evcrisp\r\n"
    b"# AEChip: eu.seebetter.ini.chips.davis.Davis346blue\r\n"
)


def write_aedat2(path: Path, events: Events) -> None:
    """Write AEDAT 2.0 of a DAVIS346: big-endian address and time, with both axes mirrored."""
    width, height = DAVIS346
    column = (width - 1 - events.x.astype(np.int64)).astype(np.uint32)
    row = (height - 1 - events.y.astype(np.int64)).astype(np.uint32)
    words = np.empty((len(events), 2), ">u4")
    words[:, 0] = row << 22 | column << 12 | events.p.astype(np.uint32) << 11
    words[:, 1] = events.t & 0xFFFFFFFF
    with replacing(path, overwrite=True) as temporary:
        temporary.write_bytes(_AEDAT2_HEADER + words.tobytes())
