"""Slow and obvious version of gradient and curvature of the contrast, tile by tile."""

import numpy as np
from tests.oracles.layers.affine_fit import images
from tests.oracles.layers.local_misfit import cell_at, map_of, pulls

__all__ = ["curvatures", "legendre", "pulls", "squares", "steepness"]

#: Slopes by Scharr: differences along an axis, smoothed along the other.
SMOOTH, STEP = np.array([3.0, 10.0, 3.0]) / 16.0, np.array([-1.0, 0.0, 1.0]) / 2.0


def slopes(image, i, j):
    """Return the slopes of an image along x and y at a pixel, per pixel."""
    patch = image[i - 1 : i + 2, j - 1 : j + 2]
    return np.array([SMOOTH @ patch @ STEP, STEP @ patch @ SMOOTH])


def legendre(tau):
    """Return the second and third Legendre polynomials of 2 tau."""
    return (np.polynomial.Legendre.basis(k)(2.0 * np.asarray(tau, float)) for k in (2, 3))


def curvatures(x, y, tau, p, scale, margin, shape, cell_px, cells):
    """Return twice the sums of (grad A) (grad C) - (grad B)^2 over the pixels of each tile.

    A, B and C are the maps of one event at a time, added with the weights 1, tau and tau^2.
    """
    shift, size = map_of(scale, margin, shape)
    maps = np.zeros((3, 2, *size))
    for k in range(x.size):
        one = np.array(images(x[k : k + 1], y[k : k + 1], p[k : k + 1], scale, shift, size))
        for power in range(3):
            maps[power] += float(tau[k]) ** power * one
    out = np.zeros((*cells, 3))
    for half in range(2):
        for i in range(1, size[0] - 1):
            for j in range(1, size[1] - 1):
                r, c = cell_at((j - shift[0]) * scale, (i - shift[1]) * scale, cell_px)
                if r >= cells[0]:
                    r = cells[0] - 1
                if c >= cells[1]:
                    continue
                a, b, d = (slopes(m[half], i, j) / scale for m in maps)
                tensor = 0.5 * (np.outer(a, d) + np.outer(d, a)) - np.outer(b, b)
                out[r, c] += 2.0 * tensor[[0, 0, 1], [0, 1, 1]]
    return out


def squares(x, y, p, scale, margin, shape):
    """Return the sum of squares of the maps, and that of their slopes per px."""
    shift, size = map_of(scale, margin, shape)
    maps = np.array(images(x, y, p, scale, shift, size))
    energy = steepness = 0.0
    for image in maps:
        for i in range(1, size[0] - 1):
            for j in range(1, size[1] - 1):
                energy += image[i, j] ** 2
                steepness += (slopes(image, i, j) ** 2).sum() / scale**2
    return energy, steepness


def steepness(x, y, p, scale, margin, shape, cell_px, cells):
    """Return the sums of the products of plain differences of the map over the pixels of each tile."""
    shift, size = map_of(scale, margin, shape)
    out = np.zeros((*cells, 3))
    for image in images(x, y, p, scale, shift, size):
        for i in range(1, size[0] - 1):
            for j in range(1, size[1] - 1):
                r, c = cell_at((j - shift[0]) * scale, (i - shift[1]) * scale, cell_px)
                if c >= cells[1]:
                    continue
                across = 0.5 * (image[i, j + 1] - image[i, j - 1])
                down = 0.5 * (image[i + 1, j] - image[i - 1, j])
                a = np.array([across, down]) / scale
                out[min(r, cells[0] - 1), c] += np.outer(a, a)[[0, 0, 1], [0, 1, 1]]
    return out
