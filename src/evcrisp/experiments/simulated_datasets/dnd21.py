"""The twin of DND21: clean sequences, and recordings of noise alone, in AEDAT 2.0."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evcrisp.experiments.datasets.dnd21 import NOISE_FOLDER
from evcrisp.experiments.simulated_datasets.aedat2 import DAVIS346, write_aedat2
from evcrisp.experiments.simulated_datasets.writing import Twin, unlabeled, write_truth
from evcrisp.simulation import simulate

#: Sequence -> what it shows. The names are those of the real set.
SEQUENCES: dict[str, dict[str, Any]] = {
    "hotel-bar": {"texture": "shapes", "theta": (160.0, -60.0)},
    "driving": {"texture": "dots", "theta": (-240.0, 30.0)},
}

#: The real names of the noise files -> noise of the simulation.
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


def write_dnd21(folder: Path, twin: Twin) -> Iterator[Path]:
    """Write sequences and noise one by one, and yield their names."""
    duration_us = 60_000 if twin.small else 500_000
    sequences = dict(list(SEQUENCES.items())[:1]) if twin.small else SEQUENCES
    for number, (name, shows) in enumerate(sequences.items()):
        (folder / name).mkdir(parents=True, exist_ok=True)
        scene = simulate(
            **shows, resolution=DAVIS346, duration_us=duration_us, seed=twin.seed + number
        )
        path = folder / name / f"Davis346blue-{name}.aedat"
        write_aedat2(path, unlabeled(scene))
        write_truth(path, scene.events)
        yield path
    (folder / NOISE_FOLDER).mkdir(parents=True, exist_ok=True)
    for number, (name, noise) in enumerate(NOISE_FILES.items()):
        still = simulate(
            **noise,
            theta=(0.0, 0.0),
            spread_decades=0.3,
            resolution=DAVIS346,
            duration_us=400_000 if twin.small else 2_000_000,
            seed=twin.seed + 100 + number,
        )
        write_aedat2(folder / NOISE_FOLDER / name, unlabeled(still))
        yield folder / NOISE_FOLDER / name
