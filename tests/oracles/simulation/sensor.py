"""Oracle of ``kernels/simulation/sensor.py``: all pixels, step by step, without skipping."""

import numpy as np
from numpy.typing import NDArray

from evcrisp.core.types import Floats
from evcrisp.kernels.simulation.sensor import CUBE, LAYER_SHIFT, TABLE, Motions, Pixels, Scene


def locate(
    motions: Motions, step: int, layer: int, base: Floats, scene: Scene
) -> tuple[Floats, Floats]:
    """Return the texel of every position."""
    if scene.place[layer] == TABLE:
        table = int((scene.place[:layer] == TABLE).sum())
        u, v = motions.tables[table, :, step].T
        return u + scene.offset[0], v + scene.offset[1]
    x, y = base.T
    ray = [row[0] * x + row[1] * y + row[2] for row in motions.matrices[step, layer]]
    if scene.place[layer] != CUBE:
        return ray[0] / ray[2] + scene.offset[0], ray[1] / ray[2] + scene.offset[1]
    side = np.abs(ray)
    face = np.where(
        (side[2] >= side[0]) & (side[2] >= side[1]), 0, np.where(side[0] >= side[1], 2, 4)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.choose(face // 2, (ray[0] / ray[2], -ray[2] / ray[0], ray[0] / ray[1]))
        b = np.choose(face // 2, (ray[1] / ray[2], ray[1] / ray[0], -ray[2] / ray[1]))
    face = face + ~(np.choose(face // 2, (ray[2], ray[0], ray[1])) > 0)
    fx, fy, cx, cy = scene.camera
    return (
        fx * a + cx + scene.offset[0] + face * 191.0,
        fy * b + cy + scene.offset[1] + face * 89.0,
    )


def bilinear(image: NDArray[np.float32], u: Floats, v: Floats) -> Floats:
    """Sample a periodic tile."""
    height, width = image.shape
    column, row = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
    fx, fy = u - np.floor(u), v - np.floor(v)
    texels = image.astype(np.float64)

    def at(dy: int, dx: int) -> Floats:
        return texels[(row + dy) % height, (column + dx) % width]

    top = at(0, 0) + fx * (at(0, 1) - at(0, 0))
    bottom = at(1, 0) + fx * (at(1, 1) - at(1, 0))
    return top + fy * (bottom - top)


def sample_scene(
    motions: Motions, step: int, base: Floats, scene: Scene
) -> tuple[Floats, NDArray[np.int64]]:
    """Return log intensity and front layer of every pixel at a step."""
    level = bilinear(scene.log_texture[0], *locate(motions, step, 0, base, scene))
    front = np.zeros(len(base), np.int64)
    for layer in range(1, len(scene.log_texture)):
        u, v = locate(motions, step, layer, base, scene)
        first_u, last_u, first_v, last_v = scene.box[layer]
        inside = (u >= first_u) & (u <= last_u) & (v >= first_v) & (v <= last_v)
        alpha = np.where(inside, bilinear(scene.alpha[layer], u, v), 0.0)
        own = bilinear(scene.log_texture[layer], u, v)
        level = np.where(alpha > 0, level + alpha * (own - level), level)
        front = np.where(alpha > 0, layer, front)
    return level, front


def emit_signal(
    base: Floats,
    motions: Motions,
    times: Floats,
    scene: Scene,
    pixels: Pixels,
    refractory: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Return time (us since ``times[0]``), pixel and kind of all events, by time, then pixel."""
    found: list[tuple[NDArray[np.int64], ...]] = []
    level0, front0 = sample_scene(motions, 0, base, scene)
    for step in range(times.size - 1):
        t0, t1 = times[step], times[step + 1]
        level1, front1 = sample_scene(motions, step + 1, base, scene)
        _wake(t0, t1, level0, level1, pixels)
        while True:
            awake = pixels.blind_until < 0
            on = awake & (level1 - pixels.reference >= pixels.c_on)
            off = awake & ~on & (pixels.reference - level1 >= pixels.c_off)
            hit = np.flatnonzero(on | off)
            if not hit.size:
                break
            change = np.where(on[hit], pixels.c_on[hit], -pixels.c_off[hit])
            target = pixels.reference[hit] + change
            start, rise = level0[hit], level1[hit] - level0[hit]
            t = t0 + (t1 - t0) * ((target - start) / rise)
            kind = on[hit] | np.maximum(front0, front1)[hit] << LAYER_SHIFT
            found.append(((t - times[0]).astype(np.int64), hit, kind))
            pixels.reference[hit] = target
            if refractory > 0:
                passed = (t + refractory - t0) / (t1 - t0)
                pixels.reference[hit] = start + rise * passed
                pixels.blind_until[hit] = np.where(passed >= 1.0, t + refractory, -1.0)
        level0, front0 = level1, front1
    return _sorted(found, int(times[-1] - times[0]) - 1)


def _wake(t0: float, t1: float, level0: Floats, level1: Floats, pixels: Pixels) -> None:
    """Set the reference of pixels whose refractory time ends before ``t1``."""
    waking = (pixels.blind_until >= 0) & (pixels.blind_until < t1)
    passed = np.maximum(pixels.blind_until[waking] - t0, 0.0) / (t1 - t0)
    start = level0[waking]
    pixels.reference[waking] = start + (level1[waking] - start) * passed
    pixels.blind_until[waking] = -1.0


def _sorted(
    found: list[tuple[NDArray[np.int64], ...]], last_us: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8)
    t, pixel, kind = (np.concatenate(columns) for columns in zip(*found, strict=True))
    t = np.minimum(t, last_us)
    order = np.lexsort((pixel, t))
    return t[order], pixel[order], kind[order].astype(np.uint8)
