"""Run the sensor over a scene, slab of time by slab of time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.types import Floats
from evcrisp.motion import MotionModel, Rotation
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.noise import Batch, Slab, build_noise
from evcrisp.simulation.path import Path
from evcrisp.simulation.result import NO_OBJECT, Origin
from evcrisp.simulation.scene import View, build_view
from evcrisp.simulation.seeds import Stream, generator

if TYPE_CHECKING:
    from evcrisp.kernels.simulation.sensor import Buffer, Pixels


#: A slab ends after about this way in the image, and lasts 1 to 100 ms.
_SLAB_PX = 24.0
_SLAB_US = (1000, 100_000)
_MAX_SPEED_PX_S = 1e6
_FIRST_CAPACITY = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Sorted events of one slab with their truth."""

    events: Events
    origin: NDArray[np.uint8]
    object: NDArray[np.uint8]


def simulated_parts(
    config: SimulationConfig, model: MotionModel, paths: Sequence[Path]
) -> Iterator[Part]:
    """Yield the recording slab by slab; the slabs depend on the motion only."""
    from evcrisp.kernels.simulation.sensor import Buffer

    view = build_view(config.scene, config.resolution, model, config.seed)
    noise = build_noise(config.noise, view, config.seed)
    buffer = _empty_buffer(_FIRST_CAPACITY)
    pixels: Pixels | None = None
    last: Floats | None = None
    for number, (t_start, t_end) in enumerate(_slab_times(config, paths)):
        times = _step_times(config, paths, t_start, t_end)
        matrices = texture_matrices(paths, times)
        if last is not None:
            # To the last bit: a rounding difference would be a jump of brightness.
            matrices[0] = last
        last = matrices[-1]
        slab = Slab(number, t_start, t_end, matrices)
        if pixels is None:
            pixels = _fresh_pixels(config, view, matrices)
        buffer, n_signal = _emit(view, slab, times, pixels, config.sensor.refractory_us, buffer)
        batches = noise.batches(slab, n_signal)
        signal = Buffer(buffer.t[:n_signal], buffer.pixel[:n_signal], buffer.kind[:n_signal])
        yield _merged(config, slab, signal, batches)


def _slab_times(config: SimulationConfig, paths: Sequence[Path]) -> Iterator[tuple[int, int]]:
    short = min(1000.0, float(config.duration_us))
    starts = np.linspace(0.0, config.duration_us - short, 65)
    peak = max(path.speed_px_s(config.resolution, starts, starts + short) for path in paths)
    if not peak <= _MAX_SPEED_PX_S:
        raise ConfigError(
            f"moves the image by {peak:.3g} px/s; up to {_MAX_SPEED_PX_S:g} can be simulated",
            parameter="theta",
        )
    n_pixels = config.resolution[0] * config.resolution[1]
    way = _SLAB_PX * min(1.0, 200_000 / n_pixels)
    length = int(np.clip(1e6 * way / max(peak, 1e-9), *_SLAB_US))
    for t_start in range(0, config.duration_us, length):
        yield t_start, min(t_start + length, config.duration_us)


def _step_times(
    config: SimulationConfig, paths: Sequence[Path], t_start: int, t_end: int
) -> Floats:
    edges = np.linspace(t_start, t_end, 9)
    peak = max(path.speed_px_s(config.resolution, edges[:-1], edges[1:]) for path in paths)
    n_steps = max(1, int(np.ceil(1e-6 * peak * (t_end - t_start) / config.step_px)))
    return np.linspace(t_start, t_end, n_steps + 1)


def texture_matrices(paths: Sequence[Path], times: Floats) -> Floats:
    """Return homographies to the texture, or to directions in the room, (n, n_layers, 3, 3)."""
    layers = []
    for path in paths:
        matrices = path.matrices(times)
        if isinstance(path.model, Rotation):
            matrices = np.linalg.inv(path.model.camera.matrix) @ matrices
        layers.append(matrices)
    return np.ascontiguousarray(np.stack(layers, axis=1))


def _fresh_pixels(config: SimulationConfig, view: View, matrices: Floats) -> "Pixels":
    """Draw the thresholds, and let every pixel start somewhere between them."""
    from evcrisp.kernels.simulation.sensor import Pixels, look_at

    n = len(view.base)
    rng = generator(config.seed, Stream.THRESHOLD)
    spread = np.exp(config.sensor.mismatch * rng.standard_normal((2, n)))
    c_on, c_off = config.sensor.c_on * spread[0], config.sensor.c_off * spread[1]
    level = np.empty(n)
    look_at(np.arange(n), np.zeros(n, np.int64), view.base, matrices, view.scene, level)
    phase = generator(config.seed, Stream.RESET).random(n)
    reference = level - (phase * (c_on + c_off) - c_off) * (1 - 1e-9)
    return Pixels(reference, np.full(n, -1.0), c_on, c_off)


def _emit(
    view: View, slab: Slab, times: Floats, pixels: "Pixels", refractory_us: float, buffer: "Buffer"
) -> "tuple[Buffer, int]":
    """Run the kernel until every pixel is done, with more room whenever it asks for it."""
    from evcrisp.kernels.simulation.sensor import emit_signal

    speed = _texel_speed(view, slab.matrices)
    inverse_speed = np.minimum(1.0 / np.maximum(speed, 1e-9), 1e9)
    pixel = n_filled = 0
    while True:
        pixel, n_filled = emit_signal(
            view.base, slab.matrices, times, view.scene, inverse_speed, pixels,
            float(refractory_us), buffer, pixel, n_filled,
        )  # fmt: skip
        if pixel == len(view.base):
            return buffer, n_filled
        larger = _empty_buffer(2 * buffer.t.size)
        larger.t[:n_filled] = buffer.t[:n_filled]
        larger.pixel[:n_filled] = buffer.pixel[:n_filled]
        larger.kind[:n_filled] = buffer.kind[:n_filled]
        buffer = larger


def _texel_speed(view: View, matrices: Floats) -> Floats:
    """Return a bound on the texels that any pixel passes in a step, (n_layers,).

    In a room it holds in the middle of a wall; the kernel knows how much more it is elsewhere.
    """
    if view.scene.room:
        onward = matrices[1:] @ np.linalg.inv(matrices[:-1])
        # The norm is sqrt(2) times the angle; 0.75 of it is a little more than the angle.
        angle = 0.75 * np.linalg.norm(onward - np.eye(3), axis=(2, 3)).max(axis=0)
        return angle * float(view.scene.camera[:2].max())
    x, y = view.base[:, 0], view.base[:, 1]
    corners_x = np.linspace(x.min(), x.max(), 5)[:, None]
    corners_y = np.linspace(y.min(), y.max(), 5)[None, :]
    m = matrices[:, :, None, None]  # (n, n_layers, 1, 1, 3, 3)
    depth = m[..., 2, 0] * corners_x + m[..., 2, 1] * corners_y + m[..., 2, 2]
    u = (m[..., 0, 0] * corners_x + m[..., 0, 1] * corners_y + m[..., 0, 2]) / depth
    v = (m[..., 1, 0] * corners_x + m[..., 1, 1] * corners_y + m[..., 1, 2]) / depth
    moved = np.maximum(np.abs(np.diff(u, axis=0)), np.abs(np.diff(v, axis=0)))
    # An affine map moves a corner furthest; a homography bends little between 25 points.
    return 1.05 * moved.max(axis=(0, 2, 3))


def _empty_buffer(capacity: int) -> "Buffer":
    from evcrisp.kernels.simulation.sensor import Buffer

    return Buffer(
        np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.uint8)
    )


def _merged(config: SimulationConfig, slab: Slab, signal: "Buffer", batches: list[Batch]) -> Part:
    """Sort signal and noise by time; at one time signal comes first, then noise by origin."""
    from evcrisp.kernels.search.array_ops import stable_order
    from evcrisp.kernels.simulation.sensor import LAYER_SHIFT, ORIGIN_SHIFT

    no_layer = (NO_OBJECT & 0xF) << LAYER_SHIFT
    since = np.concatenate(
        [signal.t, *((batch.t - slab.t_start).astype(np.int32) for batch in batches)]
    )
    order = np.empty(since.size, np.int64)
    stable_order(since, slab.t_end - slab.t_start, order)
    pixel = np.concatenate([signal.pixel, *(batch.pixel.astype(np.int32) for batch in batches)])
    kinds = (batch.p | (no_layer | batch.origin << ORIGIN_SHIFT) for batch in batches)
    kind = np.concatenate([signal.kind, *(values.astype(np.uint8) for values in kinds)])
    t = since[order].astype(np.int64) + (slab.t_start + config.t_start_us)
    kind = kind[order]
    origin = (kind >> ORIGIN_SHIFT & 0x7).astype(np.uint8)
    is_signal = origin == Origin.SIGNAL
    width, _ = config.resolution
    y, x = np.divmod(pixel[order], width)
    events = Events.trusted(
        x.astype(np.uint16),
        y.astype(np.uint16),
        t,
        (kind & 1).astype(np.bool_),
        config.resolution,
        is_signal,
    )
    layer = np.where(is_signal, kind >> LAYER_SHIFT, NO_OBJECT).astype(np.uint8)
    return Part(events, origin, layer)
