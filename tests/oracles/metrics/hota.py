"""Slow version of HOTA: the equations of Luiten et al. 2021, pair by pair."""

import itertools
import math


def overlap(a, b):
    """Return the intersection over union of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return width * height / (sum(areas) - width * height)


def best_pairs(weight, n, m):
    """Try all assignments of n rows and m columns."""
    if n > m:
        return [(i, j) for j, i in best_pairs(lambda j, i: weight(i, j), m, n)]
    every = (list(enumerate(columns)) for columns in itertools.permutations(range(m), n))
    return max(every, key=lambda pairs: sum(weight(i, j) for i, j in pairs))


def hota(true_boxes, true_ids, found_boxes, found_ids):
    """Return HOTA, DetA, AssA and LocA."""
    frames = list(zip(true_boxes, true_ids, found_boxes, found_ids, strict=True))
    n_true, n_found, shared = {}, {}, {}
    for boxes, ids, others, other_ids in frames:
        for name in ids:
            n_true[name] = n_true.get(name, 0) + 1
        for name in other_ids:
            n_found[name] = n_found.get(name, 0) + 1
        for a, name in zip(boxes, ids, strict=True):
            for b, other in zip(others, other_ids, strict=True):
                all_a, all_b = (
                    sum(overlap(a, c) for c in others),
                    sum(overlap(c, b) for c in boxes),
                )
                if overlap(a, b) > 0:
                    share = overlap(a, b) / (all_a + all_b - overlap(a, b))
                    shared[name, other] = shared.get((name, other), 0.0) + share
    matches = []
    for boxes, ids, others, other_ids in frames:

        def weight(i, j, boxes=boxes, ids=ids, others=others, other_ids=other_ids):
            p = shared.get((ids[i], other_ids[j]), 0.0)
            similarity = p / (n_true[ids[i]] + n_found[other_ids[j]] - p)
            return overlap(boxes[i], others[j]) * similarity

        for i, j in best_pairs(weight, len(boxes), len(others)):
            matches.append((ids[i], other_ids[j], overlap(boxes[i], others[j])))
    sums = [0.0] * 4
    total = sum(n_true.values()) + sum(n_found.values())
    for step in range(1, 20):
        kept = [(a, b, s) for a, b, s in matches if s >= step / 20]
        deta = len(kept) / (total - len(kept))
        assa = 0.0
        for a, b, _ in kept:
            together = sum((c, d) == (a, b) for c, d, _ in kept)
            assa += together / (n_true[a] + n_found[b] - together) / len(kept)
        loca = sum(s for _, _, s in kept) / len(kept) if kept else 1.0
        for place, value in enumerate((math.sqrt(deta * assa), deta, assa, loca)):
            sums[place] += value / 19
    return sums
