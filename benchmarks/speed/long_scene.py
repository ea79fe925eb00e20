"""Long recordings from a short simulated scene, which is repeated with or without a jump."""

import subprocess
import sys

import evcrisp

#: Tile of the default texture at the default sensor size, px; the simulator repeats it without a seam.
_TILE_PX = 576, 448

#: Time in which the texture moves by two tiles to the right and one up, us.
_PERIOD_US = 4_000_000

#: Events of the start, when the pixels have no history, are left out, us.
_START_US = 250_000


def seamless_scene(seed=0, noise_hz=5.0):
    """Return the events of 4 s of one translation, (288, -112) px/s; their end continues at their start."""
    theta = (2e6 * _TILE_PX[0] / _PERIOD_US, -1e6 * _TILE_PX[1] / _PERIOD_US)
    scene = evcrisp.simulate(
        duration_us=_START_US + _PERIOD_US, theta=theta, noise_hz=noise_hz, seed=seed
    )
    events = scene.events.with_signal(None).between(_START_US, _START_US + _PERIOD_US)
    return _at(events, -_START_US)


def jumping_scene(seed=0, noise_hz=5.0):
    """Return the events of half a second of one translation; the image jumps where they are repeated."""
    scene = evcrisp.simulate(duration_us=500_000, noise_hz=noise_hz, seed=seed)
    return scene.events.with_signal(None)


#: Scenes by name, with their lengths, us.
SCENES = {"seamless": (seamless_scene, _PERIOD_US), "jumping": (jumping_scene, 500_000)}


def long_events(name, n_events, seed=0):
    """Yield a scene again and again, later each time, until there are enough events."""
    make, length_us = SCENES[name]
    events, n = make(seed), 0
    while n < n_events:
        yield _at(events[: n_events - n], n // len(events) * length_us)
        n += min(len(events), n_events - n)


def write_apart(path, name, n_events, seed=0):
    """Write a long recording by another process: this one stays small, as processes that it starts do."""
    words = [sys.executable, "-m", "benchmarks.speed.long_scene", path, name, n_events, seed]
    subprocess.run([str(word) for word in words], check=True)


def _at(events, t_us):
    """Return events with later times."""
    return evcrisp.Events(
        x=events.x, y=events.y, t=events.t + t_us, p=events.p, resolution=events.resolution
    )


if __name__ == "__main__":
    evcrisp.write(sys.argv[1], long_events(sys.argv[2], *map(int, sys.argv[3:])))
