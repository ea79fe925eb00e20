"""Measures of labels and velocities of one window, shared by the benchmarks of many motions."""

import hashlib

import numpy as np

from evcrisp.metrics import rank_auc, sensitivity, specificity

#: Objects with fewer events are too small for a share.
LEAST_EVENTS = 200

#: A motion that is off by more than this over the window is wrong, px.
WRONG_PX = 3.0


def label_measures(score, labels, truth):
    """Return AUC, rates and balanced accuracy of labels."""
    rates = float(sensitivity(labels, truth)), float(specificity(labels, truth))
    return {
        "auc": float(rank_auc(score, truth)),
        "sensitivity": rates[0],
        "specificity": rates[1],
        "balanced_accuracy": 0.5 * sum(rates),
    }


def worst_object(labels, objects, n_least=LEAST_EVENTS):
    """Return the object of which the least is kept, and its kept share; 255 is noise, no object."""
    kept = {
        int(number): float(labels[objects == number].mean())
        for number, count in zip(*np.unique(objects, return_counts=True), strict=True)
        if number != 255 and count > n_least
    }
    worst = min(kept, key=kept.__getitem__, default=-1)
    return worst, kept.get(worst, float("nan"))


def motion_measures(velocity, true_velocity, duration_s):
    """Return errors of velocities, px over the window, where the truth is known."""
    known = np.isfinite(true_velocity).all(axis=1)
    # An estimate without a velocity counts as no motion.
    found = np.nan_to_num(velocity[known])
    error = duration_s * np.hypot(*(found - true_velocity[known]).T)
    return {
        "error_px": float(error.mean()),
        "median_error_px": float(np.median(error)),
        "share_above_3_px": float((error > WRONG_PX).mean()),
    }


def digest(result):
    """Return a digest of everything that an estimate says of its events."""
    hashed = hashlib.sha256()
    for column in (result.signal, result.score, result.layer, result.velocity, result.theta):
        hashed.update(np.ascontiguousarray(column).tobytes())
    return hashed.hexdigest()[:16]
