"""Simulate E-MLB: scenes by day and by night at four levels of light."""

from collections.abc import Iterator
from pathlib import Path

from evcrisp.experiments.datasets.emlb import HALVES, LEVELS
from evcrisp.experiments.simulated_datasets import SimulatedDataset, write_true_labels
from evcrisp.io.writing import write
from evcrisp.simulation import simulate

#: Shot noise of each level, Hz per pixel; it grows as the light decreases.
SHOT_HZ = {
    "day": {"nd00": 0.3, "nd04": 1.0, "nd16": 3.0, "nd64": 8.0},
    "night": {"nd00": 1.0, "nd04": 4.0, "nd16": 10.0, "nd64": 25.0},
}

#: Contrast of the scenes; lower at night.
CONTRAST = {"day": 5.0, "night": 3.0}

#: Scene -> texture and velocity, px/s on the full sensor.
SCENES = {"Shapes": ("shapes", (300.0, -120.0)), "Dots": ("dots", (-180.0, 90.0))}


def write_emlb(folder: Path, simulated: SimulatedDataset) -> Iterator[Path]:
    """Write the recordings one by one, and yield their paths."""
    resolution, duration_us = ((120, 90), 100_000) if simulated.small else ((346, 260), 500_000)
    scenes = dict(list(SCENES.items())[:1]) if simulated.small else SCENES
    for half, half_name in HALVES.items():
        for level in LEVELS:
            (folder / half / level).mkdir(parents=True, exist_ok=True)
            for number, (name, (texture, theta)) in enumerate(scenes.items()):
                path = folder / half / level / f"{name}-{level.upper()}-1.aedat4"
                scene = simulate(
                    texture=texture,
                    theta=theta,
                    resolution=resolution,
                    duration_us=duration_us,
                    contrast=CONTRAST[half_name],
                    leak_hz=0.1,
                    shot_hz=SHOT_HZ[half_name][level],
                    seed=simulated.seed + number,
                )
                write(path, scene.events.with_signal(None), imu=scene.imu, overwrite=True)
                write_true_labels(path, scene.events)
                yield path
