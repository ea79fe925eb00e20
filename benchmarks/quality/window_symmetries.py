"""Symmetries of a window of events: changes after which a method must find the same motion and labels.

Each `Symmetry` changes a window and a motion model, and takes velocities and labels of the changed
window back to the original one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evcrisp.core.camera import Camera
from evcrisp.core.events import Events
from evcrisp.core.windows import Window
from evcrisp.estimators.result import Estimate
from evcrisp.motion import Rotation, Similarity, Translation

#: Empty px on every side of a padded sensor.
PAD_PX = 40

#: Empty px to the left, above, to the right, below, of a sensor that is cut elsewhere.
SHIFT_PX = (11, 6, 8, 3)


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A change of a window; ``change`` gets the columns x, y, t, p and the resolution."""

    name: str
    change: Callable[..., tuple]
    velocity: Callable[[np.ndarray], np.ndarray] = lambda v: v
    reverses_time: bool = False
    reorders: bool = False  # the events of equal time

    def apply(self, window: Window) -> tuple[Window, np.ndarray]:
        """Return the changed window, and the original index of each of its events."""
        events = window.events
        columns = tuple(np.asarray(c).astype(np.int64) for c in (events.x, events.y, events.t))
        last = window.t_start + window.t_end - 1
        x, y, t, p, resolution = self.change(*columns, np.asarray(events.p), events.resolution)
        t = last - t if self.reverses_time else t
        first = np.arange(t.size)
        if self.reverses_time:
            first = first[::-1]
        if self.reorders:
            first = np.random.default_rng(5).permutation(t.size)
        order = first[np.argsort(t[first], kind="stable")]
        changed = Events(x=x[order], y=y[order], t=t[order], p=p[order], resolution=resolution)
        shift = int(t.min() - columns[2].min()) if not self.reverses_time else 0
        return Window(changed, window.t_start + shift, window.t_end + shift), order

    def point(self, x: float, y: float, resolution: tuple[int, int]) -> tuple[float, float]:
        """Return where a point of the sensor goes."""
        column = np.array([x]), np.array([y]), np.zeros(1, np.int64), np.zeros(1, bool)
        x, y = self.change(*column, resolution)[:2]
        return float(x[0]), float(y[0])

    def difference(self, one: Estimate, other: Estimate, order: np.ndarray) -> tuple[float, float]:
        """Return the difference of the motion, px over the window (rms), and the share of labels."""
        wanted = one.velocity[order]
        found = self.velocity(other.velocity)
        duration_s = (one.window.t_end - one.window.t_start) / 1e6
        moved = np.sqrt(np.mean(np.sum((found - wanted) ** 2, axis=1))) * duration_s
        columns = [getattr(one.window.events, name)[order] for name in "pyxt"]
        # Of equal events it does not matter which one has which label.
        labels = (s[np.lexsort((s, *columns))] for s in (one.signal[order], other.signal))
        return float(moved), float(np.mean(np.not_equal(*labels)))


def _mirror_x(x, y, t, p, size):
    return size[0] - 1 - x, y, t, p, size


def _mirror_y(x, y, t, p, size):
    return x, size[1] - 1 - y, t, p, size


def _transpose(x, y, t, p, size):
    return y, x, t, p, (size[1], size[0])


def _same(x, y, t, p, size):
    return x, y, t, p, size


def _pad(x, y, t, p, size):
    return x + PAD_PX, y + PAD_PX, t, p, (size[0] + 2 * PAD_PX, size[1] + 2 * PAD_PX)


def _shift(x, y, t, p, size):
    left, above, right, below = SHIFT_PX
    return x + left, y + above, t, p, (size[0] + left + right, size[1] + above + below)


SYMMETRIES = (
    Symmetry("mirror x", _mirror_x, lambda v: v * (-1.0, 1.0)),
    Symmetry("mirror y", _mirror_y, lambda v: v * (1.0, -1.0)),
    Symmetry("transpose", _transpose, lambda v: v[:, ::-1]),
    Symmetry("swap polarity", lambda x, y, t, p, size: (x, y, t, ~p, size)),
    Symmetry("reverse time", _same, lambda v: -v, reverses_time=True),
    Symmetry("shift time", lambda x, y, t, p, size: (x, y, t + 3_000_000_000_001, p, size)),
    Symmetry("shuffle", _same, reorders=True),
    Symmetry("pad", _pad),
    Symmetry("cut elsewhere", _shift),
)


def models(name: str, resolution: tuple[int, int], symmetry: Symmetry):
    """Return the model of a window, and the model of the changed window."""
    middle = (resolution[0] - 1) / 2, (resolution[1] - 1) / 2
    moved = symmetry.point(*middle, resolution)
    if name == "translation":
        return Translation(), Translation()
    if name == "similarity":
        return Similarity(center=middle), Similarity(center=moved)
    focal = 0.866 * max(resolution)
    return (Rotation(Camera(focal, focal, *at)) for at in (middle, moved))
