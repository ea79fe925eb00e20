"""Run the sensor over a scene in slabs of time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evcrisp.core.errors import ConfigError
from evcrisp.core.events import Events
from evcrisp.core.types import Bytes, Floats
from evcrisp.motion import MotionModel
from evcrisp.motion.protocol import camera_of
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.field_path import FieldPath
from evcrisp.simulation.noise import Batch, Slab, build_noise
from evcrisp.simulation.path import Path
from evcrisp.simulation.result import NO_OBJECT, Origin
from evcrisp.simulation.scene import View, build_view
from evcrisp.simulation.seeds import Stream, generator

if TYPE_CHECKING:
    from evcrisp.kernels.simulation.sensor import Buffer, Motions, Pixels

AnyPath = Path | FieldPath

#: Displacement in the image per slab, px, and bounds of its duration, us.
_SLAB_PX = 24.0
_SLAB_US = (1000, 100_000)
_MAX_SPEED_PX_S = 1e6
_FIRST_CAPACITY = 1 << 16  # events; the buffer is doubled when it is full


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Sorted events of one slab, with their origins and objects."""

    events: Events
    origin: Bytes
    object: Bytes


def simulate_slabs(
    config: SimulationConfig, model: MotionModel, paths: Sequence[AnyPath]
) -> Iterator[Part]:
    """Yield the recording slab by slab; slabs depend only on the motion."""
    from evcrisp.kernels.simulation.sensor import Buffer

    view = build_view(config, model)
    noise = build_noise(config.noise, view, config.seed)
    buffer = _empty_buffer(_FIRST_CAPACITY)
    pixels: Pixels | None = None
    last: Motions | None = None
    for number, (t_start, t_end) in enumerate(_slab_times(config, paths)):
        times = _step_times(config, paths, t_start, t_end)
        last = slab_motions(paths, times, view.base, last)
        slab = Slab(number, t_start, t_end, last)
        if pixels is None:
            pixels = _initial_pixels(config, view, last)
        buffer, n_signal = _emit(view, slab, times, pixels, config.sensor.refractory_us, buffer)
        batches = [source.batch(slab, n_signal) for source in noise]
        signal = Buffer(buffer.t[:n_signal], buffer.pixel[:n_signal], buffer.kind[:n_signal])
        yield _merge(config, slab, signal, batches)


def _slab_times(config: SimulationConfig, paths: Sequence[AnyPath]) -> Iterator[tuple[int, int]]:
    short = min(1000.0, float(config.duration_us))
    starts = np.linspace(0.0, config.duration_us - short, 65)
    peak = max(path.speed_px_s(config.resolution, starts, starts + short) for path in paths)
    if not peak <= _MAX_SPEED_PX_S:
        raise ConfigError(
            f"moves the image by {peak:.3g} px/s; the maximum is {_MAX_SPEED_PX_S:g} px/s",
            parameter="theta",
        )
    n_pixels = config.resolution[0] * config.resolution[1]
    displacement = _SLAB_PX * min(1.0, 200_000 / n_pixels)
    length = int(np.clip(1e6 * displacement / max(peak, 1e-9), *_SLAB_US))
    for t_start in range(0, config.duration_us, length):
        yield t_start, min(t_start + length, config.duration_us)


def _step_times(
    config: SimulationConfig, paths: Sequence[AnyPath], t_start: int, t_end: int
) -> Floats:
    edges = np.linspace(t_start, t_end, 9)
    peak = max(path.speed_px_s(config.resolution, edges[:-1], edges[1:]) for path in paths)
    n_steps = max(1, int(np.ceil(1e-6 * peak * (t_end - t_start) / config.step_px)))
    return np.linspace(t_start, t_end, n_steps + 1)


def slab_motions(
    paths: Sequence[AnyPath], times: Floats, base: Floats, last: "Motions | None" = None
) -> "Motions":
    """Return the motion of all layers at times; ``last``: of the slab that ends at the first.

    Without ``last``, the first time is reached from the start of the recording.
    """
    from evcrisp.kernels.simulation.sensor import Motions

    matrices = np.stack([_matrices(path, times) for path in paths], axis=1)
    fields = [path for path in paths if isinstance(path, FieldPath)]
    tables = np.empty((len(fields), len(base) if fields else 0, times.size, 2))
    for i, path in enumerate(fields):
        start = path.texels_at(base, times[0]) if last is None else last.tables[i, :, -1]
        path.fill_texels(start, times, tables[i])
    if last is not None:
        # Exactly equal: a rounding difference would be a step in brightness.
        matrices[0] = last.matrices[-1]
    return Motions(np.ascontiguousarray(matrices), tables)


def _matrices(path: AnyPath, times: Floats) -> Floats:
    """Return homographies from pixels to the texture, or to rays, (n, 3, 3)."""
    if isinstance(path, FieldPath):
        return np.broadcast_to(np.eye(3), (times.size, 3, 3))  # not read
    camera = camera_of(path.model)
    matrices = path.matrices(times)
    return matrices if camera is None else np.linalg.inv(camera.matrix) @ matrices


def _initial_pixels(config: SimulationConfig, view: View, motions: "Motions") -> "Pixels":
    """Draw the thresholds and a random initial reference between them."""
    from evcrisp.kernels.simulation.sensor import Pixels, log_intensity_at

    n = len(view.base)
    rng = generator(config.seed, Stream.THRESHOLD)
    spread = np.exp(config.sensor.mismatch * rng.standard_normal((2, n)))
    c_on, c_off = config.sensor.c_on * spread[0], config.sensor.c_off * spread[1]
    level = np.empty(n)
    log_intensity_at(np.arange(n), np.zeros(n, np.int64), view.base, motions, view.scene, level)
    phase = generator(config.seed, Stream.RESET).random(n)
    reference = level - (phase * (c_on + c_off) - c_off) * (1 - 1e-9)
    return Pixels(reference, np.full(n, -1.0), c_on, c_off)


def _emit(
    view: View, slab: Slab, times: Floats, pixels: "Pixels", refractory_us: float, buffer: "Buffer"
) -> "tuple[Buffer, int]":
    """Run the kernel over all pixels; double the buffer when it is full."""
    from evcrisp.kernels.simulation.sensor import emit_signal

    speed = texel_speed(view, slab.motions)
    inverse_speed = np.minimum(1.0 / np.maximum(speed, 1e-9), 1e9)
    pixel = n_filled = 0
    while True:
        pixel, n_filled = emit_signal(
            view.base, slab.motions, times, view.scene, inverse_speed, pixels,
            float(refractory_us), buffer, pixel, n_filled,
        )  # fmt: skip
        if pixel == len(view.base):
            return buffer, n_filled
        larger = _empty_buffer(2 * buffer.t.size)
        for new, old in zip(larger, buffer, strict=True):
            new[:n_filled] = old[:n_filled]
        buffer = larger


def texel_speed(view: View, motions: "Motions") -> Floats:
    """Return a bound on the displacement of any pixel per step, texels, (n_layers,).

    For a cube map it holds at the center of a face; the kernel scales it elsewhere.
    """
    from evcrisp.kernels.simulation.sensor import CUBE, TABLE

    tables = iter(motions.tables)
    speeds = []
    for layer, place in enumerate(view.scene.place):
        matrices = motions.matrices[:, layer]
        if place == TABLE:
            speeds.append(np.abs(np.diff(next(tables), axis=1)).max(initial=0.0))
        elif place == CUBE:
            speeds.append(_ray_speed(matrices) * float(view.scene.camera[:2].max()))
        else:
            speeds.append(_plane_speed(view.base, matrices))
    return np.array(speeds)


def _ray_speed(matrices: Floats) -> float:
    onward = matrices[1:] @ np.linalg.inv(matrices[:-1])
    # The Frobenius norm is sqrt(2) times the angle; 0.75 of it is slightly more than the angle.
    return 0.75 * float(np.linalg.norm(onward - np.eye(3), axis=(1, 2)).max())


def _plane_speed(base: Floats, matrices: Floats) -> float:
    x, y = base[:, 0], base[:, 1]
    corners_x = np.linspace(x.min(), x.max(), 5)[:, None]
    corners_y = np.linspace(y.min(), y.max(), 5)[None, :]
    m = matrices[:, None, None]  # (n, 1, 1, 3, 3)
    depth = m[..., 2, 0] * corners_x + m[..., 2, 1] * corners_y + m[..., 2, 2]
    u = (m[..., 0, 0] * corners_x + m[..., 0, 1] * corners_y + m[..., 0, 2]) / depth
    v = (m[..., 1, 0] * corners_x + m[..., 1, 1] * corners_y + m[..., 1, 2]) / depth
    moved = np.maximum(np.abs(np.diff(u, axis=0)), np.abs(np.diff(v, axis=0)))
    # An affine map is extremal at the corners; 5 % covers homographies between the 25 points.
    return 1.05 * float(moved.max())


def _empty_buffer(capacity: int) -> "Buffer":
    from evcrisp.kernels.simulation.sensor import Buffer

    t, pixel = np.empty((2, capacity), np.int32)
    return Buffer(t, pixel, np.empty(capacity, np.uint8))


def _merge(config: SimulationConfig, slab: Slab, signal: "Buffer", batches: list[Batch]) -> Part:
    """Merge signal and noise by time; at equal times signal comes first, then noise by origin."""
    from evcrisp.kernels.search.array_ops import stable_order
    from evcrisp.kernels.simulation.sensor import LAYER_SHIFT, ORIGIN_SHIFT

    no_layer = (NO_OBJECT & 0xF) << LAYER_SHIFT
    noise_t = ((batch.t - slab.t_start).astype(np.int32) for batch in batches)
    since = np.concatenate([signal.t, *noise_t])
    order = np.empty(since.size, np.int64)
    stable_order(since, slab.t_end - slab.t_start, order)
    pixel = np.concatenate([signal.pixel, *(batch.pixel.astype(np.int32) for batch in batches)])
    kinds = (batch.p | (no_layer | batch.origin << ORIGIN_SHIFT) for batch in batches)
    kind = np.concatenate([signal.kind, *(values.astype(np.uint8) for values in kinds)])
    t = since[order].astype(np.int64) + (slab.t_start + config.t_start_us)
    kind = kind[order]
    origin = (kind >> ORIGIN_SHIFT & 0x7).astype(np.uint8)
    is_signal = origin == Origin.SIGNAL
    y, x = np.divmod(pixel[order], config.resolution[0])
    x, y, p = x.astype(np.uint16), y.astype(np.uint16), (kind & 1).astype(np.bool_)
    events = Events.trusted(x, y, t, p, config.resolution, is_signal)
    layer = np.where(is_signal, kind >> LAYER_SHIFT, NO_OBJECT).astype(np.uint8)
    return Part(events, origin, layer)
