"""Scenes of the quality benchmarks: simulated by a fixed rule, and real windows.

Scene i of 18 has motion model i mod 6 and texture (i + i // 6) mod 6, in the order of the tables
below: every model has three textures, and every texture three models. The motion is random (seed
100 + i): parameters of equal effect on the image, scaled to a displacement of 6 to 20 px within the
window of 30 ms (root mean square over the view). Sensor and scene have the defaults of the
simulator. Noise is uniform in space, time and polarity.
"""

from dataclasses import dataclass

import numpy as np

import evcrisp
from evcrisp.core.windows import Window, seconds_since
from evcrisp.motion import Rotation, motion_model

RESOLUTION = (346, 260)
DURATION_US = 30_000
N_SCENES = 18
NOISE_HZ = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)

MOTIONS = ("translation", "rotation", "similarity", "affine", "zoom", "homography")
TEXTURES = ("shapes", "rocks", "checkerboard", "dots", "star", "stripes")

#: Real windows of a rotating camera: folder, and rotation of a plain fit, rad/s.
ECD_ROTATIONS = {
    "stppp_boxes_rotation": (3.68, 4.07, -1.72),
    "stppp_poster_rotation": (-1.31, -5.45, 7.97),
    "stppp_dynamic_rotation": (0.49, -2.10, -0.68),
    "tubrip_boxes_rotation": (0.586, -1.201, 0.068),
    "tubrip_dynamic_rotation": (-0.012, 1.998, 0.108),
    "tubrip_shapes_rotation": (-0.074, 0.664, -0.115),
}


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A window with true labels and motion."""

    name: str
    window: Window
    model: object
    signal: np.ndarray  # (n,) bool
    theta: np.ndarray  # (m,) true or best known
    warp_error_px: object = None  # theta -> px, where the truth is known
    recording: object = None  # events before the window and of it, where there are any before


def scene_settings(i):
    """Return the settings of scene i for `evcrisp.simulate`, without noise."""
    rng = np.random.default_rng(100 + i)
    motion = MOTIONS[i % len(MOTIONS)]
    texture = TEXTURES[(i + i // len(MOTIONS)) % len(TEXTURES)]
    model = motion_model(motion, RESOLUTION)
    unit = np.array([1.0 / shift_px(model, row) for row in np.eye(len(model.param_names))])
    theta = unit * rng.standard_normal(unit.size)
    theta *= rng.uniform(6.0, 20.0) / shift_px(model, theta)
    return {
        "motion": motion,
        "texture": texture,
        "theta": tuple(theta.tolist()),
        "resolution": RESOLUTION,
        "duration_us": DURATION_US,
        "window_us": DURATION_US,
        "seed": 100 + i,
    }


def name_of(i):
    """Return a label of scene i: number, model and texture."""
    settings = scene_settings(i)
    return f"{i:02d} {settings['motion']}, {settings['texture']}"


def shift_px(model, theta):
    """Return the displacement within a window, px, root mean square over the view."""
    x, y = (v.ravel() for v in np.meshgrid(np.linspace(0, 345, 9), np.linspace(0, 259, 7)))
    half = 0.5e-6 * DURATION_US
    # Linearize with a thousandth of the motion: a unit step is out of range for some models.
    first, last = (model.warp(1e-3 * np.asarray(theta), x, y, dt) for dt in (-half, half))
    moved = np.hypot(last[0] - first[0], last[1] - first[1])
    return 1e3 * float(np.sqrt(np.mean(moved**2)))


def simulated(i, noise_hz, history_us=0):
    """Return scene i with uniform noise, after ``history_us`` of the same motion."""
    end_us = history_us + DURATION_US
    scene = evcrisp.simulate(**scene_settings(i) | {"duration_us": end_us}, noise_hz=noise_hz)
    events = scene.events.between(history_us, end_us)
    return Case(
        name=name_of(i),
        window=Window(events, history_us, end_us),
        model=scene.motion,
        signal=np.asarray(events.signal),
        theta=scene.theta(history_us, end_us),
        warp_error_px=lambda theta: scene.warp_error_px(theta, history_us, end_us),
        recording=scene.events,
    )


def with_noise(events, share, seed):
    """Add ``share`` times as many uniform events; return events, and True for the original ones."""
    rng = np.random.default_rng(seed)
    n = round(share * len(events))
    t_first, t_last = int(events.t[0]), int(events.t[-1])
    t = np.concatenate((events.t, rng.integers(t_first, t_last + 1, n)))
    x = np.concatenate((events.x, rng.integers(0, events.width, n)))
    y = np.concatenate((events.y, rng.integers(0, events.height, n)))
    p = np.concatenate((events.p, rng.integers(0, 2, n).astype(bool)))
    order = np.argsort(t, kind="stable")
    noisy = evcrisp.Events(
        x=x[order], y=y[order], t=t[order], p=p[order], resolution=events.resolution
    )
    return noisy, order < len(events)


def real(data_dir, name, share=1.0, seed=0):
    """Return a window of the Event Camera Dataset with added noise; signal = original events."""
    folder = data_dir / "ecd" / name
    events = evcrisp.read(next(folder.glob("events*")))
    noisy, original = with_noise(events, share, seed)
    window = Window(noisy, int(noisy.t[0]), int(noisy.t[-1]) + 1)
    camera = evcrisp.Camera.from_file(folder / "calib.txt")
    return Case(name, window, Rotation(camera), original, np.array(ECD_ROTATIONS[name]))


def aligned(case, theta=None):
    """Return the positions of a case's events at the reference time."""
    events = case.window.events
    dt = seconds_since(events.t, case.window.t_ref)
    return case.model.warp(case.theta if theta is None else theta, events.x, events.y, dt)
