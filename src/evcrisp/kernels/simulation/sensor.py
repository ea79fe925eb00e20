"""Signal events of a moving scene: sample the texture, compare with the threshold, emit.

A pixel runs through all steps of a slab before the next pixel: its state stays in registers, and
steps over flat parts of the texture are skipped.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from evcrisp.kernels.compile import compiled

#: No division by zero occurs here, and the check for it costs half of the time.
_compiled = compiled(error_model="numpy")
#: Inlined: passing the structs for every pixel and step would cost four times the work.
_inlined = numba.njit(inline="always")

#: Bits of the kind of an event: polarity (1), origin (3), layer (4).
ORIGIN_SHIFT = 1
LAYER_SHIFT = 4

#: How the texel of a pixel is found: homography of a plane, cube map around the camera, or table.
PLANE, CUBE, TABLE = 0, 1, 2

_FAR = 1e9  # texels, or steps; beyond any slab
#: Shift of the texture per face of the cube map, texels, so that faces differ.
_FACE_SHIFT_X = 191.0
_FACE_SHIFT_Y = 89.0


class Scene(NamedTuple):
    """Periodic textures of all layers, the background first."""

    log_texture: NDArray[np.float32]  # (n_layers, th, tw)
    alpha: NDArray[np.float32]  # (n_layers, th, tw), 0 = transparent; not read for layer 0
    clearance: NDArray[np.uint8]  # (n_layers, th, tw), rings of flat cells around a cell
    offset: NDArray[np.float64]  # (2,) texel of pixel (0, 0) at the start
    camera: NDArray[np.float64]  # (4,) fx, fy, cx, cy; read for a cube map only
    place: NDArray[np.int8]  # (n_layers,) PLANE, CUBE or TABLE
    box: NDArray[
        np.float64
    ]  # (n_layers, 4) first and last u, then v, of a layer that is there once


class Motions(NamedTuple):
    """Texels of pixels at the steps of a slab."""

    matrices: NDArray[np.float64]  # (n_steps + 1, n_layers, 3, 3), from pixels to texels or rays
    tables: NDArray[np.float64]  # (n_tables, n_pixels, n_steps + 1, 2), for layers with TABLE


class Pixels(NamedTuple):
    """State and thresholds of every pixel; updated in place."""

    reference: NDArray[np.float64]  # (n,) log intensity at the last reset
    blind_until: NDArray[np.float64]  # (n,) us, or -1 outside the refractory time
    c_on: NDArray[np.float64]  # (n,)
    c_off: NDArray[np.float64]  # (n,)


class Buffer(NamedTuple):
    """Events in any order of time."""

    t: NDArray[np.int32]  # (capacity,) us since the start of the slab
    pixel: NDArray[np.int32]  # (capacity,)
    kind: NDArray[np.uint8]  # (capacity,)


@_inlined
def locate(motions, step, layer, table, k, x, y, scene):
    """Return the texel of pixel k at (x, y), and the distance to the end of the face, texels."""
    # Read from the scene: as an argument the place would make the kernel three times slower.
    if scene.place[layer] == TABLE:
        u = motions.tables[table, k, step, 0] + scene.offset[0]
        v = motions.tables[table, k, step, 1] + scene.offset[1]
        return u, v, _FAR
    m = motions.matrices
    big_x = m[step, layer, 0, 0] * x + m[step, layer, 0, 1] * y + m[step, layer, 0, 2]
    big_y = m[step, layer, 1, 0] * x + m[step, layer, 1, 1] * y + m[step, layer, 1, 2]
    big_z = m[step, layer, 2, 0] * x + m[step, layer, 2, 1] * y + m[step, layer, 2, 2]
    if scene.place[layer] == PLANE:
        return big_x / big_z + scene.offset[0], big_y / big_z + scene.offset[1], _FAR
    ax, ay, az = abs(big_x), abs(big_y), abs(big_z)
    if az >= ax and az >= ay:
        a, b, face = big_x / big_z, big_y / big_z, 0.0 if big_z > 0 else 1.0
    elif ax >= ay:
        a, b, face = -big_z / big_x, big_y / big_x, 2.0 if big_x > 0 else 3.0
    else:
        a, b, face = big_x / big_y, -big_z / big_y, 4.0 if big_y > 0 else 5.0
    fx, fy = scene.camera[0], scene.camera[1]
    u = fx * a + scene.camera[2] + scene.offset[0] + face * _FACE_SHIFT_X
    v = fy * b + scene.camera[3] + scene.offset[1] + face * _FACE_SHIFT_Y
    return u, v, min(fx, fy) * (1.0 - max(abs(a), abs(b)))


@_inlined
def outside(u, v, layer, scene):
    """Return the distance from the box of a layer, texels; 0 or less inside."""
    return max(
        max(scene.box[layer, 0] - u, u - scene.box[layer, 1]),
        max(scene.box[layer, 2] - v, v - scene.box[layer, 3]),
    )


@_inlined
def bilinear(image, layer, row, column, row_next, column_next, fy, fx):
    """Interpolate linearly; four equal texels give exactly their value."""
    top_left = np.float64(image[layer, row, column])
    bottom_left = np.float64(image[layer, row_next, column])
    top = top_left + fx * (np.float64(image[layer, row, column_next]) - top_left)
    bottom = bottom_left + fx * (np.float64(image[layer, row_next, column_next]) - bottom_left)
    return top + fy * (bottom - top)


@_inlined
def clear_steps(clear, margin, inverse_speed, place, scene):
    """Return the number of steps that stay within the flat cells around."""
    # Slightly less than the clearance: an equal displacement could end in the next cell.
    reach = min(clear, margin) - 1e-6
    if place != CUBE:
        return reach * inverse_speed
    # At slopes of at most c in x and y, a small rotation by 1 rad moves a point by at most
    # 1 + 2 c^2 focal lengths.
    c = 1.0 - (margin - reach) / min(scene.camera[0], scene.camera[1])
    return reach * inverse_speed / (1.0 + 2.0 * c * c)


@_inlined
def sample_scene(motions, step, k, x, y, scene, inverse_speed):
    """Return log intensity, front layer, and the number of following steps without change.

    k : pixel      x, y : its ideal position
    inverse_speed : (n_layers,) steps per texel; for a cube map, at the center of a face
    """
    n_layers, height, width = scene.log_texture.shape
    level, front, n_clear, table = 0.0, 0, _FAR, 0
    for layer in range(n_layers):
        u, v, margin = locate(motions, step, layer, table, k, x, y, scene)
        place = scene.place[layer]
        if place == TABLE:
            table += 1
        if layer > 0:
            away = outside(u, v, layer, scene)
            if away > 0.0:
                n_layer = clear_steps(away, margin, inverse_speed[layer], place, scene)
                n_clear = min(n_clear, n_layer)
                continue
        u_floor, v_floor = np.floor(u), np.floor(v)
        column, row = int(u_floor), int(v_floor)
        if column < 0 or column >= width:
            column %= width
        if row < 0 or row >= height:
            row %= height
        column_next = column + 1 if column + 1 < width else 0
        row_next = row + 1 if row + 1 < height else 0
        fx, fy = u - u_floor, v - v_floor
        clear = scene.clearance[layer, row, column]
        n_layer = 0.0
        if clear > 0:
            n_layer = clear_steps(float(clear), margin, inverse_speed[layer], place, scene)
        n_clear = min(n_clear, n_layer)
        if layer == 0:
            level = bilinear(scene.log_texture, 0, row, column, row_next, column_next, fy, fx)
            continue
        alpha = bilinear(scene.alpha, layer, row, column, row_next, column_next, fy, fx)
        if alpha > 0.0:
            own = bilinear(scene.log_texture, layer, row, column, row_next, column_next, fy, fx)
            level += alpha * (own - level)
            front = layer
    return level, front, int(max(n_clear, 0.0))


@_compiled
def emit_signal(
    base, motions, times, scene, inverse_speed, pixels, refractory, buffer, first, n_filled
):
    """Write the events of pixels from ``first`` on, until done or the buffer is full.

    base : (n, 2) float64, ideal position of each pixel      times : (n_steps + 1,) float64, us

    The level is linear between two steps. After an event the pixel is held in reset for
    ``refractory`` us; its reference is then the level at the end of that time. Returns the pixel to
    continue with, and the number of events. The events of an incomplete pixel are dropped, so that
    the call can be repeated from there with a larger buffer.
    """
    n_steps = times.size - 1
    last_us = int(times[n_steps] - times[0]) - 1
    for k in range(first, base.shape[0]):
        n_start = n_filled
        x, y, c_on, c_off = base[k, 0], base[k, 1], pixels.c_on[k], pixels.c_off[k]
        reference, blind_until = pixels.reference[k], pixels.blind_until[k]
        level0, front0, step = sample_scene(motions, 0, k, x, y, scene, inverse_speed)
        while step < n_steps:
            t0, t1 = times[step], times[step + 1]
            level1, front1, n_clear = sample_scene(motions, step + 1, k, x, y, scene, inverse_speed)
            if 0.0 <= blind_until < t1:
                passed = max(blind_until - t0, 0.0) / (t1 - t0)
                reference = level0 + (level1 - level0) * passed
                blind_until = -1.0
            while blind_until < 0.0:
                if level1 - reference >= c_on:
                    target, sign = reference + c_on, 1
                elif reference - level1 >= c_off:
                    target, sign = reference - c_off, 0
                else:
                    break
                if n_filled == buffer.t.size:
                    return k, n_start
                t = t0 + (t1 - t0) * ((target - level0) / (level1 - level0))
                # A crossing at the end of the last step belongs to this slab.
                buffer.t[n_filled] = min(int(t - times[0]), last_us)
                buffer.pixel[n_filled] = k
                buffer.kind[n_filled] = sign | max(front0, front1) << LAYER_SHIFT
                n_filled += 1
                reference = target
                if refractory > 0.0:
                    passed = (t + refractory - t0) / (t1 - t0)
                    reference = level0 + (level1 - level0) * passed
                    if passed >= 1.0:
                        blind_until = t + refractory
            level0, front0 = level1, front1
            step += 1 + n_clear
        pixels.reference[k], pixels.blind_until[k] = reference, blind_until
    return base.shape[0], n_filled


@_compiled
def log_intensity_at(index, step, base, motions, scene, out):
    """Fill ``out`` with the log intensity of pixels ``index`` at steps ``step``."""
    still = np.zeros(motions.matrices.shape[1])
    for i in range(index.size):
        k = index[i]
        out[i] = sample_scene(motions, step[i], k, base[k, 0], base[k, 1], scene, still)[0]


@_compiled
def front_layers(base, motions, scene, out):
    """Fill ``out`` (n,) with the front layer of every pixel at the first step."""
    still = np.zeros(motions.matrices.shape[1])
    for k in range(base.shape[0]):
        out[k] = sample_scene(motions, 0, k, base[k, 0], base[k, 1], scene, still)[1]
