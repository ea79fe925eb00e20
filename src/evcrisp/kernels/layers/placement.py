"""Positions of events and noise samples, each moved by the layer that holds at its place."""

import numpy as np

from evcrisp.kernels.auto.exposure import LEAST_EXPOSURE
from evcrisp.kernels.compile import finite, fused


@fused
def place_by_layer(x, y, tau, layer, motions, out_x, out_y, moved_x, moved_y):
    """Move every point by its own layer; fill positions and displacements.

    x, y : (n,) floats, px      tau : (n,) floats, windows since the middle
    layer : (n,) int16      motions : (n_layers, 8) float64: displacement along x and y at a center,
    the matrix row by row (per px of distance), and the center; px per window
    out_x, out_y : (n,) float32, filled: positions, px
    moved_x, moved_y : (n,) float32, filled: displacement per window
    """
    for k in range(out_x.size):
        m = motions[layer[k]]
        a, b = x[k] - m[6], y[k] - m[7]
        along_x = m[0] + m[2] * a + m[3] * b
        along_y = m[1] + m[4] * a + m[5] * b
        moved_x[k] = along_x
        moved_y[k] = along_y
        out_x[k] = x[k] - tau[k] * along_x
        out_y[k] = y[k] - tau[k] * along_y


@fused
def align(x, y, tau, chosen, motion, out_x, out_y):
    """Move chosen events by one motion.

    x, y, tau : (n,) float32      chosen : (k,) int64      motion : (8,) float64, see `place_by_layer`
    out_x, out_y : (k,) float64, filled: positions, px
    """
    for i in range(chosen.size):
        k = chosen[i]
        a, b = x[k] - motion[6], y[k] - motion[7]
        out_x[i] = x[k] - tau[k] * (motion[0] + motion[2] * a + motion[3] * b)
        out_y[i] = y[k] - tau[k] * (motion[1] + motion[4] * a + motion[5] * b)


@finite
def divide_by_own_sweep(value, points, moved_x, moved_y, left, top, right, bottom, soft):
    """Divide values by the share of the window in which a point was in view, by its own motion.

    value : (n,) floats, changed where above 0      points : support.MapPoints
    moved_x, moved_y : (n,) float32, px per window      left, top, right, bottom : px of the map
    soft : least displacement along an axis, px
    """
    half = np.float32(0.5)
    for k in range(value.size):
        along_x = moved_x[k] if abs(moved_x[k]) > soft else np.float32(soft)
        along_y = moved_y[k] if abs(moved_y[k]) > soft else np.float32(soft)
        first, second = (left - points.x[k]) / along_x, (right - points.x[k]) / along_x
        third, fourth = (top - points.y[k]) / along_y, (bottom - points.y[k]) / along_y
        enters = max(max(min(first, second), min(third, fourth)), -half)
        leaves = min(min(max(first, second), max(third, fourth)), half)
        share = max(np.float32(leaves - enters), LEAST_EXPOSURE)
        value[k] = value[k] / share if value[k] > 0 else value[k]
