r"""Covariance of a motion, from the events that it aligns.

The contrast has the gradient g and the curvature H at the motion that was found. An error of the
gradient moves the maximum by :math:`H^{-1} g`. Its variance is measured: parts of the view far enough
from each other err independently, so that the sum over parts of :math:`g_i g_i^T` is that of the
gradient (a sandwich estimator with clusters). Four terms join:

- events lie on pixels: a motion over d pixels is uncertain by that of one pixel, :math:`1 / \sqrt{12}`,
  over d, the same everywhere;
- a motion away from the maximum of the contrast, of a method with another aim, is off by that distance;
- edges make events as fast as they move: a motion that changes is found with more of its faster part;
- along edges, all parts say nothing: the variance there is that of any motion that a search covers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evcrisp.core.types import Bools, Floats
from evcrisp.estimators.reliability.motion_terms import TILE_PX, Indices, MotionTerms
from evcrisp.estimators.reliability.small_matrices import inverse_product, symmetric_axes
from evcrisp.motion.protocol import MotionModel
from evcrisp.search.scaling import displacement_fields

#: Side of a part of the view, in tiles; smaller if there would be fewer parts than this.
_PART_TILES, _LEAST_PARTS = 2, 24

#: Straight edges across pixels seem to have this much curvature along them, relative to that across.
#: In tiles of 330 windows of edges, bars and stripes of random directions it was up to 0.011.
_ALONG_EDGES = 0.015

#: Distance from the outermost events within which the end of an edge may be that of the view, besides
#: half of the displacement, px: half of a tile, and the width of an edge.
_BORDER_PX = 0.5 * TILE_PX + 2.0

#: Directions with less curvature, relative to the largest, are unknown.
_LEAST_CURVATURE = 0.005

#: Directions with less curvature than this, relative to the largest, must show it among all events too,
#: to about this factor. A motion along an edge labels those events signal that it happens to align: the
#: ratio was 0.7 to 1.1 for ends of bars and corners, and below 0 or above 1.4 for most long edges.
_WEAK_CURVATURE, _SAME_CURVATURE = 0.15, 0.7

#: Second derivatives of the contrast, relative to those from slopes between pixels of the map: the map
#: is as sharp as its pixels. Median of 60 simulated windows; nine of ten have 2.35 to 3.0.
SLOPE_FACTOR = 2.67

#: Standard deviation of the position within a pixel, px.
_PIXEL = 12.0**-0.5

#: Largest factor by which a subsample of the events counts as less certain than all of them. Most of
#: the variance is that of independent events, but not all.
_MAX_THINNING = 10.0

#: Variance of the second and third Legendre polynomial, over that of the time in windows, 1/12.
_BEND_VARIANCES = np.array([12.0 / 5.0, 12.0 / 7.0])

#: Square of a displacement that is none, relative to that of one parameter.
_NO_MOTION = 1e-12

#: A maximum within this many standard deviations is where the motion should be.
_NEAR_SIGMAS = 2.0


class View(NamedTuple):
    """What a camera sees of a scene: rectangle of all events of a window, px."""

    left: float
    top: float
    right: float
    bottom: float
    unknown_px: float  # standard deviation of a displacement about which the events say nothing

    def without_borders(self, terms: MotionTerms, displacement: Floats) -> Floats:
        """Return the curvature of tiles, (k, 2, 2), without parts along edges that are no motion.

        They come from pixels, and from ends of edges at the border of the view, which do not move with
        their edge. ``displacement``, shape (k, 2), is that of the tiles.
        """
        from evcrisp.kernels.reliability.tile_sums import across_edges

        true, sides = np.empty(terms.curvature.shape), np.array(self[:4])
        across_edges(
            terms.curvature, terms.x, terms.y, displacement, sides, _BORDER_PX, _ALONG_EDGES, true
        )  # fmt: skip
        return true


@dataclass(frozen=True, slots=True, eq=False)
class MotionCovariance:
    """Covariance of a motion; ``u`` are its parameters in px per window over its events (rms)."""

    covariance: Floats  # (m, m) of theta
    displacement: Floats  # (m,) u of theta
    scaled: Floats  # (m, m) covariance of u
    backward: Floats  # (m, m) theta per u
    axes: Floats  # (m, m) directions of u in columns, the best known last
    is_known: Bools  # (m,) whether the events tell the motion along each axis
    is_seen: Bools  # (m,) whether the map has any curvature along each axis
    strength: float  # curvature along the best known axis, over the root of the pairs that meet
    lasting: float  # see `MotionTerms.lasting`
    bend_px: float  # by which the motion of the whole image changes within the window

    @property
    def axis_std(self) -> Floats:
        """Standard deviations along the axes, px per window, shape (m,)."""
        return np.sqrt(((self.scaled @ self.axes) * self.axes).sum(axis=0))

    @property
    def rest_sigmas(self) -> float:
        """Distance of the motion from rest, in standard deviations (Mahalanobis)."""
        known = self.axes[:, self.is_known]
        along, inner = known.T @ self.displacement, known.T @ self.scaled @ known
        return math.sqrt(max(inverse_product(inner, along), 0.0)) if along.size else 0.0


def covariance_of(
    terms: MotionTerms,
    model: MotionModel,
    theta: Floats,
    duration_s: float,
    view: View,
    all_terms: Callable[[], MotionTerms],
) -> MotionCovariance:
    """Return the covariance of a motion of aligned events, those that it labels signal.

    ``duration_s`` is the length of the window; ``all_terms`` returns the terms of these events and
    of the others.
    """
    from evcrisp.kernels.reliability.tile_sums import sums_of_parts

    along, backward = _scaled_fields(terms, model, duration_s)
    whole = _curvature_along(along, terms.curvature)
    strength = float(symmetric_axes(whole)[0][-1]) / math.sqrt(terms.energy + 1.0)
    if model.name == "translation":
        displacement = np.asarray(theta, np.float64) / backward[0, 0]
    else:
        displacement = np.asarray(np.linalg.solve(backward, theta), np.float64)
    true = view.without_borders(terms, along @ displacement)
    values, axes = symmetric_axes(_curvature_along(along, true))
    is_known = values > max(_LEAST_CURVATURE * float(values[-1]), 1e-12)
    is_seen = is_known.copy()
    is_weak = is_known & (values < _WEAK_CURVATURE * float(values[-1]))
    if is_weak.any():
        others = all_terms()
        over = _along(others, model, duration_s) @ (backward @ axes)
        of_all = view.without_borders(others, over @ (axes.T @ displacement))
        ratio = (over * (of_all @ over)).sum(axis=(0, 1)) * others.pair_thinning
        ratio = ratio / np.maximum(values * terms.pair_thinning, 1e-12)
        is_known &= ~is_weak | ((ratio > _SAME_CURVATURE) & (ratio < 1.0 / _SAME_CURVATURE))
    thinning = min(terms.thinning, _MAX_THINNING)
    known, inverse = axes[:, is_known], 1.0 / (SLOPE_FACTOR * values[is_known])
    part, n_parts = _parts(terms)
    pulls, blocks = np.empty((2, n_parts, known.shape[1]))
    sums_of_parts(along @ known, true, terms.pull, part, pulls, blocks)
    factor = _few_parts(blocks)
    inner = inverse[:, None] * (pulls.T @ pulls) * inverse * np.sqrt(factor[:, None] * factor)
    inner = inner / thinning
    step = inverse * pulls.sum(axis=0)
    far = inverse_product(inner + 1e-12 * np.eye(len(step)), step)
    near = _NEAR_SIGMAS**2 * max(step.size, 1)
    if far > near:
        inner = inner + (1.0 - near / far) * np.outer(step, step)
    moved = max(float(np.linalg.norm(known.T @ displacement)), 1.0)
    pixel = (_PIXEL / moved) ** 2
    inner = inner + np.eye(len(step)) * pixel
    scaled = known @ inner @ known.T
    other = axes[:, ~is_known]
    scaled = scaled + view.unknown_px**2 * other @ other.T
    bend_px = _bend_px(terms)
    faster = _faster_part(displacement, bend_px)
    scaled = scaled + np.outer(faster, faster)
    return MotionCovariance(
        backward @ scaled @ backward.T, displacement, scaled, backward, axes, is_known, is_seen, strength,
        terms.lasting, bend_px,
    )  # fmt: skip


def _faster_part(displacement: Floats, bend_px: float) -> Floats:
    """Return by how much a displacement may be too large, since more events come where it is faster, (m,).

    A speed that changes by the share a of its mean to either side bends the path by a sixth of a times the
    displacement, and the mean over events is larger than that over time by a third of the square of a.
    """
    moved = float(np.linalg.norm(displacement))
    if moved < 1e-9:
        return np.zeros(displacement.size)
    change = min(6.0 * bend_px / moved, 1.0)
    return displacement * (change**2 / 3.0)


def _bend_px(terms: MotionTerms) -> float:
    """Return the amplitude of a change of the motion with time: Legendre polynomials 2 and 3, px."""
    values, axes = symmetric_axes(SLOPE_FACTOR * terms.curvature.sum(axis=0))
    # Motion along edges of one direction is unobservable.
    is_known = values > max(_WEAK_CURVATURE * float(values[-1]), 1e-9)
    step = axes[:, is_known].T @ terms.bend.sum(axis=0).T / values[is_known, None]
    # Variances of times spread evenly over the window, relative to that of a constant motion.
    return float(np.linalg.norm(step / _BEND_VARIANCES))


def _scaled_fields(
    terms: MotionTerms, model: MotionModel, duration_s: float
) -> tuple[Floats, Floats]:
    """Return the displacement of tiles per unit of u, shape (k, 2, m), and theta per u, (m, m)."""
    if model.name == "translation":  # u is the displacement
        along = np.zeros((len(terms), 2, 2))
        along[:, 0, 0] = along[:, 1, 1] = 1.0
        return along, np.eye(2) / duration_s
    along = _along(terms, model, duration_s)
    backward = _scale(along, terms.count)
    return along @ backward, backward


def _along(terms: MotionTerms, model: MotionModel, duration_s: float) -> Floats:
    """Return the displacement of tiles per unit of theta, px, shape (k, 2, m)."""
    fields = displacement_fields(model.without_distortion(), terms.x, terms.y)
    return np.stack(fields, axis=1) * duration_s


def _curvature_along(along: Floats, curvature: Floats) -> Floats:
    """Return the curvature of all tiles together by each pair of parameters, (m, m)."""
    from evcrisp.kernels.reliability.tile_sums import quadratic_sum

    out = np.empty((along.shape[2], along.shape[2]))
    quadratic_sum(along, curvature, out)
    return out


def _scale(along: Floats, count: Floats) -> Floats:
    """Return theta per u, such that the length of u is the displacement of the events (rms), (m, m)."""
    # Sums and a Cholesky factor: a QR decomposition of all tiles takes milliseconds.
    share = count / max(float(count.sum()), 1.0)
    products = _curvature_along(along, share[:, None, None] * np.eye(2))
    norm = np.sqrt(np.diag(products))
    # Parameters that move no event keep their own unit.
    unit = np.where(norm > 1e-9 * max(float(norm.max(initial=0.0)), 1e-30), norm, 1.0)
    scaled = products / np.outer(unit, unit) + _NO_MOTION * np.eye(unit.size)
    r = np.linalg.cholesky(scaled).T * unit
    # And so do those that move the events as others do.
    weak = np.abs(np.diag(r)) < 10.0 * _NO_MOTION**0.5 * unit
    return np.linalg.inv(np.where(weak[:, None], np.eye(len(r)), r))


def _parts(terms: MotionTerms) -> tuple[Indices, int]:
    """Return the part of the view of each tile, and the number of parts, some of them empty."""
    columns = int(terms.column.max()) + 1
    part = terms.row * columns + terms.column
    for side in range(2, _PART_TILES + 1):
        larger = terms.row // side * columns + terms.column // side
        if np.count_nonzero(np.bincount(larger)) < _LEAST_PARTS:
            break
        part = larger
    return part, int(part.max()) + 1


def _few_parts(blocks: Floats) -> Floats:
    """Return by how much few parts underestimate a variance, shape (m,).

    The number of parts that matter is that of equal shares of the curvature. The factor is that of
    Student's distribution, at 95 %.
    """
    positive = np.maximum(blocks, 0.0)
    squares = np.maximum((positive**2).sum(axis=0), 1e-30)
    freedom = np.maximum(positive.sum(axis=0) ** 2 / squares - 1.0, 0.5)
    quantile = 1.0 + 1.22 / freedom + 1.5 / freedom**2
    return (1.0 + 1.0 / freedom) * quantile**2
