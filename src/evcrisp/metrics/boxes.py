"""Metrics of tracked boxes against the true ones: HOTA and its parts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evcrisp.core.errors import EventDataError
from evcrisp.core.types import Floats
from evcrisp.metrics.assignment import best_pairs

#: Least overlaps of a match, 0.05 to 0.95.
ALPHAS = np.arange(1, 20) / 20

_Indices = NDArray[np.intp]


def box_overlap(boxes: ArrayLike, other_boxes: ArrayLike) -> Floats:
    """Return the intersection over union of all pairs of boxes, shape (n, m).

    Parameters
    ----------
    boxes, other_boxes : array_like, shapes (n, 4) and (m, 4), px
        ``(x_min, y_min, x_max, y_max)``. A box without area overlaps nothing.

    Examples
    --------
    >>> box_overlap([[0, 0, 4, 2]], [[2, 0, 6, 2], [0, 0, 4, 2], [4, 0, 6, 2]]).round(3).tolist()
    [[0.333, 1.0, 0.0]]
    """
    ours, others = _as_boxes("boxes", boxes), _as_boxes("other_boxes", other_boxes)
    low = np.maximum(ours[:, None, :2], others[None, :, :2])
    high = np.minimum(ours[:, None, 2:], others[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0.0), axis=2)
    areas = [np.prod(found[:, 2:] - found[:, :2], axis=1) for found in (ours, others)]
    union = areas[0][:, None] + areas[1] - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=shared > 0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrackingScore:
    """HOTA and its parts, 0 to 1: means over `ALPHAS`, the least overlaps of a match.

    NaN if there is no box at all; ``loca`` is NaN if nothing matches.
    """

    hota: float  # mean of sqrt(deta * assa)
    deta: float  # detections: matches over matches, missed and false boxes
    assa: float  # association: mean over matches of the overlap of their two tracks
    loca: float  # localization: mean overlap of the matches
    hota_by_alpha: Floats  # (19,)
    deta_by_alpha: Floats  # (19,)
    assa_by_alpha: Floats  # (19,)
    loca_by_alpha: Floats  # (19,) 1 where nothing matches, as in TrackEval
    n_true: int  # true boxes
    n_found: int  # found boxes


def hota(
    *,
    true_boxes: Sequence[ArrayLike],
    true_ids: Sequence[ArrayLike],
    found_boxes: Sequence[ArrayLike],
    found_ids: Sequence[ArrayLike],
) -> TrackingScore:
    r"""Return the higher order tracking accuracy (HOTA) of tracked boxes.

    With matches of overlap :math:`\alpha` or more (TP), missed boxes (FN) and false boxes (FP),

    .. math::

        \mathrm{HOTA}_\alpha = \sqrt{\mathrm{DetA}_\alpha \mathrm{AssA}_\alpha}, \quad
        \mathrm{DetA} = \frac{|TP|}{|TP| + |FN| + |FP|}, \quad
        \mathrm{AssA} = \frac{1}{|TP|} \sum_{c \in TP} \frac{m_c}{n_c + \hat n_c - m_c},

    where :math:`m_c` counts the matches between the true and the found track of the match
    :math:`c`, and :math:`n_c`, :math:`\hat n_c` the boxes of these tracks. In each frame the pairs
    maximize the sum of overlap times the similarity of their tracks over the recording, which is
    :math:`p / (n + \hat n - p)` with the sum :math:`p` of the overlaps of two tracks, each divided
    by all overlaps of the two boxes. Results equal those of TrackEval.

    Parameters
    ----------
    true_boxes, found_boxes : sequence of array_like, shape (n, 4), px
        Boxes ``(x_min, y_min, x_max, y_max)`` of each frame.
    true_ids, found_ids : sequence of array_like, shape (n,)
        Track of each box: numbers or names, each at most once per frame.

    References
    ----------
    .. [1] J. Luiten et al., "HOTA: A higher order metric for evaluating multi-object tracking",
       International Journal of Computer Vision 129, 2021.

    Examples
    --------
    A track that is lost halfway and found again under another name:

    >>> boxes = [[[10 * frame, 0, 10 * frame + 20, 20]] for frame in range(4)]
    >>> score = hota(
    ...     true_boxes=boxes, true_ids=[[7]] * 4, found_boxes=boxes, found_ids=[[1], [1], [2], [2]]
    ... )
    >>> score.deta, score.assa, score.loca, round(score.hota, 3)
    (1.0, 0.5, 1.0, 0.707)
    """
    true = _Tracks("true", true_boxes, true_ids)
    found = _Tracks("found", found_boxes, found_ids)
    if len(true.boxes) != len(found.boxes):
        raise EventDataError(
            f"Boxes must be given for the same frames; got {len(true.boxes)} true and "
            f"{len(found.boxes)} found frames.",
            remedy="Give empty lists for frames without boxes.",
        )
    frames = list(_overlapping_pairs(true, found))
    true_row, found_row, overlap = _matches(true, found, frames)
    n_true, n_found = int(true.counts.sum()), int(found.counts.sum())
    curves = np.empty((3, ALPHAS.size))
    for i, alpha in enumerate(ALPHAS):
        # As in TrackEval, an overlap that equals alpha up to rounding matches.
        is_match = overlap >= alpha - np.finfo(float).eps
        n_matches = int(np.count_nonzero(is_match))
        pairs = true_row[is_match] * len(found.counts) + found_row[is_match]
        tracks, m = np.unique(pairs, return_counts=True)
        n, n_hat = (
            true.counts[tracks // len(found.counts)],
            found.counts[tracks % len(found.counts)],
        )
        curves[0, i] = n_matches / max(1, n_true + n_found - n_matches)
        curves[1, i] = float(np.sum(m * m / (n + n_hat - m))) / max(1, n_matches)
        curves[2, i] = float(overlap[is_match].mean()) if n_matches else 1.0
    if n_true + n_found == 0:
        curves[:] = math.nan
    deta, assa, loca = curves
    by_alpha = np.sqrt(deta * assa)
    has_matches = bool((overlap >= ALPHAS[0]).any())
    return TrackingScore(
        hota=float(by_alpha.mean()),
        deta=float(deta.mean()),
        assa=float(assa.mean()),
        loca=float(loca.mean()) if has_matches else math.nan,
        hota_by_alpha=by_alpha,
        deta_by_alpha=deta,
        assa_by_alpha=assa,
        loca_by_alpha=loca,
        n_true=n_true,
        n_found=n_found,
    )


class _Tracks:
    """Checked boxes of each frame, the row of their track, and the boxes of each track."""

    def __init__(self, kind: str, boxes: Sequence[ArrayLike], ids: Sequence[ArrayLike]) -> None:
        self.boxes = [_as_boxes(f"{kind}_boxes", frame) for frame in boxes]
        names = [np.asarray(frame) for frame in ids]
        n_boxes, n_ids = [len(frame) for frame in self.boxes], [frame.shape for frame in names]
        for frame, (n, shape) in enumerate(zip(n_boxes, n_ids, strict=False)):
            if shape != (n,) or len(np.unique(names[frame])) != n:
                raise EventDataError(
                    f"`{kind}_ids` must have one name per box, each once; got "
                    f"{names[frame].tolist()} for {n} boxes in frame {frame}."
                )
        if len(n_boxes) != len(n_ids):
            raise EventDataError(
                f"`{kind}_boxes` and `{kind}_ids` must have the same frames; got {len(n_boxes)} "
                f"and {len(n_ids)}."
            )
        named = [frame for frame in names if frame.size]
        every = np.concatenate(named) if named else np.empty(0, np.int64)
        _, rows, counts = np.unique(every, return_inverse=True, return_counts=True)
        self.counts: _Indices = counts
        self.rows: list[_Indices] = np.split(rows, np.cumsum(n_boxes)[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of a true and a found box of one frame that overlap."""

    overlap: Floats  # (n, m) of all boxes
    true_box: _Indices  # (k,)
    found_box: _Indices  # (k,)
    tracks: _Indices  # (k,) code of the two tracks
    share: Floats  # (k,) overlap over all overlaps of the two boxes


def _overlapping_pairs(true: _Tracks, found: _Tracks) -> Iterator[_Pairs]:
    for frame, (boxes, others) in enumerate(zip(true.boxes, found.boxes, strict=True)):
        overlap = box_overlap(boxes, others)
        total = overlap.sum(axis=1)[:, None] + overlap.sum(axis=0) - overlap
        i, j = np.nonzero(overlap)
        tracks = true.rows[frame][i] * len(found.counts) + found.rows[frame][j]
        yield _Pairs(overlap, i, j, tracks, overlap[i, j] / total[i, j])


def _matches(
    true: _Tracks, found: _Tracks, frames: Sequence[_Pairs]
) -> tuple[_Indices, _Indices, Floats]:
    """Return the true track, the found track and the overlap of each match of any overlap."""
    nothing = np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    if not any(pairs.tracks.size for pairs in frames):
        return nothing
    # Only tracks that meet are stored: tables of all pairs of tracks can be large.
    codes, places = np.unique(np.concatenate([p.tracks for p in frames]), return_inverse=True)
    p = np.bincount(places, np.concatenate([pairs.share for pairs in frames]))
    n, n_hat = true.counts[codes // len(found.counts)], found.counts[codes % len(found.counts)]
    similarity = p / (n + n_hat - p)
    columns: list[tuple[_Indices, _Indices, Floats]] = [nothing]
    for frame, pairs in enumerate(frames):
        weight = np.zeros_like(pairs.overlap)
        track_similarity = similarity[np.searchsorted(codes, pairs.tracks)]
        at = pairs.true_box, pairs.found_box
        weight[at] = pairs.overlap[at] * track_similarity
        i, j = best_pairs(weight)
        columns.append((true.rows[frame][i], found.rows[frame][j], pairs.overlap[i, j]))
    true_row, found_row, overlap = (np.concatenate(column) for column in zip(*columns, strict=True))
    return true_row, found_row, overlap


def _as_boxes(name: str, boxes: ArrayLike) -> Floats:
    values = np.asarray(boxes, np.float64)
    if values.size == 0:
        return np.empty((0, 4))
    if values.ndim != 2 or values.shape[1] != 4:
        raise EventDataError(f"must have shape (n, 4); got {values.shape}", parameter=name)
    if not (np.isfinite(values).all() and (values[:, :2] <= values[:, 2:]).all()):
        problem = "must be finite (x_min, y_min, x_max, y_max) with x_min <= x_max, y_min <= y_max"
        remedy = "Boxes as x, y, width, height need x_max = x + width, y_max = y + height."
        raise EventDataError(problem, parameter=name, remedy=remedy)
    return values
