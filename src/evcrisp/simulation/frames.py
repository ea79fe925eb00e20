"""What a frame camera behind the same lens would see."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.sensor_data import Frame
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.generate import build_paths
from evcrisp.simulation.settings import build_config
from evcrisp.simulation.scene import build_view
from evcrisp.simulation.slabs import texture_matrices


def simulate_frames(
    config: SimulationConfig | None = None, *, period_us: int = 40_000, **overrides: Any
) -> Iterator[Frame]:
    """Yield gray images of the scene of :func:`evcrisp.simulate`, without motion blur.

    Parameters
    ----------
    config, **overrides
        As for :func:`evcrisp.simulate`.
    period_us : int, us
        Time from one frame to the next; the first one is taken at the start.
    """
    from evcrisp.kernels.simulation.sensor import look_at

    if period_us < 1:
        raise ConfigError(f"`period_us` must be 1 or more; got {period_us}.")
    config = build_config(config, overrides)
    model, paths = build_paths(config)
    view = build_view(config.scene, config.resolution, model, config.seed)
    pixel = np.arange(len(view.base))
    level = np.empty(pixel.size)
    for t in range(0, config.duration_us, period_us):
        matrices = texture_matrices(paths, np.array([float(t)]))
        look_at(pixel, np.zeros_like(pixel), view.base, matrices, view.scene, level)
        # The brightest point of any texture is 1, whose logarithm is 0.
        image = np.clip(np.rint(255.0 * np.exp(level)), 0, 255).astype(np.uint8)
        yield Frame(
            t=config.t_start_us + t, image=image.reshape(config.resolution[1], config.resolution[0])
        )
