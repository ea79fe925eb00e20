"""Frames of the simulated scene, as a frame camera with the same pixels would record them."""

from collections.abc import Iterator
from typing import Unpack

import numpy as np

from evcrisp.core.sensor_data import Frame
from evcrisp.core.validation import check_number
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.generate import build_paths
from evcrisp.simulation.scene import build_view
from evcrisp.simulation.settings import Settings, build_config, with_settings
from evcrisp.simulation.slabs import texture_matrices


@with_settings
def simulate_frames(
    config: SimulationConfig | None = None,
    *,
    frame_period_us: int = 40_000,
    **settings: Unpack[Settings],
) -> Iterator[Frame]:
    """Yield gray images of the scene of :func:`evcrisp.simulate`, without motion blur.

    Parameters
    ----------
    config, **settings
        As for :func:`evcrisp.simulate`.
    frame_period_us : int, us
        Time between frames; the first frame is at the start.
    """
    from evcrisp.kernels.simulation.sensor import log_intensity_at

    check_number("frame_period_us", frame_period_us, 1, whole=True)
    config = build_config(config, settings)
    model, paths = build_paths(config)
    view = build_view(config.scene, config.resolution, model, config.seed)
    pixel = np.arange(len(view.base))
    level = np.empty(pixel.size)
    width, height = config.resolution
    for t in range(0, config.duration_us, frame_period_us):
        matrices = texture_matrices(paths, np.array([float(t)]))
        log_intensity_at(pixel, np.zeros_like(pixel), view.base, matrices, view.scene, level)
        # The brightest point of any texture has intensity 1, log intensity 0.
        image = np.clip(np.rint(255.0 * np.exp(level)), 0, 255).astype(np.uint8)
        yield Frame(t=config.t_start_us + t, image=image.reshape(height, width))
