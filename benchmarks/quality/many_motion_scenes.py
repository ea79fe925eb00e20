"""Scenes with many motions, and a window of each with history before it.

Command: ``python -m benchmarks.quality.many_motion_scenes [NAMES] [--data DIR]``. It prints a table:
events of the window, share of signal, displacement within the window (5, 50 and 95 % of the signal
events), and the share of each layer in the signal.

Every scene is simulated for 90 ms. Its window is the last 30 ms: filters have seen 60 ms of the same
scene before it. Sizes are shares of the view; turning objects turn about their own center. The scene
`measured noise` needs the files of IEBCS in ``DIR/iebcs-noise``; default: ``EVCRISP_DATA``.
"""

import argparse
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from evcrisp.core.windows import Window
from evcrisp.simulation import (
    Forward,
    ObjectConfig,
    Parallax,
    Shear,
    Simulation,
    SimulationConfig,
    Vortex,
    depth_layers,
    simulate,
)
from evcrisp.simulation.settings import build_config

RESOLUTION = (346, 260)
HD = (1280, 720)
HISTORY_US = 60_000
WINDOW_US = 30_000

#: Full width and height of ellipses with 4, 12 and 28 % of the view.
SMALL, MEDIUM, LARGE = (0.20, 0.25), (0.35, 0.44), (0.55, 0.65)
STILL = (0.0, 0.0)
#: Four to five events per edge, about as many events as a real sensor has in such a window. Textures
#: have a size at which plain support at the true velocities has an AUC of about 0.986 on average (see
#: `benchmarks.quality.plain_support`), and small objects still show their motion. Rocks, with an edge in
#: every pixel, are the hardest to label and the easiest to align.
SENSOR = {"contrast": 3.2, "c_on": 0.25, "c_off": 0.25, "feature_px": 38.0}


def turning(theta, center, size, texture="shapes", outline="ellipse"):
    """Return an object that moves (px/s), turns (rad/s) and grows (1/s)."""
    return ObjectConfig(
        motion="similarity",
        theta=theta,
        center=center,
        size=size,
        texture=texture,
        outline=outline,
    )


_TWO = (
    turning((260.0, 40.0, 3.0, 0.8), (0.25, 0.35), MEDIUM, "dots"),
    turning((-260.0, -60.0, -3.0, -0.8), (0.72, 0.65), MEDIUM),
)
_FOUR = (
    turning((300.0, 0.0, 4.0, 0.0), (0.20, 0.25), (0.28, 0.34)),
    turning((-300.0, 80.0, -3.0, 1.5), (0.78, 0.26), (0.26, 0.34), "dots"),
    turning((0.0, -280.0, 5.0, -1.5), (0.26, 0.76), (0.28, 0.36), "rocks", "rectangle"),
    turning((120.0, 220.0, -5.0, 1.0), (0.76, 0.70), (0.30, 0.36)),
)
_SIX = (
    turning((280.0, 60.0, 3.0, 1.0), (0.16, 0.22), (0.22, 0.28)),
    turning((-60.0, 300.0, -4.0, 0.0), (0.50, 0.20), (0.22, 0.28), "dots"),
    turning((-320.0, 0.0, 5.0, -1.0), (0.84, 0.24), (0.22, 0.28), "dots"),
    turning((340.0, -90.0, -5.0, 1.5), (0.17, 0.76), (0.22, 0.28), "checkerboard", "rectangle"),
    turning((0.0, -240.0, 6.0, 0.5), (0.50, 0.74), (0.22, 0.28), "rocks"),
    turning((-250.0, -160.0, 2.0, -1.5), (0.83, 0.76), (0.22, 0.28), "dots"),
)
_HD = (
    turning((420.0, 60.0, 1.5, 0.4), (0.20, 0.28), (0.20, 0.28)),
    turning((-480.0, 120.0, -1.5, 0.6), (0.74, 0.26), (0.18, 0.30), "shapes"),
    turning((60.0, -420.0, 2.0, -0.8), (0.28, 0.76), (0.18, 0.30), "shapes", "rectangle"),
    turning((180.0, 330.0, -2.0, 0.5), (0.72, 0.70), (0.20, 0.30), "dots"),
)
_FAST = turning((-320.0, 120.0, 4.0, 1.0), (0.6, 0.45), MEDIUM, "rocks")

#: Settings of `evcrisp.simulate` by name of the scene; the seed is the number in the list.
SCENES = {
    "one object 4 %, still": {
        "theta": STILL,
        "objects": (turning((320.0, 80.0, 5.0, 1.5), (0.35, 0.45), SMALL),),
        "noise_hz": 5.0,
    },
    "one object 12 %, still": {
        "theta": STILL,
        "objects": (turning((-300.0, 90.0, -4.0, 1.0), (0.6, 0.45), MEDIUM, "shapes"),),
        "noise_hz": 5.0,
    },
    "one object 28 %, still": {
        "theta": STILL,
        "objects": (turning((200.0, -60.0, 3.0, 1.0), (0.45, 0.5), LARGE, "dots"),),
        "noise_hz": 5.0,
    },
    "one object 4 %, moving": {
        "theta": (260.0, -80.0),
        "objects": (turning((-300.0, 60.0, 5.0, 1.0), (0.6, 0.4), SMALL),),
        "noise_hz": 5.0,
    },
    "one object 12 %, moving": {
        "theta": (240.0, 100.0),
        "objects": (_FAST,),
        "noise_hz": 5.0,
    },
    "one object 28 %, moving": {
        "theta": (-220.0, -120.0),
        "objects": (turning((260.0, 60.0, -3.0, 0.5), (0.45, 0.5), LARGE, "dots"),),
        "noise_hz": 5.0,
    },
    "opposite motions": {
        "theta": (300.0, -120.0),
        "objects": (ObjectConfig(theta=(-300.0, 120.0)),),
        "noise_hz": 5.0,
    },
    "two objects opposite, still": {"theta": STILL, "objects": _TWO, "noise_hz": 5.0},
    "two objects, turning background": {
        "motion": "similarity",
        "theta": (60.0, 40.0, 1.6, 0.4),
        "objects": _TWO,
        "noise_hz": 5.0,
    },
    "two objects, 20 Hz": {"theta": (150.0, 150.0), "objects": _TWO, "noise_hz": 20.0},
    "three objects, moving": {"theta": (-180.0, 60.0), "objects": _FOUR[:3], "noise_hz": 5.0},
    "four objects, still": {"theta": STILL, "objects": _FOUR, "noise_hz": 5.0},
    "five objects, still": {"theta": STILL, "objects": _SIX[:5], "noise_hz": 2.0},
    "six objects, still": {"theta": STILL, "objects": _SIX, "noise_hz": 10.0},
    "six objects, moving": {"theta": (160.0, -140.0), "objects": _SIX, "noise_hz": 5.0},
    "object before another": {
        "theta": (120.0, 0.0),
        "objects": (
            turning((-200.0, 60.0, 2.0, 0.5), (0.45, 0.5), LARGE, "shapes"),
            turning((300.0, -60.0, -5.0, 1.0), (0.5, 0.5), SMALL),
        ),
        "noise_hz": 5.0,
    },
    "object before a turning camera": {
        "motion": "rotation",
        "theta": (0.2, -0.9, 0.8),
        "objects": (_FAST,),
        "noise_hz": 5.0,
    },
    "four depth planes": {
        **depth_layers(
            (8.0, 4.0, 2.5, 1.6), (-2.4, 0.4), textures=("shapes", "dots", "shapes", "dots")
        ),
        "feature_px": 48.0,  # smaller ones hide the planes behind
        "noise_hz": 5.0,
    },
    "corridor forward": {"field": Forward(speed_m_s=12.0), "noise_hz": 5.0},
    "ground forward": {
        "field": Forward(speed_m_s=8.0, wall_m=None, ceiling_m=None, foe=(0.5, 0.3)),
        "texture": "dots",
        "noise_hz": 5.0,
    },
    "parallax": {"field": Parallax(), "noise_hz": 5.0},
    "parallax of three ridges": {
        "field": Parallax(velocity_px_s=(-380.0, 160.0), depth_ratio=4.0, n_ridges=3.0),
        "texture": "dots",
        "noise_hz": 10.0,
    },
    "vortex": {"field": Vortex(), "noise_hz": 5.0},
    "shear": {"field": Shear(), "noise_hz": 5.0},
    "object before a shear": {
        "field": Shear(rate_per_s=2.5, angle_rad=0.4, drift_px_s=60.0),
        "texture": "dots",
        "objects": (turning((-60.0, -260.0, 4.0, 0.5), (0.4, 0.55), MEDIUM),),
        "noise_hz": 5.0,
    },
    "camera roll": {"motion": "similarity", "theta": (0.0, 0.0, 3.0, 0.0), "noise_hz": 5.0},
    "translation": {"theta": (300.0, -120.0), "noise_hz": 5.0},
    "translation, 20 Hz": {"theta": (-200.0, 160.0), "texture": "dots", "noise_hz": 20.0},
    "measured noise": {"theta": (140.0, 60.0), "objects": _TWO, "measured_lux": 0.1},
    "four objects, 1280x720": {
        "resolution": HD,
        "theta": STILL,
        "feature_px": 64.0,
        "objects": _HD,
        "noise_hz": 2.0,
    },
}
MEASURED = "measured noise"


def config_of(name: str, data_dir: Path | None = None) -> SimulationConfig:
    """Return the configuration of a scene."""
    settings = dict(SCENES[name])
    if name == MEASURED:
        settings["measured"] = _data_dir(data_dir) / "iebcs-noise"
    seed = 1000 + list(SCENES).index(name)
    times = {"duration_us": HISTORY_US + WINDOW_US, "window_us": WINDOW_US}
    return build_config(
        None, {"resolution": RESOLUTION, "seed": seed, **SENSOR, **times, **settings}
    )


def scene(name: str, data_dir: Path | None = None) -> tuple[Simulation, Window]:
    """Return a scene, and its window; ``simulation.events[:window.index]`` is the history."""
    return _scene(config_of(name, data_dir))


def truth(simulation: Simulation, window: Window) -> dict[str, np.ndarray]:
    """Return what is true of the events of a window.

    signal : (n,) bool      object : (n,) uint8, 255 for noise      velocity : (n, 2) px/s, NaN for noise
    """
    own = slice(window.index, window.index + len(window.events))
    return {
        "signal": np.asarray(window.events.signal),
        "object": simulation.object[own],
        "velocity": simulation.velocity[own],
    }


@lru_cache(maxsize=4)
def _scene(config: SimulationConfig) -> tuple[Simulation, Window]:
    simulation = simulate(config)
    index = int(np.searchsorted(simulation.events.t, HISTORY_US))
    window = Window(simulation.events[index:], HISTORY_US, HISTORY_US + WINDOW_US, index)
    return simulation, window


def _data_dir(data_dir: Path | None) -> Path:
    return Path(os.environ.get("EVCRISP_DATA", "data")) if data_dir is None else data_dir


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[], help="scenes; default: all")
    parser.add_argument("--data", type=Path, help="folder with iebcs-noise")
    options = parser.parse_args()
    head = ("scene", "events", "history", "signal", "displacement, px", "layers, % of the signal")
    print("{:32s} {:>8s} {:>8s} {:>6s} {:>18s}  {}".format(*head))
    for name in options.names or SCENES:
        if name == MEASURED and not (_data_dir(options.data) / "iebcs-noise").is_dir():
            print(f"{name:32s} left out: no files of measured noise")
            continue
        simulation, window = scene(name, options.data)
        facts = truth(simulation, window)
        signal = facts["signal"]
        moved = np.hypot(*facts["velocity"][signal].T) * WINDOW_US * 1e-6
        low, middle, high = np.percentile(moved, (5, 50, 95))
        shares = 100 * np.bincount(facts["object"][signal]) / signal.sum()
        print(
            f"{name:32s} {len(window.events):8d} {window.index:8d} {signal.mean():6.2f} "
            f"{low:5.1f} {middle:5.1f} {high:5.1f}   {' '.join(f'{share:.0f}' for share in shares)}"
        )


if __name__ == "__main__":
    main()
