"""Motion parameters as functions of time.

A trajectory has one method, ``theta(t_us)``: parameters, shape (n, m), at times (n,) since the start.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evcrisp.core.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """The same parameters at all times."""

    value: Floats  # (m,)

    def theta(self, t_us: Floats) -> Floats:
        """Return the parameters at times, (n, m)."""
        return np.broadcast_to(self.value, (t_us.size, self.value.size)).copy()


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """A sum of cosines around zero; all arrays have shape (n_waves, m)."""

    amplitude: Floats
    frequency_hz: Floats
    phase_rad: Floats

    def theta(self, t_us: Floats) -> Floats:
        """Return the parameters at times, (n, m)."""
        angle = 2e-6 * np.pi * t_us[:, None, None] * self.frequency_hz + self.phase_rad
        return (self.amplitude * np.cos(angle)).sum(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Knots:
    """Linear interpolation between knots; constant before the first and after the last."""

    t_us: Floats  # (n_knots,)
    values: Floats  # (n_knots, m)

    def theta(self, t_us: Floats) -> Floats:
        """Return the parameters at times, (n, m)."""
        return np.stack([np.interp(t_us, self.t_us, column) for column in self.values.T], axis=1)


Trajectory = Constant | Waves | Knots


def sine(theta: Floats, period_us: float, rng: np.random.Generator) -> Waves:
    """Oscillate every parameter around zero with its own phase."""
    m = theta.size
    phase = np.pi * np.arange(m) / m
    return Waves(theta[None, :], np.full((1, m), 1e6 / period_us), phase[None, :])


def random(theta: Floats, period_us: float, rng: np.random.Generator) -> Waves:
    """Vary smoothly around zero; the root mean square of every parameter is ``theta``."""
    n_waves, m = 4, theta.size
    amplitude = np.broadcast_to(theta * np.sqrt(2.0 / n_waves), (n_waves, m))
    frequency = rng.uniform(0.2, 1.0, (n_waves, m)) * 1e6 / period_us
    return Waves(amplitude, frequency, rng.uniform(0, 2 * np.pi, (n_waves, m)))


#: Trajectories by name.
TRAJECTORIES: dict[str, Callable[[Floats, float, np.random.Generator], Trajectory]] = {
    "constant": lambda theta, period_us, rng: Constant(theta),
    "random": random,
    "sine": sine,
}
