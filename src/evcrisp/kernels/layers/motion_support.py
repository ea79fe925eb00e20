"""Support of all events of a window under each of several motions."""

import numpy as np

from evcrisp.kernels.auto.self_support import self_support_of_events
from evcrisp.kernels.auto.support import LEAST_SUPPORT, MapPoints
from evcrisp.kernels.compile import fused
from evcrisp.kernels.contrast.spline import accumulate_at, sample_at
from evcrisp.kernels.layers.cells import add_log_support, blur_cells

#: Reach of a footprint, px.
_REACH_PX = 3

_ZERO, _HALF, _ONE, _FAR = (np.float32(c) for c in (0.0, 0.5, 1.0, -1e6))


@fused
def gains_of_motions(
    others_x, others_y, others_tau, others_p, supporting, x, y, tau, p, links, motions, resolution,
    scale, cell, support, gain,
):  # fmt: skip
    """Fill the support of every event under every motion, and the gain of every cell.

    others_x, others_y, others_tau : (m,) float32      others_p : (m,) uint8      supporting : (m,) bool
    x, y, tau : (n,) float32      p : (n,) uint8, the same events or those of some pixels
    links : self_support.Links, of the same events      motions : (k, 8) float64, see `placement`
    resolution : width and height of the sensor      scale : support at which an event counts
    cell : (n,) int32, cell of every event
    support : (k, n) float32, filled: 0 or more
    gain : (k, n_slices, rows, columns) float32, filled: sums of log(1 + support / scale), blurred
    """
    n = x.size
    points, others = _points(tau, p), _points(others_tau, others_p)
    own, image = np.empty(n, np.float32), np.empty(0, np.float32)
    cells = np.empty(gain.shape[1:], np.float32)
    for k in range(motions.shape[0]):
        padding = padding_of(motions[k], resolution)
        height, width = resolution[1] + 2 * padding, resolution[0] + 2 * padding
        if image.size < 2 * height * width:
            image = np.empty(2 * height * width, np.float32)
        _place(x, y, tau, p, motions[k], padding, height, width, points)
        self_support_of_events(points, links, own)
        _place(others_x, others_y, others_tau, others_p, motions[k], padding, height, width, others)
        whole = image[: 2 * height * width]
        whole[:] = _ZERO
        _vote(others, supporting, width, whole)
        _read_support(points, width, own, whole, support[k])
        cells[:] = _ZERO
        add_log_support(support[k], scale, cell, cells.reshape(-1))
        blur_cells(cells, gain[k])


@fused
def _points(tau, p):
    """Return room for the positions of events on a map."""
    n = tau.size
    return MapPoints(
        np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32),
        np.empty(n, np.float32), np.empty(n, np.int32), tau, p,
    )  # fmt: skip


@fused
def padding_of(motion, resolution):
    """Return the padding that contains all positions during a window, px; at most the sensor size.

    motion : (8,) float64      resolution : width and height of the sensor
    """
    outside, largest = 0.0, float(max(resolution[0], resolution[1]))
    # A position is linear in x, in y and in time: the extremes are at corners.
    for corner in range(8):
        right, bottom = float(corner & 1), float((corner >> 1) & 1)
        x, y = right * (resolution[0] - 1), bottom * (resolution[1] - 1)
        tau = 0.5 if corner & 4 else -0.5
        a, b = x - motion[6], y - motion[7]
        u = x - tau * (motion[0] + motion[2] * a + motion[3] * b)
        v = y - tau * (motion[1] + motion[4] * a + motion[5] * b)
        beyond = max(max(-u, u - (resolution[0] - 1)), max(-v, v - (resolution[1] - 1)))
        # Written so that positions that are no numbers get the largest padding.
        outside = beyond if not beyond <= outside else outside
    return int(outside) + 1 + _REACH_PX if outside < largest else int(largest) + 1 + _REACH_PX


@fused
def _place(x, y, tau, p, motion, padding, height, width, points):
    """Fill positions on the maps of both polarities; see `support.place_points`. It vectorizes."""
    xx, xy = np.float32(motion[2]), np.float32(motion[3])
    yx, yy = np.float32(motion[4]), np.float32(motion[5])
    # The displacement at the pixel (0, 0).
    along_x = np.float32(motion[0] - motion[2] * motion[6] - motion[3] * motion[7])
    along_y = np.float32(motion[1] - motion[4] * motion[6] - motion[5] * motion[7])
    start, rows, columns = np.float32(padding), np.int32(height), np.int32(width)
    right, bottom = np.float32(width - 1.5), np.float32(height - 1.5)
    for k in range(x.size):
        u = x[k] + start - tau[k] * (along_x + xx * x[k] + xy * y[k])
        v = y[k] + start - tau[k] * (along_y + yx * x[k] + yy * y[k])
        inside = (u >= _HALF) & (u < right) & (v >= _HALF) & (v < bottom)
        near_u, near_v = u if inside else _ONE, v if inside else _ONE
        i, j = np.int32(near_u + _HALF), np.int32(near_v + _HALF)
        points.a[k], points.b[k] = near_u - np.float32(i), near_v - np.float32(j)
        at = (np.int32(p[k]) * rows + j - np.int32(1)) * columns + i - np.int32(1)
        points.cell[k] = at if inside else np.int32(-1)
        # Far away from all others, and a number.
        points.x[k] = u if inside else _FAR
        points.y[k] = v if inside else _FAR


@fused
def _vote(points, supporting, width, image):
    """Add the supporting events to the map."""
    cell, a, b, wide = points.cell, points.a, points.b, np.uint64(width)
    for k in range(cell.size):
        if cell[k] >= 0 and supporting[k]:
            accumulate_at(image, np.uint64(cell[k]), wide, a[k], b[k], _ONE)


@fused
def _read_support(points, width, own, image, support):
    """Read the map at all events, without self-support."""
    cell, a, b, wide = points.cell, points.a, points.b, np.uint64(width)
    for k in range(cell.size):
        total = _ZERO
        if cell[k] >= 0:
            total = sample_at(image, np.uint64(cell[k]), wide, a[k], b[k]) - own[k]
        support[k] = total if total > LEAST_SUPPORT else _ZERO
