"""A new motion model needs its file, its kernel file and one registry line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pytest

import evcrisp
from evcrisp import UnknownNameError
from evcrisp.estimators import ESTIMATORS
from evcrisp.kernels.compile import unchecked, unchecked_sum
from evcrisp.motion import MOTION_MODELS
from evcrisp.motion.matrix import apply_inverse, stacked
from evcrisp.motion.protocol import PixelMotion

# The kernel file.


@unchecked
def warp(theta, x, y, dt, out_x, out_y):
    """Move by (x - k y dt, y)."""
    for i in range(x.size):
        out_x[i] = x[i] - theta[0] * y[i] * dt[i]
        out_y[i] = y[i]


@unchecked_sum
def pull_back(theta, x, y, dt, slope_x, slope_y, out):
    """Pull back by the rows (-y dt) and (0)."""
    total = 0.0
    for i in range(x.size):
        total -= slope_x[i] * y[i] * dt[i]
    out[0] += total


# The model's file.


@dataclass(frozen=True, slots=True)
class Shear(PixelMotion):
    """Horizontal velocity in proportion to y: ``x' = x - k y dt``."""

    name: ClassVar[str] = "shear"
    param_names: ClassVar[tuple[str, ...]] = ("k",)
    param_units: ClassVar[tuple[str, ...]] = ("1/s",)

    @classmethod
    def for_sensor(cls, resolution: Sequence[int], camera=None) -> Self:
        return cls()

    def warp(self, theta, x, y, dt):
        (k,) = np.asarray(theta, np.float64)
        y = np.asarray(y, np.float64)
        return np.asarray(x) - k * y * np.asarray(dt), y + np.zeros(np.shape(dt))

    def inverse(self, theta, x, y, dt):
        return apply_inverse(self.matrix(theta, dt), x, y)

    def matrix(self, theta, dt):
        (k,) = np.asarray(theta, np.float64)
        return stacked(((1.0, -k * np.asarray(dt), 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    def kernels(self):
        return warp, pull_back


@pytest.fixture
def shear():
    # The registry line.
    MOTION_MODELS.register(Shear)
    yield "shear"
    MOTION_MODELS.unregister("shear")


def sheared_lines(k, seed=0):
    """Return events of vertical lines that are sheared by k, 1/s, during 30 ms."""
    rng = np.random.default_rng(seed)
    n = 12_000
    t = np.sort(rng.integers(0, 30_000, n))
    y = rng.integers(0, 90, n)
    line = rng.integers(0, 6, n) * 18 + 10
    x = np.rint(line + k * y * (t - 15_000) / 1e6).astype(int)
    inside = (x >= 0) & (x < 120)
    return evcrisp.Events(
        x=x[inside], y=y[inside], t=t[inside], p=(line[inside] // 18) % 2 == 0, resolution=(120, 90)
    )


@pytest.mark.parametrize("method", [name for name in ESTIMATORS if name not in ("paper", "eja")])
def test_every_method_finds_the_motion_of_a_new_model(shear, method):
    result = evcrisp.estimate(sheared_lines(4.0), method, shear)
    assert result.motion == Shear()
    assert abs(result["k"] - 4.0) < 0.5  # 0.5 is 0.7 px per window at the lower border


def test_new_model_is_accepted_by_track_and_on_the_command_line(shear, run, tmp_path):
    events = sheared_lines(4.0)
    assert len(list(evcrisp.track(events, motion=shear))) == 1
    evcrisp.write(tmp_path / "a.npz", events)
    run("run", tmp_path / "a.npz", "-o", tmp_path / "out", "--motion", "shear")
    assert "k [1/s]" in (tmp_path / "out" / "motion.csv").read_text().splitlines()[0]


def test_removed_model_is_unknown():
    assert "shear" not in MOTION_MODELS
    with pytest.raises(UnknownNameError, match="Unknown motion model 'shear'"):
        evcrisp.estimate(sheared_lines(1.0), motion="shear")
